// SPDX-License-Identifier: Apache-2.0
// A value that a caller may leave open:
//
//   options.epochs = 20;   // 20 epochs
//   options.epochs = {};   // training chooses: the word `auto` of flags, JSON and Python
#pragma once

#include <string_view>
#include <type_traits>

#include "espalier/error.h"

namespace espalier {

/// The word for a value that is left open.
inline constexpr std::string_view kAuto = "auto";

template <class T>
class Auto {
 public:
  using Value = T;

  constexpr Auto() = default;
  constexpr Auto(T value) : value_(value), is_set_(true) {}

  constexpr bool is_open() const { return !is_set_; }

  /// Throws Error (argument) if the value is open: options are settled before they are read.
  constexpr T value() const {
    if (!is_set_) throw Error(ErrorKind::argument, "an option is read that is left open");
    return value_;
  }
  constexpr operator T() const { return value(); }
  constexpr T value_or(T chosen) const { return is_set_ ? value_ : chosen; }

  friend constexpr bool operator==(const Auto& a, const Auto& b) {
    return a.is_set_ == b.is_set_ && a.value_ == b.value_;
  }
  /// An open value equals no number.
  template <class Number>
  requires std::is_arithmetic_v<Number>
  friend constexpr bool operator==(const Auto& a, Number b) {
    return a.is_set_ && a.value_ == static_cast<T>(b);
  }

 private:
  T value_{};
  bool is_set_ = false;
};

template <class T>
inline constexpr bool is_auto = false;
template <class T>
inline constexpr bool is_auto<Auto<T>> = true;

}  // namespace espalier
