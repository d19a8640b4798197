// SPDX-License-Identifier: Apache-2.0
#include "core/bytes.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "espalier/error.h"

namespace espalier {

std::uint64_t checksum(std::string_view bytes) { return XXH64(bytes.data(), bytes.size(), 0); }

void put_text(std::string& out, std::string_view text) {
  put(out, static_cast<std::uint64_t>(text.size()));
  out += text;
}

void put_floats(std::string& out, std::span<const float> values) {
  put(out, static_cast<std::uint64_t>(values.size()));
  out += raw_bytes(values);
}

void Reader::fail(std::string_view message) const {
  throw Error(ErrorKind::format, fmt::format("{}: not a usable {}: {}", place_, thing_, message));
}

std::string_view Reader::take(std::uint64_t size, std::string_view what) {
  if (size > bytes_.size()) fail(fmt::format("it ends within the {}", what));
  const std::string_view taken = bytes_.substr(0, size);
  bytes_.remove_prefix(size);
  return taken;
}

std::string_view Reader::text(std::string_view what) {
  const auto size = get<std::uint64_t>(what);
  return take(size, what);
}

std::vector<float> Reader::floats(std::string_view what) {
  const auto count = get<std::uint64_t>(what);
  if (count > bytes_.size() / sizeof(float)) fail(fmt::format("it ends within the {}", what));
  std::vector<float> values(count);
  const std::string_view raw = take(count * sizeof(float), what);
  if (!raw.empty()) std::memcpy(values.data(), raw.data(), raw.size());
  return values;
}

std::uint32_t Reader::open_frame(std::string_view magic, std::uint32_t newest) {
  const std::string_view whole = bytes_;
  if (!whole.starts_with(magic)) fail(fmt::format("it does not begin with {}", magic));
  constexpr std::size_t kChecksum = sizeof(std::uint64_t);
  if (whole.size() < magic.size() + sizeof newest + kChecksum) fail("it is cut short");
  take(magic.size(), "magic");
  const auto found = get<std::uint32_t>("version");
  if (found < 1 || found > newest) {
    fail(fmt::format("format version {}, this program reads version{}", found,
                     newest == 1 ? " 1" : fmt::format("s 1 to {}", newest)));
  }
  const std::string_view content = whole.substr(0, whole.size() - kChecksum);
  Reader end(whole.substr(content.size()), place_, thing_);
  if (end.get<std::uint64_t>("checksum") != checksum(content))
    fail("its checksum does not match: it is cut short or was altered");
  bytes_.remove_suffix(kChecksum);
  return found;
}

}  // namespace espalier
