// SPDX-License-Identifier: Apache-2.0
#include "espalier/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/default_floats.h"
#include "core/file.h"
#include "espalier/error.h"
#include "export/header.h"
#include "export/names.h"
#include "export/onnx.h"
#include "serve/compile.h"

namespace espalier {

namespace {

namespace fs = std::filesystem;

// No keyword and no name of the C library ends so.
std::string name_space_of(const std::string& path) {
  constexpr std::string_view kEnding = "_model";
  const std::string name = identifier_of(fs::path(path).stem().string());
  return name.ends_with(kEnding) ? name
                                 : fmt::format("{}{}", name, kEnding.substr(name.ends_with('_')));
}

// An #include takes no escapes.
void require_includable(const std::string& name) {
  const auto is_bad = [](char c) {
    return c == '"' || c == '\\' || (c >= 0 && c < ' ') || c == '\x7f';
  };
  if (std::none_of(name.begin(), name.end(), is_bad)) return;
  throw Error(ErrorKind::argument,
              fmt::format("export: a model of this size takes two files, and no #include can name "
                          "{}; wanted a name without quotes, backslashes and control characters",
                          comment_of(name)));
}

}  // namespace

std::string numbers_path(const std::string& header_path) {
  const fs::path header(header_path);
  return header.parent_path() / fmt::format("{}_numbers.cc", header.stem().string());
}

ExportedHeader export_header(const Model& model, const std::string& path,
                             const HeaderOptions& options) {
  const DefaultFloats floats;
  if (!options.name_space.empty() && !is_plain_identifier(options.name_space)) {
    throw Error(
        ErrorKind::argument,
        fmt::format("export: namespace {}: wanted an identifier that is no keyword, without "
                    "an underscore in front or two in a row",
                    comment_of(options.name_space)));
  }
  const std::string name_space =
      options.name_space.empty() ? name_space_of(path) : options.name_space;
  const fs::path header(path);
  const HeaderText text = print_header(compile(model), model.schema(),
                                       {.name_space = name_space,
                                        .file_name = header.filename().string(),
                                        .model_hash = model.hash()});
  ExportedHeader result{name_space, text.fields, {path}};
  if (!text.numbers.empty()) {
    require_includable(header.filename().string());
    result.files.push_back(numbers_path(path));
    write_file_atomically(result.files.back(), text.numbers);
  }
  write_file_atomically(path, text.header);
  return result;
}

ExportedOnnx export_onnx(const Model& model, const std::string& path) {
  const DefaultFloats floats;
  OnnxFile file = print_onnx(compile(model), model.schema(), model.hash());
  write_file_atomically(path, file.bytes);
  return {std::move(file.prediction), std::move(file.score)};
}

}  // namespace espalier
