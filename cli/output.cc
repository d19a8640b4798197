// SPDX-License-Identifier: Apache-2.0
#include "output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "espalier/csv.h"
#include "espalier/error.h"
#include "espalier/text.h"
#include "signals.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

Error cannot_write(const std::string& path) {
  const std::string place = path == "-" ? "standard output" : path;
  const char* const reason = errno == 0 ? "write error" : std::strerror(errno);
  return Error(ErrorKind::file, fmt::format("{}: cannot be written: {}", place, reason));
}

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// A temporary file stands in for a plain one only: renaming would replace a device or a link.
bool replaceable(const std::string& path) {
  std::error_code ignored;
  const fs::file_type type = fs::symlink_status(path, ignored).type();
  return type == fs::file_type::not_found || type == fs::file_type::regular;
}

// A file under a temporary name until close() gives it its own; "-" is standard output, and what is
// no plain file (a device, a pipe) is written straight.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path)
      : path_(path), temporary_(temporary_name(path)), remove_on_signal_([this] {
          remove_temporary();
          return SignalAnswer::Answer::end;
        }) {
    errno = 0;
    if (path_ == "-") return;
    file_.open(temporary_.empty() ? path_ : temporary_, std::ios::binary);
    if (!file_) throw cannot_write(path_);
  }

  ~OutputFile() { remove_temporary(); }

  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view text) { stream() << text; }

  void write(const Table& table) {
    try {
      write_csv(table, stream());
    } catch (const Error&) {
      throw cannot_write(path_);  // which knows the place and the reason
    }
  }

  void close() {
    stream().flush();
    if (path_ != "-") file_.close();
    if (!stream()) throw cannot_write(path_);
    if (temporary_.empty()) return;
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) throw cannot_write(path_);
  }

 private:
  static std::string temporary_name(const std::string& path) {
    return path != "-" && replaceable(path) ? fmt::format("{}.{}.tmp", path, ::getpid()) : "";
  }

  void remove_temporary() const {
    std::error_code ignored;
    if (!temporary_.empty()) fs::remove(temporary_, ignored);
  }

  std::ostream& stream() { return path_ == "-" ? std::cout : file_; }

  const std::string path_;
  const std::string temporary_;  // empty: written straight
  std::ofstream file_;
  const SignalAnswer remove_on_signal_;
};

void require_writable(const std::string& path) {
  const auto fail = [&path](const std::string& what) {
    throw Error(ErrorKind::file, fmt::format("{}: cannot be written: {}", path, what));
  };
  std::error_code ignored;
  const std::string folder = folder_of(path);
  if (!fs::is_directory(folder, ignored)) fail(fmt::format("there is no folder '{}'", folder));
  if (fs::is_directory(path, ignored)) fail("it is a directory");
  const std::string& changed = replaceable(path) ? folder : path;
  if (::access(changed.c_str(), W_OK) != 0) {
    fail(fmt::format("'{}': {}", changed, std::strerror(errno)));
  }
}

// Whether two names lead to one plain file, be it there already or not. Devices and pipes may well
// be read and written.
bool are_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  if (b.empty()) return false;
  const fs::path paths[] = {a, b == "-" ? "/dev/stdin" : b};
  for (const fs::path& path : paths) {
    if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) return false;
  }
  if (fs::equivalent(paths[0], paths[1], ignored)) return true;
  const auto settled = [&](const fs::path& path) {
    return fs::weakly_canonical(fs::absolute(path, ignored), ignored);
  };
  const fs::path path = settled(paths[0]);  // empty if there can be no such file
  return !path.empty() && path == settled(paths[1]);
}

template <class AnyJson>
std::string dump(const AnyJson& json, int indent) {
  return json.dump(indent, ' ', false, AnyJson::error_handler_t::replace) + '\n';
}

}  // namespace

Json json_of(std::span<const MetricValue> metrics) {
  Json json = Json::object();
  for (const auto& [metric, value] : metrics) json[std::string(to_word(metric))] = value;
  return json;
}

Json json_of(const Certificate& certificate) {
  Json layers = Json::array();
  for (const LayerProof& proof : certificate.layers) {
    layers.push_back({{"layer", proof.layer},
                      {"inequalities", proof.inequalities},
                      {"violations", proof.violations}});
  }
  return {{"monotone", certificate.holds()},
          {"model_hash", certificate.model_hash},
          {"increasing", certificate.increasing},
          {"decreasing", certificate.decreasing},
          {"levels", certificate.levels},
          {"layers", std::move(layers)},
          {"inequalities", certificate.inequalities},
          {"violations", certificate.violations},
          {"tolerance", 0},
          {"pairs", certificate.pairs},
          {"pair_violations", certificate.pair_violations},
          {"crossings", certificate.crossings},
          {"largest_drop", certificate.largest_drop},
          {"seed", certificate.seed},
          {"culprits", certificate.culprits}};
}

FloatJson json_of(const Column& column) {
  FloatJson cells = FloatJson::array();
  for (const float number : column.values()) {
    cells.push_back(std::isnan(number) ? FloatJson() : FloatJson(number));
  }
  for (const std::int32_t code : column.codes) {
    cells.push_back(code == kMissingCode ? FloatJson()
                                         : FloatJson(column.words[static_cast<std::size_t>(code)]));
  }
  return cells;
}

void tell(std::string_view text) noexcept try {
  while (true) {
    const std::size_t end = text.find('\n');
    const std::string line = escape_controls(text.substr(0, end)) + '\n';
    std::fwrite(line.data(), 1, line.size(), stderr);
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
} catch (const std::bad_alloc&) {
}

void write_text(std::string_view text, const std::string& path) {
  OutputFile out(path);
  out.write(text);
  out.close();
}

void print(std::string_view text) { write_text(text, "-"); }

void print_json(const Json& json) { print(dump(json, 2)); }
void print_json(const FloatJson& json) { print(dump(json, -1)); }

void check_outputs(std::span<const NamedFile> outputs, std::span<const NamedFile> inputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const NamedFile& output = outputs[i];
    if (output.path.empty() || output.path == "-") continue;
    require_writable(output.path);
    for (const auto& others : {inputs, outputs.first(i)}) {
      for (const NamedFile& other : others) {
        if (!are_same_file(output.path, other.path)) continue;
        throw Error(ErrorKind::argument, fmt::format("{}: '{}' is {}; wanted a file of its own",
                                                     output.what, output.path, other.what));
      }
    }
  }
}

void write_table(const Table& table, const std::string& path) {
  OutputFile file(path);
  file.write(table);
  file.close();
}

}  // namespace espalier
