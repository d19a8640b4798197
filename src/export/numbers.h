// SPDX-License-Identifier: Apache-2.0
// The constants of an exported header: one array of floats, section after section.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// A literal with the same bits.
std::string float_literal(float value);
std::string double_literal(double value);

class Numbers {
 public:
  /// Adds a section on a cache line of its own and returns where it begins.
  std::size_t add(std::string_view title, std::span<const float> values);

  std::size_t size() const { return size_; }

  /// The entries, section by section, without braces.
  const std::string& text() const { return text_; }

 private:
  std::size_t size_ = 0;
  std::string text_;
};

}  // namespace espalier
