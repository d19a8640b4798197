// SPDX-License-Identifier: Apache-2.0
// The description of a table on disk. The target makes the checksum right, or nothing would get
// past it. What is accepted keeps its bytes when it is written again.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

#include "fuzz/fuzz.h"
#include "table/stored_table.h"

namespace espalier::fuzz {

void repair_checksum(std::string& bytes) {
  constexpr std::size_t kSumSize = 8;
  if (bytes.size() < kSumSize) return;
  const std::uint64_t sum = XXH64(bytes.data(), bytes.size() - kSumSize, 0);
  std::memcpy(bytes.data() + bytes.size() - kSumSize, &sum, kSumSize);
}

void try_table(std::string bytes) {
  repair_checksum(bytes);
  StoredTable table;
  if (accepts([&] { table = parse_stored_table(bytes, "table"); }))
    require(to_bytes(table) == bytes);
}

}  // namespace espalier::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  espalier::fuzz::try_table(std::string(espalier::fuzz::text_of(data, size)));
  return 0;
}
