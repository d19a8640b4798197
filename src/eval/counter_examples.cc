// SPDX-License-Identifier: Apache-2.0
#include "eval/counter_examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "core/float_rank.h"
#include "encode/roles.h"

namespace espalier {

namespace {

constexpr std::size_t kChain = 64;  // rows; 63 pairs
constexpr std::size_t kTaskPairs = 63'000;
constexpr std::size_t kMaxCounterExamples = 20;
constexpr std::size_t kPairsOfThreshold = 2;
constexpr std::size_t kThresholdsAtOnce = 21;
constexpr std::uint64_t kCrossingStream = ~std::uint64_t{0};

// Draws cells and chains of cells. A row is the features, then the exposure and the offset.
class Prey {
 public:
  Prey(const Schema& schema, Random random)
      : features_(schema.features), beside_(prediction_columns(schema.beside)), random_(random) {
    for (std::size_t f = 0; f < features_.size(); ++f) {
      if (features_[f].monotonicity != Monotonicity::none) rising_.push_back(f);
    }
    for (std::size_t i = 0; i < beside_.size(); ++i) rising_.push_back(features_.size() + i);
  }

  std::size_t width() const { return features_.size() + beside_.size(); }

  void draw_row(std::span<float> row) {
    for (std::size_t f = 0; f < width(); ++f)
      row[f] =
          f < features_.size() ? cell(features_[f]) : beside(beside_[f - features_.size()].first);
  }

  // rows: [kChain][width], each a raised copy of the one before.
  void draw_chain(std::vector<float>& rows) {
    draw_row({rows.data(), width()});
    for (std::size_t r = 1; r < kChain; ++r)
      std::copy_n(rows.data(), width(), rows.data() + r * width());
    if (rising_.empty()) return;
    const double kind = random_.uniform();
    const std::size_t only = random_.below(rising_.size());
    for (std::size_t m = 0; m < rising_.size(); ++m) {
      const bool raised = m == only || kind < 0.1 || (kind < 0.3 && random_.uniform() < 0.5);
      if (!raised) continue;
      const std::vector<float>& chain = rising_chain(rising_[m]);
      for (std::size_t r = 0; r < kChain; ++r) rows[r * width() + rising_[m]] = chain[r];
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
    return static_cast<float>(random_.below(feature.categories.size() + 1));
  }

  // An exposure, or an offset.
  float beside(Role role) {
    const double drawn = 4 * random_.normal();
    return static_cast<float>(role == Role::exposure ? std::exp2(drawn) : drawn);
  }

  // Cells of a place in the row with which no prediction may fall.
  const std::vector<float>& rising_chain(std::size_t place) {
    if (place >= features_.size()) {
      chain_.clear();
      walk(rank_of(beside(beside_[place - features_.size()].first)),
           std::int64_t{1} << random_.below(20));
      return chain_;
    }
    const Feature& feature = features_[place];
    rising_cells(feature);
    if (feature.monotonicity == Monotonicity::decreasing)
      std::reverse(chain_.begin(), chain_.end());
    return chain_;
  }

  void rising_cells(const Feature& feature) {
    chain_.clear();
    if (feature.kind == FeatureKind::ordered) {
      for (std::size_t r = 0; r < kChain; ++r)
        chain_.push_back(static_cast<float>(random_.below(feature.categories.size())));
      std::sort(chain_.begin(), chain_.end());
      return;
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
  }

  void walk(std::int64_t rank, std::int64_t step) {
    for (std::size_t r = 0; r < kChain; ++r, rank += step) chain_.push_back(of_rank(rank));
  }

  const std::vector<Feature>& features_;
  std::vector<std::pair<Role, std::string>> beside_;
  std::vector<std::size_t> rising_;  // places of the row with which no prediction may fall
  std::vector<float> chain_;
  Random random_;
};

std::vector<std::string> names_of(const Schema& schema) {
  std::vector<std::string> names;
  for (const Feature& feature : schema.features) names.push_back(feature.name);
  for (const auto& [role, name] : prediction_columns(schema.beside)) names.push_back(name);
  return names;
}

std::string describe_pair(const Schema& schema, const float* cells, float before, float after) {
  const std::vector<std::string> names = names_of(schema);
  std::string moved;
  for (std::size_t f = 0; f < names.size(); ++f) {
    const float from = cells[f], to = cells[names.size() + f];
    if (rank_of(from) == rank_of(to)) continue;
    moved += fmt::format("{}{} from {:a} to {:a}", moved.empty() ? "" : ", ", names[f], from, to);
  }
  return fmt::format("{}: the prediction {} from {:a} to {:a}", moved,
                     after < before ? "falls" : "rises", before, after);
}

std::string describe_crossing(const Schema& schema, const float* cells, const float* out,
                              std::size_t level) {
  std::string row;
  for (const std::string& name : names_of(schema))
    row += fmt::format("{}{} {:a}", row.empty() ? "" : ", ", name, *cells++);
  return fmt::format("{}: levels {} and {} cross: {:a} and {:a}", row, level, level + 1,
                     out[level - 1], out[level]);
}

// The score that falls farthest from one row to the next, or rises if it must fall; nothing if none
// does.
std::optional<std::size_t> fallen(const float* before, const float* after,
                                  const std::vector<int>& directions) {
  const auto holds = [&](std::size_t s) {
    if (directions[s] == 0) return true;
    return directions[s] > 0 ? after[s] >= before[s] : after[s] <= before[s];
  };
  const auto drop = [&](std::size_t s) {
    return std::abs(static_cast<double>(before[s]) - after[s]);
  };
  std::optional<std::size_t> worst;
  for (std::size_t s = 0; s < directions.size(); ++s) {
    if (!holds(s) && (!worst || drop(s) > drop(*worst))) worst = s;
  }
  return worst;
}

// The first level that is out of order with the one before; 0 if none is.
std::size_t crossed(const Label& label, const float* out) {
  for (std::size_t level = 1; level < label.num_levels(); ++level) {
    const float before = out[level - 1], after = out[level];
    if (!(label.ordered ? after <= before : before <= after)) return level;
  }
  return 0;
}

// Adds one violation to a result.
void note(const Schema& schema, const float* cells, const float* before, const float* after,
          const std::vector<int>& directions, CounterExamples& result) {
  if (const auto score = fallen(before, after, directions)) {
    const float from = before[*score], to = after[*score];
    ++result.violations;
    result.largest_drop = std::max(result.largest_drop, std::abs(static_cast<double>(from) - to));
    if (result.culprits.size() < kMaxCounterExamples)
      result.culprits.push_back(describe_pair(schema, cells, from, to));
  }
  if (const std::size_t level = crossed(schema.label, before); level > 0) {
    ++result.crossings;
    if (result.culprits.size() < kMaxCounterExamples)
      result.culprits.push_back(describe_crossing(schema, cells, before, level));
  }
}

CounterExamples run_task(const Schema& schema, const RowFunction& predict,
                         const std::vector<int>& directions, std::size_t pairs, Random random) {
  CounterExamples result;
  Prey prey(schema, random);
  const std::size_t num_scores = schema.label.num_scores(), width = prey.width();
  std::vector<float> rows(kChain * width), out(kChain * num_scores);
  while (result.pairs < pairs) {
    prey.draw_chain(rows);
    predict(rows, out);
    for (std::size_t r = 1; r < kChain && result.pairs < pairs; ++r, ++result.pairs) {
      const float* after = out.data() + r * num_scores;
      note(schema, rows.data() + (r - 1) * width, after - num_scores, after, directions, result);
    }
  }
  return result;
}

// Which thresholds are stepped across: all of them, or as many as the pairs allow, evenly spaced.
struct Crossed {
  const TreeThresholds& thresholds;
  std::size_t count;
  std::size_t first;

  std::size_t split(std::size_t i) const {
    return (first + i * thresholds.size() / count) % thresholds.size();
  }
};

// Of the crossed thresholds [begin, end), each in rows of its own that reach the split.
CounterExamples cross(const Schema& schema, const RowFunction& predict,
                      const std::vector<int>& directions, const Crossed& crossed, RowRange range,
                      Random random) {
  CounterExamples result;
  Prey prey(schema, random);
  const std::size_t num_scores = schema.label.num_scores(), width = prey.width();
  std::vector<float> rows(3 * kThresholdsAtOnce * width), out(3 * kThresholdsAtOnce * num_scores);
  while (range.begin < range.end) {
    const std::size_t count = std::min<std::size_t>(kThresholdsAtOnce, range.size());
    for (std::size_t t = 0; t < count; ++t) {
      const std::size_t split = crossed.split(range.begin++);
      const ThresholdStep step = crossed.thresholds.step(split);
      const std::span<float> three = std::span(rows).subspan(3 * t * width, 3 * width);
      prey.draw_row(three.first(width));
      crossed.thresholds.lead_to(split, three.first(width));
      for (std::size_t r = 1; r < 3; ++r)
        std::ranges::copy(three.first(width),
                          three.begin() + static_cast<std::ptrdiff_t>(r * width));
      for (std::size_t r = 0; r < 3; ++r) three[r * width + step.feature] = step.cells[r];
    }
    predict(std::span(rows).first(3 * count * width), std::span(out).first(3 * count * num_scores));
    for (std::size_t r = 0; r < 3 * count; ++r) {
      if (r % 3 == 2) continue;
      const float* before = out.data() + r * num_scores;
      note(schema, rows.data() + r * width, before, before + num_scores, directions, result);
      ++result.pairs;
    }
    result.thresholds_crossed += count;
  }
  return result;
}

void add(CounterExamples&& own, CounterExamples& total) {
  total.pairs += own.pairs;
  total.violations += own.violations;
  total.crossings += own.crossings;
  total.thresholds_crossed += own.thresholds_crossed;
  total.largest_drop = std::max(total.largest_drop, own.largest_drop);
  for (std::string& culprit : own.culprits) {
    if (total.culprits.size() < kMaxCounterExamples) total.culprits.push_back(std::move(culprit));
  }
}

}  // namespace

CounterExamples find_counter_examples(const Schema& schema,
                                      const std::function<RowFunction()>& make, std::size_t pairs,
                                      Random random, ThreadPool& pool,
                                      const std::function<void(std::size_t)>& progress,
                                      const std::vector<int>& directions,
                                      const TreeThresholds& thresholds) {
  CounterExamples total{.thresholds = thresholds.size()};
  const bool any = std::any_of(
      schema.features.begin(), schema.features.end(),
      [](const Feature& feature) { return feature.monotonicity != Monotonicity::none; });
  if (!any && schema.label.num_levels() == 1) return total;
  const std::vector<int> moves =
      directions.empty() ? std::vector<int>(schema.label.num_scores(), 1) : directions;
  const auto tasks_at_once = static_cast<std::size_t>(pool.size()) * 4;
  std::vector<CounterExamples> results(tasks_at_once);
  // Runs so many items in tasks of `size`; run(range of items, number of the task) gives the
  // result.
  const auto in_tasks = [&](std::size_t count, std::size_t size, const auto& run) {
    for (std::size_t done = 0; done < count;) {
      const std::size_t now = std::min(tasks_at_once, (count - done + size - 1) / size);
      pool.run(static_cast<int>(now), [&](int task) {
        const auto t = static_cast<std::size_t>(task);
        const std::size_t begin = done + t * size;
        results[t] = run(RowRange{begin, std::min(count, begin + size)}, begin / size);
      });
      for (std::size_t t = 0; t < now; ++t) add(std::move(results[t]), total);
      done = std::min(count, done + now * size);
      if (progress) progress(total.pairs);
    }
  };
  const Random crossing = random.split(kCrossingStream);
  const std::size_t crossed = std::min(thresholds.size(), pairs / (2 * kPairsOfThreshold));
  const Crossed which{thresholds, crossed, Random(crossing).below(thresholds.size())};
  in_tasks(crossed, kTaskPairs / kPairsOfThreshold, [&](const RowRange& range, std::size_t task) {
    return cross(schema, make(), moves, which, range, crossing.split(task));
  });
  in_tasks(pairs - total.pairs, kTaskPairs, [&](const RowRange& range, std::size_t task) {
    return run_task(schema, make(), moves, range.size(), random.split(task));
  });
  return total;
}

}  // namespace espalier
