// SPDX-License-Identifier: Apache-2.0
#include "train/shared_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/bytes.h"

namespace espalier {

namespace {

std::uint64_t hash_of_row(const Dataset& data, std::size_t row) {
  std::string bytes(raw_bytes(std::span<const float>(data.row(row), data.num_features)));
  put(bytes, data.labels[row]);
  return checksum(bytes);
}

}  // namespace

std::size_t count_shared_rows(const Dataset& train, const Dataset& valid, Team& team) {
  std::vector<std::uint64_t> hashes;
  for (std::size_t row = 0; row < valid.num_rows; ++row) hashes.push_back(hash_of_row(valid, row));
  std::vector<std::uint64_t> known = hashes;
  std::ranges::sort(known);
  std::string found(known.size(), '\0');
  const auto place_of = [&known](std::uint64_t hash) {
    return static_cast<std::size_t>(std::ranges::lower_bound(known, hash) - known.begin());
  };
  const RowRange own = train.own_rows();
  for (std::size_t row = own.begin; row < own.end; ++row) {
    const std::uint64_t hash = hash_of_row(train, row);
    const std::size_t place = place_of(hash);
    if (place < known.size() && known[place] == hash) found[place] = 1;
  }
  const std::vector<std::string> all = team.gather(found);
  return static_cast<std::size_t>(std::ranges::count_if(hashes, [&](std::uint64_t hash) {
    const std::size_t place = place_of(hash);
    return std::ranges::any_of(all, [place](const std::string& one) { return one[place] != 0; });
  }));
}

void warn_of_shared_rows(const Problem& problem, const TrainControl& control, Team& team) {
  if (control.valid == nullptr) return;
  const std::size_t shared = count_shared_rows(problem.train, problem.valid, team);
  if (shared == 0 || !control.warning) return;
  control.warning(
      fmt::format("{}: {} of the {} validation rows equal training rows in all features and the "
                  "label, so the validation loss is too low; use other rows to validate",
                  control.valid->name, shared, problem.valid.num_rows));
}

}  // namespace espalier
