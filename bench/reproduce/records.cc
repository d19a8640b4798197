// SPDX-License-Identifier: Apache-2.0
#include "reproduce/records.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "espalier/error.h"
#include "reproduce/sha256.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

constexpr const char* kResult = ".json";
constexpr const char* kParts = ".jsonl";

// A sum and one of the two endings, or what a killed OutputFile left.
bool is_ours(const fs::path& file) {
  const std::string name = file.filename().string();
  if (name.starts_with(".espalier-") && name.ends_with(".tmp")) return true;
  const std::string stem = file.stem().string(), ending = file.extension().string();
  return (ending == kResult || ending == kParts) && stem.size() == 64 &&
         stem.find_first_not_of("0123456789abcdef") == stem.npos;
}

}  // namespace

Records::Records(std::string folder, Json origin)
    : folder_(std::move(folder)), origin_(std::move(origin)) {
  if (folder_.empty()) return;
  std::error_code error;
  fs::create_directory(folder_, error);
  if (error || !fs::is_directory(folder_)) {
    throw Error(ErrorKind::file, fmt::format("{}: cannot be the folder of finished runs: {}",
                                             folder_, error ? error.message() : "it is a file"));
  }
}

std::size_t Records::count() const {
  if (folder_.empty()) return 0;
  std::size_t count = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_))
    count += is_ours(entry.path()) && entry.path().extension() == kResult ? 1 : 0;
  return count;
}

std::string Records::name_of(const Json& work) const {
  return (fs::path(folder_) / sha256(Json{origin_, work}.dump())).string();
}

std::optional<Json> Records::find(const Json& work) const {
  if (folder_.empty()) return std::nullopt;
  const std::string path = name_of(work) + kResult;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  try {
    const Json record = Json::parse(text.str());
    if (record.at("work") == work) return record.at("result");
  } catch (const std::runtime_error&) {  // no JSON, or other members
  }
  throw Error(ErrorKind::format,
              fmt::format("{}: not what reproduce wrote; delete it to go on", path));
}

void Records::keep(const Json& work, const Json& result) const {
  if (folder_.empty()) return;
  const Json record = {{"origin", origin_}, {"work", work}, {"result", result}};
  write_text(record.dump() + '\n', name_of(work) + kResult);
}

std::string Records::file_of_parts(const Json& work) const {
  return folder_.empty() ? "" : name_of(work) + kParts;
}

void Records::remove() const {
  if (folder_.empty()) return;
  std::vector<fs::path> ours;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
    if (is_ours(entry.path())) ours.push_back(entry.path());
  }
  std::error_code ignored;  // what cannot be deleted does no harm
  for (const fs::path& file : ours) fs::remove(file, ignored);
  fs::remove(folder_, ignored);
}

}  // namespace espalier
