// SPDX-License-Identifier: Apache-2.0
// score = 4 p(x), with p a smooth step of a weighted mean of two curves and four interactions, most
// of whose weight is on two that are sharp: signals that count only together, two and three of
// them. A rater answers 16 questions, each with yes with probability p, and gives a quarter of a
// point for each: the mean rating is 4 p and its variance p (1 - p) for one rater. Only operations
// that IEEE 754 rounds exactly are used, so that the rows are the same everywhere.
#include "reproduce/rater_teacher.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace espalier {
namespace {

constexpr std::size_t kSignals = 10;
constexpr int kMaxRaters = 5;
constexpr int kPoints = 4;
constexpr int kQuestions = 16;

double uniform(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

// A quarter quality that all signals share, the rest their own; some are skewed, some are counts.
double draw_signal(std::size_t index, double quality, std::mt19937_64& random) {
  const double value = 0.25 * quality + 0.75 * uniform(random);
  if (index % 3 == 1) return value * value;
  if (index % 3 == 2) return std::floor(20 * value) / 20;
  return value;
}

double draw_score(double p, std::mt19937_64& random) {
  const int raters = 1 + static_cast<int>(random() % kMaxRaters);
  int yes = 0;
  for (int i = 0; i < kQuestions * raters; ++i) yes += uniform(random) < p ? 1 : 0;
  return static_cast<double>(kPoints * yes) / (kQuestions * raters);
}

// From 0 to 1 within a third around the middle.
double gate(double x, double middle) { return std::clamp(0.5 + 3 * (x - middle), 0.0, 1.0); }

}  // namespace

std::vector<std::string> rater_signals() {
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= kSignals; ++i) names.push_back(fmt::format("signal_{}", i));
  return names;
}

double expected_score(const std::vector<double>& x) {
  const double curves = 1.3 * x[0] / (x[0] + 0.3) + std::sqrt(x[9]);
  const double two = gate(x[1], 0.25) * gate(x[2], 0.5);
  const double three = gate(x[3], 0.5) * gate(x[4], 0.25) * gate(x[5], 0.5);
  const double others = std::max(gate(x[6], 0.6), x[7]) + std::min(x[8], x[9]);
  const double u = (curves + 3 * two + 3 * three + 2 * others) / 12;
  return kPoints * (0.05 + 0.9 * u * u * (3 - 2 * u));
}

Ratings simulate_ratings(std::size_t rows, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Ratings ratings{.table = {.name = "simulated ratings", .num_rows = rows}};
  for (const std::string& name : rater_signals())
    ratings.table.columns.push_back({.name = name, .numbers = std::vector<float>(rows)});
  ratings.table.columns.push_back({.name = kRaterScore, .numbers = std::vector<float>(rows)});
  ratings.truth.reserve(rows);
  std::vector<double> signals(kSignals);
  for (std::size_t row = 0; row < rows; ++row) {
    const double quality = uniform(random);
    for (std::size_t i = 0; i < kSignals; ++i) {
      signals[i] = draw_signal(i, quality, random);
      ratings.table.columns[i].numbers[row] = static_cast<float>(signals[i]);
    }
    ratings.truth.push_back(expected_score(signals));
    const double score = draw_score(ratings.truth.back() / kPoints, random);
    ratings.table.columns[kSignals].numbers[row] = static_cast<float>(score);
  }
  return ratings;
}

}  // namespace espalier
