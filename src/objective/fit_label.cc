// SPDX-License-Identifier: Apache-2.0
#include "objective/fit_label.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/math.h"
#include "espalier/error.h"

namespace espalier {

namespace {

double total_weight(const Dataset& data) {
  double total = 0;
  for (std::size_t i = 0; i < data.num_rows; ++i) total += data.weight(i);
  return total;
}

// The fraction of the weight whose label satisfies `holds`, away from 0 and 1.
template <class Condition>
double share_of(const Dataset& train, const Condition& holds) {
  double sum = 0;
  for (std::size_t i = 0; i < train.num_rows; ++i)
    sum += static_cast<double>(train.weight(i)) * (holds(train.labels[i]) ? 1 : 0);
  return std::clamp(sum / total_weight(train), 1e-6, 1 - 1e-6);
}

double logit(double share) { return static_cast<float>(portable_log(share / (1 - share))); }

// Two classes and grades: log-odds of reaching a class. More classes: logs of their frequencies.
// Levels start with their mean, because networks cannot undo offsets that differ.
void fit_classes(const Dataset& train, Label& label) {
  double sum = 0;
  for (std::size_t s = 0; s < label.num_scores(); ++s) {
    const auto c = static_cast<double>(s);
    label.offsets[s] = label.has_many_classes()
                           ? static_cast<float>(portable_log(
                                 share_of(train, [&](double own) { return own == c; })))
                           : logit(share_of(train, [&](double own) { return own > c; }));
    sum += label.offsets[s];
  }
  if (label.ordered)
    std::ranges::fill(label.offsets, sum / static_cast<double>(label.num_levels()));
}

[[noreturn]] void fail(const Label& label, const std::string& message) {
  throw Error(ErrorKind::data, fmt::format("label '{}': {}", label.name, message));
}

void set_scale(double deviation, Label& label) {
  if (deviation > 0 && deviation < std::numeric_limits<float>::min()) {
    fail(label, fmt::format("its values differ by about {:.3g}, which is too little for 32-bit "
                            "floats; multiply them by a constant",
                            deviation));
  }
  label.scale = deviation > 0 ? static_cast<float>(deviation) : 1.0f;
}

// The nearest float, unless rounding is a noticeable fraction of the deviation.
double rounded_offset(double offset, double deviation) {
  const auto rounded = static_cast<float>(offset);
  return std::abs(rounded - offset) <= deviation / 1024 ? rounded : offset;
}

void fit_mean(const Dataset& train, Label& label) {
  double total = 0, sum = 0, squares = 0;
  for (std::size_t i = 0; i < train.num_rows; ++i) {
    total += train.weight(i);
    sum += static_cast<double>(train.weight(i)) * train.labels[i];
  }
  const double mean = sum / total;
  for (std::size_t i = 0; i < train.num_rows; ++i) {
    const double d = train.labels[i] - mean;
    squares += train.weight(i) * d * d;
  }
  const double deviation = std::sqrt(squares / total);
  set_scale(deviation, label);
  label.offsets = {rounded_offset(mean, deviation)};
}

// The weighted quantile of the labels; `order` has the rows sorted by label.
double quantile_of(const Dataset& train, const Rows& order, double share) {
  const double wanted = share * total_weight(train);
  double below = 0;
  for (const std::uint64_t row : order) {
    below += train.weight(row);
    if (below >= wanted) return train.labels[row];
  }
  return train.labels[order.back()];
}

// The unit is the mean distance from the median, which few large labels hardly change. A single
// quantile starts at that quantile of all labels, several start at the median: see fit_classes.
void fit_quantiles(const Dataset& train, Label& label) {
  Rows order = rows_between(0, train.num_rows);
  // Not a stable sort, which needs more memory: ties are sorted by row.
  std::ranges::sort(order, {},
                    [&](std::uint64_t row) { return std::pair(train.labels[row], row); });
  const double median = quantile_of(train, order, 0.5);
  double distance = 0;
  for (std::size_t i = 0; i < train.num_rows; ++i)
    distance += train.weight(i) * std::abs(train.labels[i] - median);
  const double deviation = distance / total_weight(train);
  set_scale(deviation, label);
  const double start =
      label.quantiles.size() == 1 ? quantile_of(train, order, label.quantiles[0]) : median;
  std::ranges::fill(label.offsets, rounded_offset(start, deviation));
}

// e^offset = sum w y e^((1-p) o) / sum w E e^((2-p) o), which makes the mean gradient 0.
void fit_log_mean(const Dataset& train, Label& label) {
  double sum = 0;
  for (std::size_t i = 0; i < train.num_rows; ++i)
    sum += static_cast<double>(train.weight(i)) * train.labels[i];
  const double mean = sum / total_weight(train);
  if (!(mean > 0)) fail(label, "it is 0 in every row to train on; there is nothing to learn");
  // A power of two, so that scaling the labels by powers of two gives the same network.
  label.unit = std::ldexp(1.0, std::ilogb(mean));
  double above = 0, below = 0;
  for (std::size_t i = 0; i < train.num_rows; ++i) {
    const double w = train.weight(i), o = train.offset(i);
    above += w * (train.labels[i] / label.unit) * portable_exp((1 - label.power) * o);
    below += w * train.exposure(i) * portable_exp((2 - label.power) * o);
  }
  label.offsets = {static_cast<float>(portable_log(above / below))};
  if (!std::isfinite(label.offsets[0]))
    fail(label, "its mean is beyond all numbers; are exposure and offset right?");
}

}  // namespace

void fit_label(const Dataset& train, Label& label) {
  switch (label.loss) {
    case Loss::log_loss:
      return fit_classes(train, label);
    case Loss::squared_error:
      return fit_mean(train, label);
    case Loss::absolute_error:
    case Loss::quantile:
      return fit_quantiles(train, label);
    case Loss::poisson:
    case Loss::gamma:
    case Loss::tweedie:
      return fit_log_mean(train, label);
    case Loss::automatic:
      break;
  }
}

void Balance::add(const Dataset& data, std::span<const float> predictions) {
  for (std::size_t i = 0; i < data.num_rows; ++i) {
    labels_ += data.weight(i) * data.labels[i];
    predictions_ += static_cast<double>(data.weight(i)) * predictions[i];
  }
}

void Balance::apply(Label& label) const {
  if (labels_ > 0 && predictions_ > 0) label.offsets[0] += portable_log(labels_ / predictions_);
}

}  // namespace espalier
