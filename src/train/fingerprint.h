// SPDX-License-Identifier: Apache-2.0
// What a run depends on, so that a checkpoint continues no other run and all ranks train the same.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "train/problem.h"
#include "train/settled_options.h"
#include "train/team.h"

namespace espalier {

/// Two runs with the same fingerprint give the same model.
struct Fingerprint {
  using Option = std::pair<std::string, std::string>;  // name, value as JSON

  std::string version;          // of the library
  std::vector<Option> options;  // settled
  std::uint64_t columns = 0;    // hashes
  std::uint64_t train_rows = 0;
  std::uint64_t valid_rows = 0;

  /// Names of options that training chose itself, by the rows. No file keeps them.
  std::vector<std::string> chosen = {};
};

/// Of the columns and rows of a problem.
struct DataHashes {
  std::uint64_t columns = 0;
  std::uint64_t train_rows = 0;
  std::uint64_t valid_rows = 0;
};

/// All ranks that have the rows between them call it.
DataHashes hashes_of(const Problem& problem, Ranks* ranks);

/// Of settings and rows. The hashes of a run are those before pairs of columns are found.
Fingerprint fingerprint_of(const SettledOptions& options, const Problem& problem,
                           const DataHashes& hashes);

/// "epochs was 30 and is 40 now", "the training data differ", ...; empty if they are the same.
/// Other data are named as such, though they make training choose other options too.
std::string difference(const Fingerprint& was, const Fingerprint& is);

/// The same without the options that training chooses.
std::string difference_of_inputs(const Fingerprint& was, const Fingerprint& is);

}  // namespace espalier
