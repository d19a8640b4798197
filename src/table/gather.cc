// SPDX-License-Identifier: Apache-2.0
#include "table/gather.h"

#include <cstdint>

namespace espalier {

void tell_all(Ranks& ranks, std::span<const std::byte> own,
              std::span<const std::span<std::byte>> of_each) {
  const std::vector<std::span<const std::byte>> send(of_each.size(), own);
  ranks.exchange(send, of_each);
}

std::vector<std::string> gather(Ranks* ranks, std::string_view own) {
  if (ranks == nullptr) return {std::string(own)};
  const auto size = static_cast<std::size_t>(ranks->size());
  const std::uint64_t length = own.size();
  std::vector<std::uint64_t> lengths(size);
  std::vector<std::span<std::byte>> receive;
  for (std::uint64_t& each : lengths)
    receive.push_back(std::as_writable_bytes(std::span(&each, 1)));
  tell_all(*ranks, std::as_bytes(std::span(&length, 1)), receive);
  std::vector<std::string> texts(size);
  for (std::size_t q = 0; q < size; ++q) {
    texts[q].resize(lengths[q]);
    receive[q] = std::as_writable_bytes(std::span(texts[q]));
  }
  tell_all(*ranks, std::as_bytes(std::span(own)), receive);
  return texts;
}

}  // namespace espalier
