// SPDX-License-Identifier: Apache-2.0
#include "train/folds.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "data/encode.h"
#include "espalier/error.h"

namespace espalier {

std::vector<Fold> make_folds(const Table& table, const Label& label, int count, Random random) {
  const Rows rows = labelled_rows(label, table);
  const auto k = static_cast<std::size_t>(count);
  if (rows.size() < k) {
    throw Error(ErrorKind::argument,
                fmt::format("folds: {} are too many for {} rows with a label", count, rows.size()));
  }
  const std::vector<float> labels = encode_labels(label, table, rows);
  std::vector<std::uint32_t> dealt(rows.size());  // places in `rows`
  std::iota(dealt.begin(), dealt.end(), 0u);
  random.shuffle(std::span<std::uint32_t>(dealt));
  std::stable_sort(dealt.begin(), dealt.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return labels[a] < labels[b]; });
  std::vector<std::size_t> fold_of(rows.size());
  for (std::size_t i = 0; i < dealt.size(); ++i) fold_of[dealt[i]] = i % k;
  std::vector<Fold> folds;
  for (std::size_t fold = 0; fold < k; ++fold) {
    Rows train, valid;
    for (std::size_t i = 0; i < rows.size(); ++i)
      (fold_of[i] == fold ? valid : train).push_back(rows[i]);
    folds.push_back({take_rows(table, train), take_rows(table, valid)});
  }
  return folds;
}

}  // namespace espalier
