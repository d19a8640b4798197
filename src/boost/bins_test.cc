// SPDX-License-Identifier: Apache-2.0
#include "boost/bins.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "boost/row_blocks.h"
#include "support/synthetic_rows.h"

namespace espalier {
namespace {

TEST(Bins, EveryCellLiesWithinItsBinAndBinsAreInOrder) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const SyntheticRows rows(seed, 3000);
    ThreadPool pool(2);
    const std::vector<ColumnBins> columns = fit_bins(rows.wires, rows.data, pool);
    const BinnedRows binned(columns, rows.data, rows.label, pool);
    ASSERT_EQ(columns.size(), rows.wires.size());
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const ColumnBins& column = columns[c];
      EXPECT_LE(column.num_bins, 255u);
      for (std::size_t r = 0; r < rows.data.num_rows; ++r) {
        const float cell = rows.data.row(r)[column.wire];
        const std::uint8_t bin = binned.column(c)[r];
        ASSERT_LT(bin, column.num_bins);
        if (column.is_category) continue;
        if (cell < 0) {
          ASSERT_EQ(bin, 0);
        } else {
          ASSERT_GE(bin, column.first_value());
          ASSERT_TRUE(column.least[bin] <= cell && cell <= column.largest[bin]);
        }
      }
      for (std::size_t b = column.first_value() + 1; b < column.num_bins && !column.is_category;
           ++b)
        EXPECT_LT(column.largest[b - 1], column.least[b]);
    }
  }
}

// By a plain search, also of values that training never saw, and for any number of threads.
TEST(Bins, AreThoseOfAPlainSearch) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    Random random(seed);
    SyntheticRows rows(seed, 5000);
    const Dataset train = rows.data;
    for (float& cell : rows.data.cells) {
      if (cell != std::floor(cell) && random.below(3) == 0)
        cell = static_cast<float>(40 * random.uniform() - 5);
    }
    rows.data.cells[0] = std::numeric_limits<float>::infinity();
    ThreadPool pool(static_cast<int>(seed));
    const std::vector<ColumnBins> columns = fit_bins(rows.wires, train, pool);
    const BinnedRows binned(columns, rows.data, rows.label, pool);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const ColumnBins& column = columns[c];
      for (std::size_t r = 0; r < rows.data.num_rows; ++r) {
        const float cell = rows.data.row(r)[column.wire];
        std::size_t expected = 0;
        if (column.is_category) {
          expected = column.of_code[static_cast<std::size_t>(cell)];
        } else if (!column.has_missing || cell >= 0) {
          expected = column.first_value();
          while (expected + 1 < column.num_bins && column.largest[expected] < cell) ++expected;
        }
        ASSERT_EQ(binned.column(c)[r], expected) << "column " << c << ", value " << cell;
      }
    }
  }
}

// All values where there are few; else equally many rows in each bin, whatever the sample.
TEST(Bins, DivideTheRowsEvenly) {
  for (const std::size_t count : {100, 3000, 20'000, 450'000}) {
    Random random(count);
    Dataset data{.num_rows = count, .num_features = 2};
    for (std::size_t r = 0; r < count; ++r) {
      const double u = random.uniform();
      data.cells.push_back(static_cast<float>(99 * u * u * u));
      data.cells.push_back(static_cast<float>(random.below(100)));
    }
    const std::vector<Wire> wires = {{.keypoints = 100}, {.keypoints = 100}};
    for (const int threads : {1, 3}) {
      ThreadPool pool(threads);
      const std::vector<ColumnBins> columns = fit_bins(wires, data, pool);
      const BinnedRows binned(columns, data, Label(), pool);
      std::vector<std::size_t> rows(columns[0].num_bins);
      for (std::size_t r = 0; r < count; ++r) ++rows[binned.column(0)[r]];
      EXPECT_EQ(columns[0].num_bins, std::min<std::size_t>(count, 254));
      const auto [fewest, most] = std::ranges::minmax(rows);
      EXPECT_LE(static_cast<double>(most), 1.5 * static_cast<double>(fewest) + 1);
      EXPECT_LE(columns[1].num_bins, 100u);
      for (std::size_t b = 0; b < columns[1].num_bins; ++b)
        EXPECT_EQ(columns[1].least[b], columns[1].largest[b]);
    }
  }
}

TEST(RowBlocks, HaveTheBinsOfEveryRow) {
  for (const std::size_t features : {1, 7, 8, 9, 16, 17, 30}) {
    Random random(features);
    Dataset data{.num_rows = 5000, .num_features = features};
    for (std::size_t k = 0; k < features * data.num_rows; ++k)
      data.cells.push_back(static_cast<float>(random.below(50)));
    const std::vector<Wire> wires(features, Wire{.keypoints = 50});
    ThreadPool pool(3);
    const std::vector<ColumnBins> columns = fit_bins(wires, data, pool);
    const BinnedRows binned(columns, data, Label(), pool);
    const RowBlocks blocks(binned, pool);
    ASSERT_LE(blocks.width(), RowBlocks::kMaxWidth);
    for (std::size_t c = 0; c < features; ++c) {
      const std::uint8_t* const block = blocks.block(c / blocks.width());
      for (std::size_t r = 0; r < data.num_rows; ++r)
        ASSERT_EQ(block[r * blocks.width() + c % blocks.width()], binned.column(c)[r]);
    }
  }
}

}  // namespace
}  // namespace espalier
