// SPDX-License-Identifier: Apache-2.0
// The exception type of the library.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace espalier {

enum class ErrorKind {
  argument,     ///< an option or a function argument is wrong
  data,         ///< a dataset has values that cannot be used
  file,         ///< a file cannot be opened, read or written
  format,       ///< a model or configuration file is damaged or not an Espalier file
  unsupported,  ///< this version does not support the request
  diverged,     ///< training produced infinite or NaN numbers in its first epoch
  stopped,      ///< a stop was requested before there was a result
};

/// The library throws only this type on purpose. The message has the place, the problem and the
/// fix: `adult.csv:17: column 'age': 'abc' is not a number`. The middle of a message of more than
/// 4,000 bytes is cut out.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message)
      : std::runtime_error(bounded(message)), kind_(kind) {}
  ErrorKind kind() const noexcept { return kind_; }

 private:
  static std::string bounded(const std::string& message) {
    constexpr std::size_t kHead = 3000, kTail = 1000;
    if (message.size() <= kHead + kTail) return message;
    const auto is_inside = [&](std::size_t at) {
      return (message[at] & 0xC0) == 0x80;
    };  // of UTF-8
    std::size_t head = kHead, tail = message.size() - kTail;
    while (head > 0 && is_inside(head)) --head;
    while (tail < message.size() && is_inside(tail)) ++tail;
    return message.substr(0, head) + " ... " + message.substr(tail);
  }

  ErrorKind kind_;
};

}  // namespace espalier
