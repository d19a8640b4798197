// SPDX-License-Identifier: Apache-2.0
#include "explain/mixture.h"

#include <algorithm>

#include "encode/encode.h"
#include "encode/pairs.h"

namespace espalier {

Mixture::Mixture(const Schema& schema, std::span<const float> baseline)
    : schema_(schema), pairs_of_(schema.features.size()), codes_(schema.pairs.size()) {
  for (std::size_t p = 0; p < schema.pairs.size(); ++p) {
    pairs_of_[schema.pairs[p].first.feature].push_back(p);
    pairs_of_[schema.pairs[p].second.feature].push_back(p);
  }
  for (std::size_t f = 0; f < num_features(); ++f)
    baseline_.push_back(encode_cell(schema.features[f], baseline[f]));
  for (const Pair& pair : schema.pairs) baseline_.push_back(encode_pair(pair, baseline_.data()));
  row_.resize(num_features());
  reset();
}

void Mixture::set_row(std::span<const float> row) {
  differing_.clear();
  for (std::size_t f = 0; f < num_features(); ++f) {
    row_[f] = encode_cell(schema_.features[f], row[f]);
    if (row_[f] != baseline_[f]) differing_.push_back(f);
  }
  std::vector<float>& mixed = cells_;  // space for the two values of a pair
  for (std::size_t p = 0; p < codes_.size(); ++p) {
    const Pair& pair = schema_.pairs[p];
    for (std::size_t which = 0; which < 4; ++which) {
      const std::size_t first = pair.first.feature, second = pair.second.feature;
      mixed[first] = (which & 1) != 0 ? row_[first] : baseline_[first];
      mixed[second] = (which & 2) != 0 ? row_[second] : baseline_[second];
      codes_[p][which] = encode_pair(pair, mixed.data());
    }
  }
  reset();
}

void Mixture::reset() {
  cells_ = baseline_;
  is_of_row_.assign(num_features(), 0);
}

void Mixture::flip(std::size_t feature) {
  is_of_row_[feature] ^= 1;
  cells_[feature] = is_of_row_[feature] != 0 ? row_[feature] : baseline_[feature];
  for (const std::size_t p : pairs_of_[feature]) {
    const Pair& pair = schema_.pairs[p];
    const int which = is_of_row_[pair.first.feature] + 2 * is_of_row_[pair.second.feature];
    cells_[num_features() + p] = codes_[p][static_cast<std::size_t>(which)];
  }
}

}  // namespace espalier
