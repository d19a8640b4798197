// SPDX-License-Identifier: Apache-2.0
#include "constraints/grid.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace espalier {

namespace {

// Calls visit(block, lane) for each line.
template <class Visitor>
void for_each_line(const Rise& rise, const Visitor& visit) {
  for (std::size_t block = 0; block < rise.blocks; ++block) {
    for (std::size_t lane = 0; lane < rise.lanes; ++lane) visit(block, lane);
  }
}

bool holds(std::span<const float> values, std::span<const Rise> rises) {
  return std::ranges::all_of(
      rises, [&](const Rise& rise) { return check_rise(values, rise).violations == 0; });
}

// Pools every line of one rise.
class LinePooling {
 public:
  explicit LinePooling(std::vector<double> weights) : weights_(std::move(weights)) {}

  void project(std::span<double> values, const Rise& rise) {
    line_.resize(rise.length);
    line_weights_.resize(rise.length);
    for_each_line(rise, [&](std::size_t block, std::size_t lane) {
      for (std::size_t k = 0; k < rise.length; ++k) {
        line_[k] = values[rise.at(block, lane, k)];
        line_weights_[k] = weights_[rise.at(block, lane, k)];
      }
      project_chain(std::span(line_), std::span<const double>(line_weights_));
      for (std::size_t k = 0; k < rise.length; ++k) values[rise.at(block, lane, k)] = line_[k];
    });
  }

 private:
  std::vector<double> weights_;
  std::vector<double> line_, line_weights_;
};

// Dykstra's method: each rise first undoes its moves of the round before.
int nearest(std::span<double> values, std::span<const Rise> rises, LinePooling& pooling,
            const GridProjection& options) {
  const std::size_t n = values.size();
  double scale = 1;
  for (const double value : values) scale = std::max(scale, std::fabs(value));
  std::vector<double> taken(n * rises.size());
  int rounds = 0;
  double farthest = INFINITY;
  for (; farthest > options.tolerance * scale && rounds < options.max_rounds; ++rounds) {
    const std::vector<double> before(values.begin(), values.end());
    double* own = taken.data();
    for (const Rise& rise : rises) {
      for (std::size_t i = 0; i < n; ++i) values[i] += own[i];
      std::copy(values.begin(), values.end(), own);
      pooling.project(values, rise);
      for (std::size_t i = 0; i < n; ++i) own[i] -= values[i];
      own += n;
    }
    farthest = 0;
    for (std::size_t i = 0; i < n; ++i)
      farthest = std::max(farthest, std::fabs(values[i] - before[i]));
  }
  return rounds;
}

}  // namespace

// Taking maxima along one rise after another reaches every value that must not exceed a value.
void finish_grid(std::span<float> values, std::span<const Rise> rises) {
  if (holds(values, rises)) return;
  std::vector<float> most(values.begin(), values.end()), least = most;
  for (const Rise& rise : rises) {
    for_each_line(rise, [&](std::size_t block, std::size_t lane) {
      for (std::size_t k = 1; k < rise.length; ++k) {
        float& up = most[rise.at(block, lane, k)];
        up = std::max(up, most[rise.at(block, lane, k - 1)]);
        float& down = least[rise.at(block, lane, rise.length - 1 - k)];
        down = std::min(down, least[rise.at(block, lane, rise.length - k)]);
      }
    });
  }
  // least <= value <= most; halving first cannot overflow, and both halves round monotonically.
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = most[i] == least[i] ? most[i] : 0.5f * most[i] + 0.5f * least[i];
}

int project_grid(std::span<float> values, std::span<const Rise> rises, const ChainWeights& weights,
                 const GridProjection& options) {
  if (holds(values, rises)) return 0;
  std::vector<double> exact(values.begin(), values.end()), own_weights;
  for (std::size_t i = 0; i < values.size(); ++i) own_weights.push_back(weights[i]);
  LinePooling pooling(std::move(own_weights));
  int rounds = 1;
  if (rises.size() == 1) {
    pooling.project(exact, rises.front());
  } else {
    rounds = nearest(exact, rises, pooling, options);
  }
  std::transform(exact.begin(), exact.end(), values.begin(),
                 [](double value) { return static_cast<float>(value); });
  finish_grid(values, rises);
  return rounds;
}

}  // namespace espalier
