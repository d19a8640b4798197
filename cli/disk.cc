// SPDX-License-Identifier: Apache-2.0
#include "disk.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string_view>

#include "espalier/error.h"
#include "espalier/text.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

// The memory of columns and encoded rows is at most this multiple of the text size, unless most
// values have one digit.
constexpr std::uint64_t kBytesInMemory = 2;

std::uint64_t number_in(const std::string& path, std::string_view before) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    if (!before.empty() && word != before) continue;
    if (!before.empty()) file >> word;
    std::uint64_t number = 0;
    const char* const end = word.data() + word.size();
    if (std::from_chars(word.data(), end, number).ptr == end) return number;
    break;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

// Memory of the machine, or of the container if that is less.
std::uint64_t free_memory() {
  const std::uint64_t kilobytes = number_in("/proc/meminfo", "MemAvailable:");
  const std::uint64_t most = number_in("/sys/fs/cgroup/memory.max", "");
  const std::uint64_t used = number_in("/sys/fs/cgroup/memory.current", "");
  const std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t of_machine = kilobytes == all ? all : 1024 * kilobytes;
  return std::min(of_machine, most == all || used > most ? all : most - used);
}

std::string as_size(std::uint64_t bytes) {
  const double megabytes = static_cast<double>(bytes) / (1 << 20);
  return megabytes < 1024 ? fmt::format("{:.0f} MB", megabytes)
                          : fmt::format("{:.1f} GB", megabytes / 1024);
}

// The folder of --cache, which is created, or that of the model.
DiskFolder folder_for(const DiskFlags& flags, const std::string& output) {
  if (flags.cache.empty()) {
    const std::string beside = fs::path(output).parent_path().string();
    return {beside.empty() ? "." : beside};
  }
  std::error_code failure;
  fs::create_directories(flags.cache, failure);
  if (failure)
    throw Error(ErrorKind::file, fmt::format("cannot make {}: {}", flags.cache, failure.message()));
  return {flags.cache, true};
}

// A reader has several copies of a piece: text, the next text, values.
std::size_t pieces_within(std::uint64_t memory) {
  return static_cast<std::size_t>(std::min<std::uint64_t>(memory / 256, std::uint64_t{64} << 20));
}

}  // namespace

void add_disk_flags(CLI::App& app, DiskFlags& flags) {
  app.add_option("--cache", flags.cache,
                 "train from disk and keep the converted data in this folder; later runs use it "
                 "as long as the data files do not change")
      ->type_name("DIR");
  const CLI::callback_t memory = [&flags](const CLI::results_t& texts) {
    flags.memory = read_memory("--memory", texts.back());
    return true;
  };
  app.add_option(
         "--memory", memory,
         "the memory limit, such as 512M or 2G, without file caches; trains from disk, and the "
         "model is the same (default: in memory if the data fits)")
      ->type_name("SIZE");
}

TablePlace choose_place(const DiskFlags& flags, const std::string& table, const std::string& output,
                        const std::function<void(const std::string&)>& say) {
  const TablePlace on_disk{.disk = folder_for(flags, output),
                           .piece_bytes = pieces_within(flags.memory),
                           .memory = flags.memory};
  if (!flags.cache.empty() || flags.memory > 0) return on_disk;
  if (table == "-") return {};  // of unknown size
  const std::uint64_t needed = kBytesInMemory * text_bytes(table), free = free_memory();
  if (needed <= free) return {};
  say(fmt::format(
      "espalier: the table would take about {} of memory, and {} are free: it is trained "
      "from disk, in {}",
      as_size(needed), as_size(free), on_disk.disk->path));
  return on_disk;
}

}  // namespace espalier
