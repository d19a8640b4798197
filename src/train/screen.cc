// SPDX-License-Identifier: Apache-2.0
#include "train/screen.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace espalier {

namespace {

// Where the loss has corners, the mean change of the gradient nearby stands in for the hessian.
void set_mean_hessian(const Objective& objective, const Dataset& data,
                      const std::vector<float>& outputs, std::vector<ScreenRow>& rows) {
  constexpr float kNear = 0.25f;
  const std::size_t levels = objective.label().num_levels();
  double change = 0, weight = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::size_t r = i / levels;
    const LossRow row = loss_row(data, r, i % levels);
    change += data.weight(r) * (row_loss(objective, outputs[i] + kNear, row).gradient -
                                row_loss(objective, outputs[i] - kNear, row).gradient);
    weight += data.weight(r);
  }
  const double mean = weight > 0 ? change / (2 * kNear) / weight * static_cast<double>(levels) : 0;
  for (std::size_t r = 0; r < rows.size(); ++r)
    rows[r].hessian = data.weight(r) * static_cast<float>(mean);
}

}  // namespace

std::vector<ScreenRow> screen_rows(const Objective& objective, const Dataset& data,
                                   const std::vector<float>& outputs, double& deviance) {
  const std::size_t levels = objective.label().num_levels();
  std::vector<ScreenRow> rows(data.num_rows);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::size_t r = i / levels;
    const LossRow row = loss_row(data, r, i % levels);
    const LossValue own = row_loss(objective, outputs[i], row);
    const float weight = data.weight(r);
    rows[r].gradient += weight * own.gradient;
    rows[r].hessian += weight * own.hessian;
    deviance += weight * (own.loss - least_loss(objective, row));
  }
  if (!has_hessian(objective.label())) set_mean_hessian(objective, data, outputs, rows);
  return rows;
}

std::vector<std::uint32_t> group_equal_rows(const Dataset& data) {
  std::vector<std::uint32_t> groups(data.num_rows);
  std::iota(groups.begin(), groups.end(), 0u);
  std::vector<std::uint32_t> order = groups;
  const auto compare = [&](std::uint32_t a, std::uint32_t b) {
    return std::memcmp(data.row(a), data.row(b), data.num_features * sizeof(float));
  };
  std::ranges::stable_sort(order, [&](auto a, auto b) { return compare(a, b) < 0; });
  std::size_t num_groups = 1;
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (compare(order[i - 1], order[i]) == 0) {
      groups[order[i]] = groups[order[i - 1]];
    } else {
      ++num_groups;
    }
  }
  if (2 * num_groups < data.num_rows) std::iota(groups.begin(), groups.end(), 0u);
  return groups;
}

Cells cross(const Cells& a, const Cells& b) {
  Cells cells{.of_row = a.of_row, .count = a.count * b.count};
  for (std::size_t r = 0; r < a.of_row.size(); ++r) {
    cells.of_row[r] = static_cast<std::uint16_t>(a.of_row[r] * b.count + b.of_row[r]);
  }
  return cells;
}

CrossFit::CrossFit(std::span<const std::uint32_t> groups, std::size_t num_parts, double shrinkage,
                   Random random)
    : num_parts_(num_parts), shrinkage_(shrinkage) {
  std::vector<std::uint8_t> parts(groups.empty() ? 0 : std::ranges::max(groups) + std::size_t{1});
  for (std::size_t g = 0; g < parts.size(); ++g)
    parts[g] = static_cast<std::uint8_t>(g % num_parts);
  random.shuffle(std::span(parts));
  for (const std::uint32_t group : groups) part_of_.push_back(parts[group]);
}

// The values of the cells for each part: [part][cell].
std::vector<float> CrossFit::fit(const std::vector<ScreenRow>& rows, const Cells& cells) const {
  struct Sums {
    double gradient = 0;
    double hessian = 0;
  };
  std::vector<Sums> of_parts(num_parts_ * cells.count);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    Sums& own = of_parts[part_of_[r] * cells.count + cells.of_row[r]];
    own.gradient += rows[r].gradient;
    own.hessian += rows[r].hessian;
  }
  double hessian = 0;
  for (const Sums& own : of_parts) hessian += own.hessian;
  const double l2 = shrinkage_ * hessian / static_cast<double>(rows.size());
  std::vector<float> values(of_parts.size());
  for (std::size_t cell = 0; cell < cells.count; ++cell) {
    Sums all;
    for (std::size_t i = cell; i < of_parts.size(); i += cells.count) {
      all.gradient += of_parts[i].gradient;
      all.hessian += of_parts[i].hessian;
    }
    for (std::size_t i = cell; i < of_parts.size(); i += cells.count) {
      const double others = all.hessian - of_parts[i].hessian + l2;
      if (others > 0)
        values[i] = static_cast<float>(-(all.gradient - of_parts[i].gradient) / others);
    }
  }
  return values;
}

Gain CrossFit::gain(const std::vector<ScreenRow>& rows, const Cells& cells) const {
  const std::vector<float> values = fit(rows, cells);
  double sum = 0, squares = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double value = values[part_of_[r] * cells.count + cells.of_row[r]];
    const double own = -value * (rows[r].gradient + value * rows[r].hessian / 2);
    sum += own;
    squares += own * own;
  }
  const auto count = static_cast<double>(rows.size());
  const double mean = sum / count;
  return {mean, std::sqrt(std::max(0.0, squares / count - mean * mean) / count)};
}

void CrossFit::add_table(const Cells& cells, std::vector<ScreenRow>& rows) const {
  const std::vector<float> values = fit(rows, cells);
  for (std::size_t r = 0; r < rows.size(); ++r)
    rows[r].gradient += values[part_of_[r] * cells.count + cells.of_row[r]] * rows[r].hessian;
}

}  // namespace espalier
