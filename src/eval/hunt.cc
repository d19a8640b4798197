// SPDX-License-Identifier: Apache-2.0
#include "eval/hunt.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace espalier {

namespace {

constexpr std::size_t kChain = 64;  // rows; 63 pairs
constexpr std::size_t kTaskPairs = 63'000;
constexpr std::size_t kMaxCulprits = 20;

// Floats in their order, counted from zero: the neighbours of a float have the neighbouring ranks.
constexpr std::int64_t kInfinityRank = 0x7f800000;

std::int64_t rank_of(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const auto magnitude = static_cast<std::int64_t>(bits & 0x7fffffffu);
  return bits >> 31 != 0 ? -magnitude : magnitude;
}

float of_rank(std::int64_t rank) {
  rank = std::clamp(rank, -kInfinityRank, kInfinityRank);
  const auto magnitude = static_cast<std::uint32_t>(std::abs(rank));
  return std::bit_cast<float>(rank < 0 ? magnitude | 0x80000000u : magnitude);
}

// Draws cells and chains of cells.
class Prey {
 public:
  Prey(const Schema& schema, Random random) : features_(schema.features), random_(random) {
    for (std::size_t f = 0; f < features_.size(); ++f) {
      if (features_[f].monotonicity != Monotonicity::none) monotone_.push_back(f);
    }
  }

  // rows: [kChain][features], each a raised copy of the one before.
  void draw_chain(std::vector<float>& rows) {
    const std::size_t width = features_.size();
    for (std::size_t f = 0; f < width; ++f) {
      const float value = cell(features_[f]);
      for (std::size_t r = 0; r < kChain; ++r) rows[r * width + f] = value;
    }
    const double kind = random_.uniform();
    const std::size_t only = random_.below(monotone_.size());
    for (std::size_t m = 0; m < monotone_.size(); ++m) {
      const bool raised = m == only || kind < 0.1 || (kind < 0.3 && random_.uniform() < 0.5);
      if (!raised) continue;
      const Feature& feature = features_[monotone_[m]];
      std::vector<float>& chain = rising_cells(feature);
      if (feature.monotonicity == Monotonicity::decreasing)
        std::reverse(chain.begin(), chain.end());
      for (std::size_t r = 0; r < kChain; ++r) rows[r * width + monotone_[m]] = chain[r];
    }
  }

 private:
  float one_of(const std::vector<float>& values) { return values[random_.below(values.size())]; }

  // A value somewhere between two keypoints.
  float inside(const Feature& feature) {
    const std::size_t k = random_.below(feature.keypoints.size() - 1);
    const double lo = feature.keypoints[k], hi = feature.keypoints[k + 1];
    return static_cast<float>(lo + random_.uniform() * (hi - lo));
  }

  float number(const Feature& feature) {
    constexpr float kOdd[] = {std::numeric_limits<float>::infinity(),
                              -std::numeric_limits<float>::infinity(),
                              std::numeric_limits<float>::max(),
                              std::numeric_limits<float>::lowest(),
                              std::numeric_limits<float>::denorm_min(),
                              -std::numeric_limits<float>::denorm_min(),
                              std::numeric_limits<float>::min(),
                              0.0f,
                              -0.0f};
    const double kind = random_.uniform();
    if (kind < 0.1) return kOdd[random_.below(std::size(kOdd))];
    if (kind < 0.3) return one_of(feature.keypoints);
    if (kind < 0.4) {
      const auto step = static_cast<std::int64_t>(random_.below(9)) - 4;
      return of_rank(rank_of(one_of(feature.keypoints)) + step);
    }
    return inside(feature);
  }

  float cell(const Feature& feature) {
    if (random_.uniform() < 0.05) return std::numeric_limits<float>::quiet_NaN();
    if (feature.kind == FeatureKind::number) return number(feature);
    return static_cast<float>(random_.below(feature.words.size() + 1));
  }

  std::vector<float>& rising_cells(const Feature& feature) {
    chain_.clear();
    if (feature.kind == FeatureKind::ordered) {
      for (std::size_t r = 0; r < kChain; ++r)
        chain_.push_back(static_cast<float>(random_.below(feature.words.size())));
      std::sort(chain_.begin(), chain_.end());
      return chain_;
    }
    const double kind = random_.uniform();
    if (kind < 0.3) {  // from anywhere to anywhere
      for (std::size_t r = 0; r < kChain; ++r) chain_.push_back(number(feature));
      std::sort(chain_.begin(), chain_.end());
    } else if (kind < 0.5) {  // through a keypoint
      walk(rank_of(one_of(feature.keypoints)) - 32, 1);
    } else if (kind < 0.6) {  // through zero
      walk(-static_cast<std::int64_t>(random_.below(64)), 1);
    } else if (kind < 0.8) {  // neighbour by neighbour
      walk(rank_of(inside(feature)), 1);
    } else {  // by larger steps
      walk(rank_of(inside(feature)), std::int64_t{1} << random_.below(20));
    }
    return chain_;
  }

  void walk(std::int64_t rank, std::int64_t step) {
    for (std::size_t r = 0; r < kChain; ++r, rank += step) chain_.push_back(of_rank(rank));
  }

  const std::vector<Feature>& features_;
  std::vector<std::size_t> monotone_;
  std::vector<float> chain_;
  Random random_;
};

std::string describe_pair(const Schema& schema, const float* before, float low, float high) {
  const std::size_t width = schema.features.size();
  std::string moved;
  for (std::size_t f = 0; f < width; ++f) {
    const float from = before[f], to = before[width + f];
    if (rank_of(from) == rank_of(to)) continue;
    moved += fmt::format("{}{} from {:a} to {:a}", moved.empty() ? "" : ", ",
                         schema.features[f].name, from, to);
  }
  return fmt::format("{}: the prediction falls from {:a} to {:a}", moved, high, low);
}

// The score that falls farthest from one row to the next, or nothing if none does.
std::optional<std::size_t> fallen(const float* before, const float* after, std::size_t num_scores) {
  std::optional<std::size_t> worst;
  for (std::size_t s = 0; s < num_scores; ++s) {
    if (after[s] >= before[s]) continue;
    if (!worst || before[s] - after[s] > before[*worst] - after[*worst]) worst = s;
  }
  return worst;
}

HuntResult run_task(const Schema& schema, const RowFunction& predict, std::size_t num_scores,
                    std::size_t pairs, Random random) {
  HuntResult result;
  Prey prey(schema, random);
  std::vector<float> rows(kChain * schema.features.size()), out(kChain * num_scores);
  while (result.pairs < pairs) {
    prey.draw_chain(rows);
    predict(rows, out);
    const float* before = out.data();
    for (std::size_t r = 1; r < kChain && result.pairs < pairs;
         ++r, ++result.pairs, before += num_scores) {
      const float* after = before + num_scores;
      const auto score = fallen(before, after, num_scores);
      if (!score) continue;
      const float low = after[*score], high = before[*score];
      ++result.violations;
      result.largest_drop = std::max(result.largest_drop, static_cast<double>(high) - low);
      if (result.culprits.size() < kMaxCulprits) {
        const float* cells = rows.data() + (r - 1) * schema.features.size();
        result.culprits.push_back(describe_pair(schema, cells, low, high));
      }
    }
  }
  return result;
}

}  // namespace

HuntResult hunt(const Schema& schema, const std::function<RowFunction()>& make,
                std::size_t num_scores, std::size_t pairs, Random random, ThreadPool& pool,
                const std::function<void(std::size_t)>& progress) {
  HuntResult total;
  const bool any = std::any_of(
      schema.features.begin(), schema.features.end(),
      [](const Feature& feature) { return feature.monotonicity != Monotonicity::none; });
  if (!any) return total;
  const auto tasks_at_once = static_cast<std::size_t>(pool.size()) * 4;
  std::vector<HuntResult> results(tasks_at_once);
  while (total.pairs < pairs) {
    const std::size_t left = pairs - total.pairs;
    const std::size_t num_tasks = std::min(tasks_at_once, (left + kTaskPairs - 1) / kTaskPairs);
    pool.run(static_cast<int>(num_tasks), [&](int task) {
      const auto t = static_cast<std::size_t>(task);
      results[t] = run_task(schema, make(), num_scores, std::min(kTaskPairs, left - t * kTaskPairs),
                            random.split(total.pairs / kTaskPairs + t));
    });
    for (std::size_t t = 0; t < num_tasks; ++t) {
      total.pairs += results[t].pairs;
      total.violations += results[t].violations;
      total.largest_drop = std::max(total.largest_drop, results[t].largest_drop);
      for (std::string& culprit : results[t].culprits) {
        if (total.culprits.size() < kMaxCulprits) total.culprits.push_back(std::move(culprit));
      }
    }
    if (progress) progress(total.pairs);
  }
  return total;
}

}  // namespace espalier
