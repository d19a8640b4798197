// SPDX-License-Identifier: Apache-2.0
// For tests and benchmarks: headers printed, compiled into one library and loaded, each behind two
// plain functions.
#pragma once

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "espalier/model.h"
#include "export/header.h"
#include "serve/compile.h"
#include "support/temporary_folder.h"

namespace espalier {

inline constexpr const char* kWarnings =
    "-std=c++17 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast -Werror "
    "-Wfatal-errors";

struct ExportCase {
  Program program;
  Schema schema;
  std::size_t most_inside = std::size_t{1} << 16;
};

inline ExportCase case_of(const Model& model) { return {compile(model), model.schema()}; }

/// C++ sources compiled into a library and loaded.
class CompiledLibrary {
 public:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  /// Throws std::runtime_error with what the compiler said if it does not take them.
  void build(const std::string& compiler, const std::string& sources) {
    const std::string line =
        fmt::format("cd '{}' && {} {} -shared -fPIC {} -o library.so > log 2>&1",
                    folder_.path().string(), compiler, kWarnings, sources);
    if (std::system(line.c_str()) != 0) throw std::runtime_error(line + "\n" + read("log"));
    library_.reset(::dlopen((folder_ / "library.so").c_str(), RTLD_NOW | RTLD_LOCAL));
    if (!library_) throw std::runtime_error(::dlerror());
  }

  template <class Function>
  Function find(const std::string& name) const {
    void* const found = ::dlsym(library_.get(), name.c_str());
    if (found == nullptr) throw std::runtime_error(::dlerror());
    return reinterpret_cast<Function>(found);
  }

  std::uintmax_t bytes() const { return std::filesystem::file_size(folder_ / "library.so"); }

 private:
  struct Close {
    void operator()(void* library) const { ::dlclose(library); }
  };

  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ / name, std::ios::binary).rdbuf();
    return text.str();
  }

  TemporaryFolder folder_;
  std::unique_ptr<void, Close> library_;
};

class CompiledHeaders {
 public:
  CompiledHeaders(const std::vector<ExportCase>& cases, const std::string& compiler) {
    std::string sources = "shim.cc";
    std::string shim;
    for (std::size_t c = 0; c < cases.size(); ++c) {
      const std::string name = fmt::format("case_{}", c);
      const HeaderText text = print_header(cases[c].program, cases[c].schema,
                                           {.name_space = name,
                                            .file_name = name + ".h",
                                            .model_hash = "0123456789abcdef",
                                            .most_inside = cases[c].most_inside});
      library_.write(name + ".h", text.header);
      shim += shim_of(name, cases[c], text.fields);
      if (text.numbers.empty()) continue;
      library_.write(name + "_numbers.cc", text.numbers);
      sources += " " + name + "_numbers.cc";
    }
    library_.write("shim.cc", shim);
    library_.build(compiler, sources);
    for (std::size_t c = 0; c < cases.size(); ++c) {
      run_.push_back(library_.find<Run>(fmt::format("case_{}_run", c)));
      code_.push_back(library_.find<Code>(fmt::format("case_{}_code", c)));
    }
  }

  /// Rows of cells as a Predictor takes them, except that a negative code is missing.
  void run(std::size_t c, std::span<const float> rows, Output output, std::span<float> out) const {
    run_[c](rows.data(), out.size(), output == Output::score ? 1 : 0, out.data());
  }

  std::uintmax_t library_bytes() const { return library_.bytes(); }

  /// What FIELD_from_string gives for a word of a feature.
  int code(std::size_t c, std::size_t feature, const std::string& word) const {
    return code_[c](feature, word.data(), word.size());
  }

 private:
  using Run = void (*)(const float*, std::size_t, int, float*);
  using Code = int (*)(std::size_t, const char*, std::size_t);

  static std::string shim_of(const std::string& name, const ExportCase& own,
                             const std::vector<ExportedField>& fields) {
    const std::size_t scores = own.program.num_scores();
    std::string set, codes;
    for (std::size_t f = 0; f < fields.size(); ++f) {
      const std::string& field = fields[f].field;
      if (f >= own.schema.features.size() || own.schema.features[f].kind == FeatureKind::number) {
        set += fmt::format("    row.{} = cells[{}];\n", field, f);
        continue;
      }
      set += fmt::format(
          "    row.{0} = static_cast<{1}::{0}_code>(cells[{2}] >= 0 ? "
          "static_cast<std::int32_t>(cells[{2}]) : -1);\n",
          field, name, f);
      codes += fmt::format(
          "  if (feature == {}) return static_cast<int>({}::{}_from_string({{word, "
          "size}}));\n",
          f, name, field);
    }
    const char* const store = scores == 1 ? "*out++ = own;" : "for (float x : own) *out++ = x;";
    return fmt::format(
        "#include \"{0}.h\"\n"
        "extern \"C\" void {0}_run(const float* cells, std::size_t size, int score, float* out) "
        "{{\n"
        "  for (float* const end = out + size; out != end; cells += {1}) {{\n"
        "    {0}::Row row;\n{2}"
        "    const auto own = score != 0 ? {0}::score(row) : {0}::predict(row);\n    {3}\n  "
        "}}\n}}\n"
        "extern \"C\" int {0}_code(std::size_t feature, const char* word, std::size_t size) {{\n{4}"
        "  static_cast<void>(word);\n"
        "  return static_cast<int>(feature + size) * 0 - 2;\n}}\n",
        name, fields.size(), set, store, codes);
  }

  CompiledLibrary library_;
  std::vector<Run> run_;
  std::vector<Code> code_;
};

}  // namespace espalier
