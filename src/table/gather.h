// SPDX-License-Identifier: Apache-2.0
// Communication between ranks. All ranks call these functions in the same order.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes.h"
#include "espalier/ranks.h"

namespace espalier {

/// Sends the same bytes to all ranks.
void tell_all(Ranks& ranks, std::span<const std::byte> own,
              std::span<const std::span<std::byte>> of_each);

/// Collects the text of each rank, in the order of ranks. Null: this process is alone.
std::vector<std::string> gather(Ranks* ranks, std::string_view own);

/// The same for plain values.
template <class T>
std::vector<T> gather_values(Ranks& ranks, const T& own) {
  std::vector<T> all;
  for (const std::string& bytes : gather(&ranks, raw_bytes(std::span(&own, 1))))
    all.push_back(numbers_of<T>(bytes).front());
  return all;
}

}  // namespace espalier
