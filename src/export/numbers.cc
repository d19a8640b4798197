// SPDX-License-Identifier: Apache-2.0
#include "export/numbers.h"

#include <fmt/format.h>

namespace espalier {

namespace {

constexpr std::size_t kLine = 16;  // floats of a cache line

}  // namespace

std::string float_literal(float value) { return fmt::format("{:a}f", value); }
std::string double_literal(double value) { return fmt::format("{:a}", value); }

std::size_t Numbers::add(std::string_view title, std::span<const float> values) {
  constexpr std::size_t kPerLine = 8;
  const std::size_t begin = size_;
  text_ += fmt::format("    // {}: {}\n", begin, title);
  for (std::size_t i = 0; i < values.size(); ++i) {
    text_ += i % kPerLine == 0 ? "    " : " ";
    text_ += float_literal(values[i]);
    text_ += i % kPerLine == kPerLine - 1 ? ",\n" : ",";
  }
  size_ += values.size();
  for (; size_ % kLine != 0; ++size_) text_ += "0,";
  if (text_.back() != '\n') text_ += '\n';
  return begin;
}

}  // namespace espalier
