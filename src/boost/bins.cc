// SPDX-License-Identifier: Apache-2.0
#include "boost/bins.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace espalier {

namespace {

constexpr std::size_t kMostSampled = 200'000;  // rows that say where bins end

// The positions of some rows of a column that are not missing, in ascending order.
std::vector<float> sorted_sample(const Dataset& data, std::size_t column) {
  const std::size_t step = (data.num_rows + kMostSampled - 1) / kMostSampled;
  std::vector<float> sample;
  for (std::size_t r = 0; r < data.num_rows; r += step) {
    const float cell = data.row(r)[column];
    if (cell >= 0) sample.push_back(cell);
  }
  std::ranges::sort(sample);
  return sample;
}

// The largest value of each bin: every value, or as many rows to each as can be.
std::vector<float> ends_of(const std::vector<float>& sorted) {
  std::vector<float> ends = sorted;
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  if (ends.size() <= kMostBins) return ends;
  ends.clear();
  std::size_t at = 0;
  for (std::size_t left = kMostBins; left > 0 && at < sorted.size(); --left) {
    const std::size_t last = at + (sorted.size() - at + left - 1) / left - 1;
    ends.push_back(sorted[last]);
    at = static_cast<std::size_t>(std::upper_bound(sorted.begin(), sorted.end(), ends.back()) -
                                  sorted.begin());
  }
  return ends;
}

ColumnBins bins_of_number(const Wire& wire, const Dataset& data, std::size_t column) {
  ColumnBins bins{.wire = column, .monotone = wire.monotone, .has_missing = wire.learns_missing};
  std::vector<float> ends = ends_of(sorted_sample(data, column));
  bins.num_bins = ends.size() + bins.first_value();
  bins.largest.assign(bins.num_bins, -1);
  std::ranges::copy(ends, bins.largest.begin() + static_cast<std::ptrdiff_t>(bins.first_value()));
  // The sample need not have the least and the largest value of a bin.
  std::vector<float> least(bins.num_bins, std::numeric_limits<float>::infinity());
  std::vector<float> largest = bins.largest;
  for (std::size_t r = 0; r < data.num_rows; ++r) {
    const float cell = data.row(r)[column];
    const std::uint8_t bin = bins.bin_of(cell);
    least[bin] = std::min(least[bin], cell);
    largest[bin] = std::max(largest[bin], cell);
  }
  bins.least = std::move(least);
  bins.largest = std::move(largest);
  return bins;
}

ColumnBins bins_of_category(const Wire& wire, std::size_t column) {
  const std::size_t words = wire.shares.size();
  const std::size_t bins_of_words = std::min(words, kMostBins);
  ColumnBins bins{.wire = column, .is_category = true, .num_bins = bins_of_words + 1};
  bins.of_code.assign(words + 1, static_cast<std::uint8_t>(bins_of_words - 1));
  std::vector<std::size_t> order(words);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (words > bins_of_words) {
    std::ranges::stable_sort(
        order, [&](std::size_t a, std::size_t b) { return wire.shares[a] > wire.shares[b]; });
  }
  for (std::size_t bin = 0; bin < bins_of_words; ++bin)
    bins.of_code[order[bin]] = static_cast<std::uint8_t>(bin);
  bins.of_code.back() = static_cast<std::uint8_t>(bins_of_words);
  return bins;
}

}  // namespace

std::uint8_t ColumnBins::bin_of(float cell) const {
  if (is_category) return of_code[std::min(static_cast<std::size_t>(cell), of_code.size() - 1)];
  if (has_missing && cell < 0) return 0;
  const auto begin = largest.begin() + static_cast<std::ptrdiff_t>(first_value());
  const auto found = std::lower_bound(begin, largest.end(), cell);
  return static_cast<std::uint8_t>(
      std::min<std::ptrdiff_t>(found - largest.begin(), static_cast<std::ptrdiff_t>(num_bins) - 1));
}

BinnedRows::BinnedRows(std::span<const ColumnBins> columns, const Dataset& data, const Label& label,
                       ThreadPool& pool)
    : num_rows_(data.num_rows * label.num_levels()), bins_(columns.size() * num_rows_) {
  const std::size_t levels = label.num_levels();
  pool.run(static_cast<int>(columns.size()), [&](int index) {
    const auto c = static_cast<std::size_t>(index);
    std::uint8_t* own = bins_.data() + c * num_rows_;
    for (std::size_t r = 0; r < data.num_rows; ++r, own += levels) {
      for (std::size_t level = 0; columns[c].is_level && level < levels; ++level)
        own[level] = static_cast<std::uint8_t>(label.level_position(level));
      if (!columns[c].is_level)
        std::fill_n(own, levels, columns[c].bin_of(data.row(r)[columns[c].wire]));
    }
  });
}

std::vector<ColumnBins> fit_bins(std::span<const Wire> wires, const Dataset& train,
                                 ThreadPool& pool) {
  std::vector<ColumnBins> columns(wires.size());
  pool.run(static_cast<int>(wires.size()), [&](int index) {
    const auto c = static_cast<std::size_t>(index);
    columns[c] =
        wires[c].is_category() ? bins_of_category(wires[c], c) : bins_of_number(wires[c], train, c);
  });
  std::erase_if(columns, [](const ColumnBins& bins) { return bins.num_bins < 2; });
  return columns;
}

ColumnBins bins_of_levels(const Label& label, std::size_t wire) {
  ColumnBins bins{.wire = wire, .monotone = true, .is_level = true, .num_bins = label.num_levels()};
  for (std::size_t level = 0; level < bins.num_bins; ++level)
    bins.least.push_back(static_cast<float>(level));
  bins.largest = bins.least;
  return bins;
}

}  // namespace espalier
