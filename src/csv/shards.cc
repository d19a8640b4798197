// SPDX-License-Identifier: Apache-2.0
// The files that a path of read_csv means.
#include <fmt/format.h>
#include <fnmatch.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <sstream>

#include "core/file.h"
#include "core/text.h"
#include "csv/pieces.h"
#include "espalier/error.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

// A model may be in the same folder as its training data.
bool is_data_name(const std::string& name) {
  return name.front() != '.' && name.front() != '_' && !name.ends_with(".esp");
}

std::vector<std::string> files_of_folder(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    std::error_code ignored;
    if (is_data_name(entry->path().filename().string()) && entry->is_regular_file(ignored))
      files.push_back(entry->path().string());
  }
  if (failure)
    throw Error(ErrorKind::file, fmt::format("cannot read {}: {}", folder, failure.message()));
  return files;
}

std::vector<std::string> files_of_pattern(const std::string& pattern) {
  glob_t found{};
  const int code = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  std::vector<std::string> files(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (code == GLOB_NOSPACE) throw std::bad_alloc();
  return files;
}

// One path per line, relative to the current folder. The list is read several times, so it cannot
// be a pipe.
std::vector<std::string> files_of_list(const std::string& list) {
  std::error_code ignored;
  if (fs::exists(list, ignored) && !fs::is_regular_file(list, ignored)) {
    throw Error(ErrorKind::file,
                fmt::format("{}: a list of files must be a plain file; save it first", list));
  }
  const FileBytes bytes = read_file(list);
  std::istringstream lines{std::string(without_byte_order_mark(bytes.view()))};
  std::vector<std::string> files;
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) files.push_back(line);
  }
  if (files.empty()) throw Error(ErrorKind::file, fmt::format("{}: the list names no file", list));
  return files;
}

bool is_list(const std::string& path, const fs::file_status& status) {
  return path.starts_with('@') && !fs::exists(status);
}

bool is_pattern(const std::string& path, const fs::file_status& status) {
  return !fs::exists(status) && path.find_first_of("*?[") != path.npos;
}

std::vector<Shard> as_shards(const std::vector<std::string>& files) {
  std::vector<Shard> shards;
  for (const std::string& file : files) shards.push_back({file, file});
  return shards;
}

}  // namespace

std::vector<Shard> shards_of(const std::string& path) {
  if (path == "-") return {{path, "standard input"}};
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  const bool is_folder = fs::is_directory(status);
  if (is_list(path, status)) return as_shards(files_of_list(path.substr(1)));
  if (!is_folder && !is_pattern(path, status)) return {{path, path}};
  std::vector<std::string> files = is_folder ? files_of_folder(path) : files_of_pattern(path);
  if (files.empty()) {
    throw Error(ErrorKind::file, is_folder ? fmt::format("{}: the folder has no files", path)
                                           : fmt::format("no file matches '{}'", path));
  }
  std::ranges::sort(files);
  return as_shards(files);
}

std::vector<std::string> data_files(const std::string& path) {
  std::vector<std::string> files;
  for (const Shard& shard : shards_of(path)) files.push_back(shard.path);
  std::error_code ignored;
  if (is_list(path, fs::status(path, ignored))) files.push_back(path.substr(1));
  return files;
}

bool would_be_data_file(const std::string& path, const std::string& file) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  const std::string name = fs::path(file).filename().string();
  const auto in_folder = [&](const fs::path& folder) {
    return fs::equivalent(folder, fs::absolute(file).parent_path(), ignored);
  };
  if (fs::is_directory(status)) return in_folder(path) && is_data_name(name);
  if (is_list(path, status) || !is_pattern(path, status)) return false;
  const fs::path pattern = fs::absolute(path);
  return ::fnmatch(pattern.filename().c_str(), name.c_str(), FNM_PERIOD) == 0 &&
         std::ranges::any_of(files_of_pattern(pattern.parent_path().string()), in_folder);
}

std::uint64_t text_bytes(const std::string& path) {
  constexpr std::uint64_t kPacked = 6;  // the approximate ratio of gzip for numbers
  std::uint64_t total = 0;
  for (const Shard& shard : shards_of(path)) {
    std::error_code failure;
    const std::uintmax_t size = fs::file_size(shard.path, failure);
    if (failure) continue;  // a pipe or an absent file: reading it reports the error
    total += fs::path(shard.path).extension() == ".gz" ? kPacked * size : size;
  }
  return total;
}

}  // namespace espalier
