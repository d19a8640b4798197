// SPDX-License-Identifier: Apache-2.0
#include "encode/pairs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "core/random.h"
#include "encode/encode.h"
#include "espalier/simulate.h"

namespace espalier {
namespace {

// Encoded rows of two numbers, one with missing cells, and a category, each with few values or
// many.
Dataset random_data(const Schema& schema, Random& random) {
  Dataset data{.num_rows = 1 + random.below(400), .num_features = 3};
  const bool few = random.uniform() < 0.5;
  for (std::size_t r = 0; r < data.num_rows; ++r) {
    for (std::size_t f = 0; f < 2; ++f) {
      const double x = random.uniform() * 3;
      const bool missing = schema.features[f].learns_missing && random.uniform() < 0.1;
      data.cells.push_back(missing ? kMissingPosition
                                   : static_cast<float>(few ? std::floor(4 * x) / 4 : x));
    }
    data.cells.push_back(
        static_cast<float>(random.below(schema.features[2].categories.size() + 1)));
    data.beside[Role::weight].push_back(static_cast<float>(random.uniform()));
  }
  return data;
}

Schema three_features() {
  Schema schema;
  schema.features = {{.name = "a", .keypoints = {0, 1, 2, 3}},
                     {.name = "b", .keypoints = {0, 1, 2, 3}, .learns_missing = true},
                     {.name = "c", .kind = FeatureKind::category}};
  for (int w = 0; w < 12; ++w) {
    schema.features[2].categories.push_back(std::to_string(w));
    schema.features[2].shares.push_back(1);
  }
  return schema;
}

TEST(Pairs, BinsAreAsManyAsWantedAtMostAndMissingIsOne) {
  const Schema schema = three_features();
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const Dataset data = random_data(schema, random);
    const int bins = 2 + static_cast<int>(random.below(40));
    for (std::size_t f = 0; f < 3; ++f) {
      const Pair::Side side = fit_side(schema, f, bins, data);
      ASSERT_FALSE(side.edges.empty());
      ASSERT_TRUE(std::ranges::is_sorted(side.edges, std::ranges::less_equal()));
      std::set<float> values;
      std::set<std::size_t> used;
      bool any_missing = false;
      for (std::size_t r = 0; r < data.num_rows; ++r) {
        const float x = data.row(r)[f];
        any_missing |= x < 0;
        if (x >= 0) values.insert(x);
        used.insert(bin_of(side.edges, x));
      }
      const std::size_t apart = any_missing ? 1 : 0;
      ASSERT_LE(side.num_bins(), static_cast<std::size_t>(bins) + 1);
      if (values.size() <= static_cast<std::size_t>(bins) && f < 2) {
        ASSERT_EQ(used.size(), values.size() + apart) << "every value is a bin of its own";
      }
      if (any_missing) {
        ASSERT_LT(bin_of(side.edges, kMissingPosition), bin_of(side.edges, *values.begin()));
      }
    }
  }
}

TEST(Pairs, EveryRowHasACodeWhoseShareIsTheWeightOfItsRows) {
  const Schema schema = three_features();
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const Dataset data = random_data(schema, random);
    const int most = 2 + static_cast<int>(random.below(30));
    const Pair pair =
        fit_pair(schema, random.below(2), 2, 2 + static_cast<int>(random.below(8)), most, data);
    ASSERT_EQ(pair.codes.size(), pair.first.num_bins() * pair.second.num_bins());
    ASSERT_LE(pair.shares.size(), static_cast<std::size_t>(most));
    std::vector<double> weights(pair.shares.size());
    double total = 0;
    for (std::size_t r = 0; r < data.num_rows; ++r) {
      const auto code = static_cast<std::size_t>(encode_pair(pair, data.row(r)));
      ASSERT_LT(code, pair.shares.size()) << "training has seen it";
      weights[code] += data.weight(r);
      total += data.weight(r);
    }
    for (std::size_t c = 0; c < weights.size(); ++c)
      ASSERT_NEAR(pair.shares[c], weights[c] / total, 1e-5);
  }
}

TEST(Pairs, RareCellsShareACode) {
  Schema schema = three_features();
  Dataset data{.num_rows = 11, .num_features = 3};
  // Cell (0, 0) five times, (3, 1) four times, (0, 1) and (3, 0) once.
  for (std::size_t r = 0; r < data.num_rows; ++r) {
    const bool first = r < 5;
    const float a = first || r == 9 ? 0 : 3, c = first || r == 10 ? 0 : 1;
    data.cells.insert(data.cells.end(), {a, 1, c});
  }
  const Pair pair = fit_pair(schema, 0, 2, 2, 1000, data);
  EXPECT_EQ(pair.codes, (std::vector<std::int32_t>{0, 2, 2, 1}));
  ASSERT_EQ(pair.shares.size(), 3u);
  EXPECT_NEAR(pair.shares[2], 2.0 / 11, 1e-6);
}

// The place of a grid: its vertices along both columns lie kGridSteps apart, missing cells and
// words among them, and between them it counts steps, never down when the cell rises.
TEST(Pairs, AGridCountsStepsBetweenItsVertices) {
  Schema schema = three_features();
  schema.features[0].monotonicity = Monotonicity::decreasing;
  EXPECT_TRUE(needs_grid(schema, 2, 0));
  EXPECT_FALSE(needs_grid(schema, 1, 2));
  for (const int most : {2, 3, 4, 9}) {
    for (std::size_t f = 0; f < 3; ++f) {
      const std::size_t other = f == 0 ? 1 : 0;
      const Pair pair = fit_grid(schema, f, other, most);
      ASSERT_TRUE(pair.is_grid());
      const std::vector<std::int32_t>& vertices = pair.first.vertices;
      const auto place = [&](float x) {
        float cells[3] = {0, 0, 0};
        cells[f] = x;
        const float rest = static_cast<float>(bin_of(pair.second.edges, 0));
        return (encode_pair(pair, cells) - rest) / static_cast<float>(pair.second.num_bins());
      };
      EXPECT_LE(vertices.size(), static_cast<std::size_t>(most) + (f == 1 ? 1 : 0));
      EXPECT_EQ(vertices.front(), f == 1 ? -1 : 0);
      EXPECT_EQ(place(1000),
                static_cast<float>(kGridSteps) * static_cast<float>(vertices.size() - 1));
      for (std::size_t k = 0; k < vertices.size(); ++k) {
        const auto x = static_cast<float>(vertices[k]);
        EXPECT_EQ(place(x), static_cast<float>(k) * kGridSteps) << f << ' ' << k;
        if (k + 1 < vertices.size() && f != 2 && vertices[k] >= 0) {
          const float half = (x + static_cast<float>(vertices[k + 1])) / 2;
          EXPECT_EQ(place(half), (static_cast<float>(k) + 0.5f) * kGridSteps);
          EXPECT_EQ(place(std::nextafter(half, 0.0f)),
                    (static_cast<float>(k) + 0.5f) * kGridSteps - 1);
        }
      }
    }
  }
}

TEST(Pairs, TablesAreEncodedAsDatasetsAreWidened) {
  const Table table = simulate({.rows = 500});
  Schema schema;
  for (const char* name : {"age", "loan_amount"}) {
    schema.features.push_back({.name = name, .keypoints = {20, 50, 90}, .typical = 40});
  }
  schema.features.push_back(
      {.name = "region", .kind = FeatureKind::category, .categories = {"north", "south"}});
  Dataset widened = encode_features(schema, table, all_rows(table));
  const std::vector<Pair> pairs = {fit_pair(schema, 0, 1, 9, 1000, widened),
                                   fit_pair(schema, 2, 0, 5, 1000, widened),
                                   fit_grid(schema, 0, 2, 3)};
  append_pairs(pairs, widened);
  schema.pairs = pairs;
  const Dataset encoded = encode_features(schema, table, all_rows(table));
  EXPECT_EQ(widened.num_features, 6u);
  EXPECT_EQ(encoded.num_features, 6u);
  EXPECT_EQ(encoded.cells, widened.cells);
  const Rows rows = all_rows(table);
  EXPECT_EQ(encode_and_free(schema, table, whole_table(table.num_rows), {&rows}).front().cells,
            widened.cells);
}

}  // namespace
}  // namespace espalier
