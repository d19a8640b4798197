// SPDX-License-Identifier: Apache-2.0
// The one exception type of the library.
#pragma once

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
};

/// Everything the library throws on purpose. The message names place, thing, found and wanted:
/// `adult.csv:17: column 'age': 'abc' is not a number`.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace espalier
