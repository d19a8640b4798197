// SPDX-License-Identifier: Apache-2.0
#include "files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "espalier/csv.h"
#include "espalier/error.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

// Identifies a file by device and inode, which hard links have in common.
using FileId = std::pair<dev_t, ino_t>;

// None for absent files, and for devices and pipes, which may be read and written.
std::optional<FileId> id_of(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return FileId{status.st_dev, status.st_ino};
}

std::string input_path(const std::string& path) { return path == "-" ? "/dev/stdin" : path; }

// An absolute path without links; the file may be absent.
fs::path settled(const std::string& path) {
  std::error_code ignored;
  return fs::weakly_canonical(fs::absolute(path, ignored), ignored);
}

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// An OutputFile writes devices and pipes directly, and other files through their folder.
bool replaceable(const std::string& path) {
  std::error_code ignored;
  const fs::file_type type = fs::symlink_status(path, ignored).type();
  return type == fs::file_type::not_found || type == fs::file_type::regular;
}

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

// A cache names tables espalier- and 16 digits; temporary files are .espalier-*.tmp.
bool is_kept_or_temporary(const std::string& name) {
  constexpr std::string_view kTable = "espalier-", kDigits = "0123456789abcdef";
  if (name.starts_with(".espalier-") && name.ends_with(".tmp")) return true;
  return name.starts_with(kTable) && name.size() == kTable.size() + 16 &&
         name.find_first_not_of(kDigits, kTable.size()) == name.npos;
}

// Whether a file is in a cache, which may delete it.
bool is_kept_in(const fs::path& file, const std::string& folder) {
  const fs::path inside = file.lexically_relative(settled(folder));
  return !inside.empty() && is_kept_or_temporary(inside.begin()->string());
}

// All input files of a command and their purpose.
class Inputs {
 public:
  explicit Inputs(const CommandFiles& files) : datasets_(files.datasets) {
    for (const NamedPath& input : files.inputs) add(input.path, input.what);
    for (const NamedPath& dataset : files.datasets) {
      if (dataset.path.empty()) continue;
      for (const std::string& file : data_files(dataset.path))
        add(file, file == dataset.path
                      ? dataset.what
                      : fmt::format("one of the files of {}, '{}'", dataset.what, dataset.path));
    }
  }

  // The purpose of a file; empty if the command does not read it.
  std::string what(const std::string& path) const {
    const std::optional<FileId> id = id_of(path);
    if (const auto found = id ? known_.find(*id) : known_.end(); found != known_.end())
      return found->second;
    for (const NamedPath& dataset : datasets_) {
      if (dataset.path.empty() || !would_be_data_file(dataset.path, path)) continue;
      return fmt::format("in {}, '{}', and would be read with it from then on", dataset.what,
                         dataset.path);
    }
    return {};
  }

  // An input that is in a cache; empty if there is none.
  std::string kept_in(const std::string& folder) const {
    const auto found = std::ranges::find_if(
        files_, [&](const fs::path& file) { return is_kept_in(file, folder); });
    return found == files_.end() ? std::string() : found->string();
  }

 private:
  void add(const std::string& path, const std::string& what) {
    if (path.empty()) return;
    if (const auto id = id_of(input_path(path))) known_.emplace(*id, what);
    if (path != "-") files_.push_back(settled(path));
  }

  const std::vector<NamedPath>& datasets_;
  std::map<FileId, std::string> known_;
  std::vector<fs::path> files_;
};

void check_folder(const NamedPath& folder, const Inputs& inputs) {
  std::error_code ignored;
  if (fs::exists(folder.path, ignored) && !fs::is_directory(folder.path, ignored))
    throw Error(ErrorKind::file,
                fmt::format("{}: '{}' is a file; choose a folder", folder.what, folder.path));
  if (const std::string file = inputs.kept_in(folder.path); !file.empty()) {
    throw Error(ErrorKind::argument,
                fmt::format("{}: '{}' keeps '{}', an input; choose another folder", folder.what,
                            folder.path, file));
  }
}

bool are_same(const std::string& a, const std::string& b) {
  const auto id = id_of(a);
  if (id && id == id_of(b)) return true;
  std::error_code ignored;
  if (!replaceable(a) && fs::exists(a, ignored)) return false;  // a device
  const fs::path path = settled(a);  // empty if there can be no such file
  return !path.empty() && path == settled(b);
}

[[noreturn]] void refuse(const NamedPath& output, const std::string& what) {
  throw Error(ErrorKind::argument,
              fmt::format("{}: '{}' is {}; choose another path", output.what, output.path, what));
}

// Outputs must differ from inputs, other outputs, and files of caches.
void check_output(const CommandFiles& files, std::size_t index, const Inputs& inputs) {
  const NamedPath& output = files.outputs[index];
  if (output.path.empty() || output.path == "-") return;
  require_writable(output.path);
  if (const std::string what = inputs.what(output.path); !what.empty()) refuse(output, what);
  for (std::size_t i = 0; i < index; ++i) {
    const NamedPath& earlier = files.outputs[i];
    if (!earlier.path.empty() && earlier.path != "-" && are_same(output.path, earlier.path))
      refuse(output, "also the path of " + earlier.what);
  }
  for (const NamedPath& folder : files.folders) {
    if (folder.path.empty()) continue;
    if (are_same(output.path, folder.path)) refuse(output, "also the path of " + folder.what);
    if (is_kept_in(settled(output.path), folder.path)) refuse(output, "a file of " + folder.what);
  }
}

}  // namespace

void check_files(const CommandFiles& files) {
  const Inputs inputs(files);
  if (const std::string what = inputs.what("/dev/stdout"); !what.empty()) {
    throw Error(ErrorKind::argument,
                fmt::format("standard output is {}; redirect it to another file", what));
  }
  for (const NamedPath& folder : files.folders) {
    if (!folder.path.empty()) check_folder(folder, inputs);
  }
  for (std::size_t i = 0; i < files.outputs.size(); ++i) check_output(files, i, inputs);
}

bool share_files(const std::string& a, const std::string& b) {
  std::vector<FileId> ids;
  for (const std::string& file : data_files(a)) {
    if (const auto id = id_of(input_path(file))) ids.push_back(*id);
  }
  return std::ranges::any_of(data_files(b), [&](const std::string& file) {
    const auto id = id_of(input_path(file));
    return id && std::ranges::find(ids, *id) != ids.end();
  });
}

}  // namespace espalier
