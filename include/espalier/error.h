// SPDX-License-Identifier: Apache-2.0
// The one exception type of the library.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace espalier {

enum class ErrorKind {
  argument,     ///< an option or a function argument is wrong
  data,         ///< a table has something that cannot be used
  file,         ///< a file cannot be opened, read or written
  format,       ///< a model or configuration file is damaged or not one of ours
  unsupported,  ///< asked for something this version cannot do
  diverged,     ///< training left the finite numbers in its first epoch
  stopped,      ///< a stop was asked for before there was anything to hand out
};

/// Everything the library throws on purpose. The message names place, thing, found and wanted:
/// `adult.csv:17: column 'age': 'abc' is not a number`. One that is longer than a few pages,
/// because a name in it is, loses its middle.
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
