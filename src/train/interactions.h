// SPDX-License-Identifier: Apache-2.0
// What the option `interactions` says: auto, none, or pairs of columns, each with its number of
// bins or without.
//
//   longitude*latitude:32     at most 32 bins a side
//   day*month                 as many as suit
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "espalier/schema.h"

namespace espalier {

/// Two features to be crossed.
struct PairRequest {
  std::size_t first = 0;
  std::size_t second = 0;
  int bins = 0;  // at most so many a side; 0: to be chosen

  bool operator==(const PairRequest&) const = default;
};

/// Whether the texts leave anything to be chosen: which pairs, or how many bins.
bool leaves_interactions_open(const std::vector<std::string>& texts);

/// Whether they leave everything to be chosen.
bool asks_for_interactions(const std::vector<std::string>& texts);

/// The pairs that the texts name; none for `auto` and `none`. Throws Error (argument) for a text
/// that is none of the three, and for columns that cannot be crossed.
std::vector<PairRequest> read_interactions(const std::vector<std::string>& texts,
                                           const std::vector<Feature>& features);

/// The texts of some pairs: {"none"} if there are none.
std::vector<std::string> write_interactions(const std::vector<PairRequest>& pairs,
                                            const std::vector<Feature>& features);

}  // namespace espalier
