// SPDX-License-Identifier: Apache-2.0
#include "boost/bins.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "boost/bin_kernels.h"

namespace espalier {

namespace {

constexpr std::size_t kMaxSampled = 200'000;  // rows that decide where bins end
constexpr std::size_t kRowsOfABlock = 512;    // gathered together, a cache line for many columns
constexpr std::size_t kBinRowsPerTask = 16 * kRowsOfABlock;
constexpr std::size_t kColumnsOfASample = 8;  // at most, gathered together

// Sorts floats that are not negative: their bits are in the same order.
void radix_sort(std::vector<float>& values) {
  constexpr int kDigits = 11, kPasses = 3;
  constexpr std::uint32_t kBuckets = 1u << kDigits;
  const auto digit = [](float value, int pass) {
    return std::bit_cast<std::uint32_t>(value) >> (kDigits * pass) & (kBuckets - 1);
  };
  std::array<std::vector<std::uint32_t>, kPasses> starts;
  for (auto& counts : starts) counts.resize(kBuckets);
  for (const float value : values) {
    for (int pass = 0; pass < kPasses; ++pass) ++starts[pass][digit(value, pass)];
  }
  std::vector<float> sorted(values.size());
  for (int pass = 0; pass < kPasses; ++pass) {
    std::uint32_t sum = 0;
    for (std::uint32_t& start : starts[pass]) sum += std::exchange(start, sum);
    for (const float value : values) sorted[starts[pass][digit(value, pass)]++] = value;
    values.swap(sorted);
  }
}

void sort_positions(std::vector<float>& values) {
  constexpr std::size_t kFew = 4096;  // fewer are sorted faster than buckets are counted
  if (values.size() < kFew) {
    std::ranges::sort(values);
  } else {
    radix_sort(values);
  }
}

// The largest value of each bin: every distinct value, or equally many rows in each.
std::vector<float> ends_of(const std::vector<float>& sorted) {
  std::vector<float> ends;
  for (const float value : sorted) {
    if (!ends.empty() && ends.back() == value) continue;
    if (ends.size() == kMaxBins) {
      ends.clear();
      break;
    }
    ends.push_back(value);
  }
  std::size_t at = ends.empty() ? 0 : sorted.size();
  for (std::size_t left = kMaxBins; left > 0 && at < sorted.size(); --left) {
    const std::size_t last = at + (sorted.size() - at + left - 1) / left - 1;
    ends.push_back(sorted[last]);
    at = static_cast<std::size_t>(std::upper_bound(sorted.begin(), sorted.end(), ends.back()) -
                                  sorted.begin());
  }
  return ends;
}

// Finds the ends of the bins of some columns of numbers in a sample of the rows.
void fit_ends(const Dataset& data, std::span<ColumnBins* const> columns) {
  const std::size_t step = (data.num_rows + kMaxSampled - 1) / kMaxSampled;
  std::vector<std::vector<float>> samples(columns.size());
  for (auto& sample : samples) sample.reserve(step > 0 ? data.num_rows / step + 1 : 0);
  for (std::size_t r = 0; r < data.num_rows; r += step) {
    const float* const row = data.row(r);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const float value = row[columns[c]->wire];
      if (value >= 0) samples[c].push_back(value + 0.0f);  // never -0
    }
  }
  for (std::size_t c = 0; c < columns.size(); ++c) {
    ColumnBins& column = *columns[c];
    sort_positions(samples[c]);
    const std::vector<float> ends = ends_of(samples[c]);
    column.largest.assign(column.first_value(), -1);
    column.largest.insert(column.largest.end(), ends.begin(), ends.end());
    column.num_bins = column.largest.size();
    column.least.assign(column.num_bins, std::numeric_limits<float>::infinity());
  }
}

ColumnBins bins_of_category(const Wire& wire, std::size_t column) {
  const std::size_t categories = wire.shares.size();
  const std::size_t bins_of_seen = std::min(categories, kMaxBins);
  ColumnBins bins{.wire = column, .is_category = true, .num_bins = bins_of_seen + 1};
  bins.of_code.assign(categories + 1, static_cast<std::uint8_t>(bins_of_seen - 1));
  std::vector<std::size_t> order(categories);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (categories > bins_of_seen) {
    std::ranges::stable_sort(
        order, [&](std::size_t a, std::size_t b) { return wire.shares[a] > wire.shares[b]; });
  }
  for (std::size_t bin = 0; bin < bins_of_seen; ++bin)
    bins.of_code[order[bin]] = static_cast<std::uint8_t>(bin);
  bins.of_code.back() = static_cast<std::uint8_t>(bins_of_seen);
  return bins;
}

// Calls visit(column, first row, values, bins) for blocks of the rows [begin, end) of each column.
template <class Visit>
void visit_blocks(std::span<const ColumnBins> columns, const Dataset& data, std::size_t begin,
                  std::size_t end, Visit&& visit) {
  std::array<float, kRowsOfABlock> values;
  std::array<std::uint8_t, kRowsOfABlock> bins;
  for (std::size_t first = begin; first < end; first += kRowsOfABlock) {
    const std::size_t count = std::min(kRowsOfABlock, end - first);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (columns[c].is_level) continue;
      const float* cell = data.row(first) + columns[c].wire;
      for (std::size_t r = 0; r < count; ++r, cell += data.num_features) values[r] = *cell;
      columns[c].find(std::span(values).first(count), bins.data());
      visit(c, first, std::span<const float>(values).first(count), bins.data());
    }
  }
}

// The sample need not have the least and the largest value of a bin.
void widen(std::vector<ColumnBins>& columns, const Dataset& data, ThreadPool& pool) {
  const std::vector<ColumnBins> known = columns;
  std::vector<std::vector<ColumnBins>> found(static_cast<std::size_t>(pool.size()), columns);
  const std::size_t step =
      std::max((data.num_rows + found.size() - 1) / found.size(), kRowsOfABlock);
  pool.run_ranges(data.num_rows, step, [&](std::size_t begin, std::size_t end) {
    std::vector<ColumnBins>& own = found[begin / step];
    visit_blocks(
        known, data, begin, end,
        [&](std::size_t c, std::size_t, std::span<const float> values, const std::uint8_t* bins) {
          if (own[c].is_category) return;
          float *const least = own[c].least.data(), *const largest = own[c].largest.data();
          for (std::size_t r = 0; r < values.size(); ++r) {
            least[bins[r]] = std::min(least[bins[r]], values[r]);
            largest[bins[r]] = std::max(largest[bins[r]], values[r]);
          }
        });
  });
  for (const std::vector<ColumnBins>& own : found) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      for (std::size_t bin = 0; bin < columns[c].least.size(); ++bin) {
        columns[c].least[bin] = std::min(columns[c].least[bin], own[c].least[bin]);
        columns[c].largest[bin] = std::max(columns[c].largest[bin], own[c].largest[bin]);
      }
    }
  }
}

}  // namespace

// Of numbers: how many bins end below each value, the last one left out.
void ColumnBins::find(std::span<const float> values, std::uint8_t* bins) const {
  if (is_category) {
    for (std::size_t r = 0; r < values.size(); ++r)
      bins[r] = of_code[std::min(static_cast<std::size_t>(values[r]), of_code.size() - 1)];
    return;
  }
  const std::size_t first = first_value();
  BinEnds(std::span(largest).subspan(first, num_bins - first - 1)).count_below(values, bins);
  if (!has_missing) return;
  for (std::size_t r = 0; r < values.size(); ++r)
    bins[r] = static_cast<std::uint8_t>(values[r] < 0 ? 0 : bins[r] + 1);
}

BinnedRows::BinnedRows(std::span<const ColumnBins> columns, const Dataset& data, const Label& label,
                       ThreadPool& pool)
    : num_rows_(data.num_rows * label.num_levels()),
      num_columns_(columns.size()),
      bins_(num_columns_ * num_rows_) {
  const std::size_t levels = label.num_levels();
  pool.run_ranges(data.num_rows, kBinRowsPerTask, [&](std::size_t begin, std::size_t end) {
    visit_blocks(columns, data, begin, end,
                 [&](std::size_t c, std::size_t first, std::span<const float> values,
                     const std::uint8_t* bins) {
                   std::uint8_t* own = bins_.data() + c * num_rows_ + first * levels;
                   for (std::size_t r = 0; r < values.size(); ++r, own += levels)
                     std::fill_n(own, levels, bins[r]);
                 });
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (!columns[c].is_level) continue;
      std::uint8_t* const own = bins_.data() + c * num_rows_;
      for (std::size_t i = begin * levels; i < end * levels; ++i)
        own[i] = static_cast<std::uint8_t>(label.level_position(i % levels));
    }
  });
}

std::vector<ColumnBins> fit_bins(std::span<const Wire> wires, const Dataset& train,
                                 ThreadPool& pool) {
  std::vector<ColumnBins> columns;
  std::vector<ColumnBins*> numbers;
  for (std::size_t c = 0; c < wires.size(); ++c) {
    columns.push_back(wires[c].is_category() ? bins_of_category(wires[c], c)
                                             : ColumnBins{.wire = c,
                                                          .monotone = wires[c].monotone,
                                                          .has_missing = wires[c].learns_missing});
  }
  for (ColumnBins& column : columns) {
    if (!column.is_category) numbers.push_back(&column);
  }
  const std::size_t threads = static_cast<std::size_t>(pool.size());
  const std::size_t together =
      std::clamp<std::size_t>(numbers.size() / threads, 1, kColumnsOfASample);
  pool.run_ranges(numbers.size(), together, [&](std::size_t begin, std::size_t end) {
    fit_ends(train, std::span(numbers).subspan(begin, end - begin));
  });
  std::erase_if(columns, [](const ColumnBins& bins) { return bins.num_bins < 2; });
  widen(columns, train, pool);
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
