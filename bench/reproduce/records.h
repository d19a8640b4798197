// SPDX-License-Identifier: Apache-2.0
// What a reproduction has finished, a file each in a folder beside its report, so that one that was
// killed goes on where it stopped. A file's name is the sum of all that decides its result:
// program, data and settings. So what another program or other data left is never taken for one's
// own.
#pragma once

#include <optional>
#include <string>

#include "output.h"

namespace espalier {

class Records {
 public:
  /// `origin` is what all of them have in common. An empty folder: nothing is kept. Throws Error
  /// (file) if the folder is something else.
  Records(std::string folder, Json origin);

  /// How many files there are, of whatever origin.
  std::size_t count() const;

  /// The result of some work that was finished earlier. Throws Error (format) for a file that
  /// keep() has not written.
  std::optional<Json> find(const Json& work) const;

  /// Throws Error (file).
  void keep(const Json& work, const Json& result) const;

  /// A file for work that keeps parts of its result by itself; empty if nothing is kept.
  std::string file_of_parts(const Json& work) const;

  /// Deletes the folder, whose files no longer matter. What is not theirs stays.
  void remove() const;

 private:
  std::string name_of(const Json& work) const;

  std::string folder_;
  Json origin_;
};

}  // namespace espalier
