// SPDX-License-Identifier: Apache-2.0
#include "layers/layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace espalier {

std::string describe(std::string_view unit, int index, std::string_view part,
                     const Culprit& culprit) {
  const auto& [i, j, low, high] = culprit;
  if (i == j) return fmt::format("{} {}: {} {}: wanted {} <= {}", unit, index, part, i, low, high);
  return fmt::format("{} {}: {} {} is {}, above {} {}, {}", unit, index, part, i, low, part, j,
                     high);
}

void Layer::add_unit(std::size_t num_params) {
  begins_.push_back(begins_.back());
  begins_.back().params += num_params;
}

void Layer::require(const Bounds& bounds) {
  bounds_.push_back(bounds);
  begins_.back().bounds = bounds_.size();
}

void Layer::require(const Rise& rise) {
  rises_.push_back(rise);
  begins_.back().rises = rises_.size();
}

void Layer::require(const Order& order) {
  orders_.push_back(order);
  begins_.back().orders = orders_.size();
}

InequalityList Layer::inequalities(int unit) const {
  const Begin& begin = begins_[static_cast<std::size_t>(unit)];
  const Begin& end = begins_[static_cast<std::size_t>(unit) + 1];
  return {.bounds = std::span(bounds_).subspan(begin.bounds, end.bounds - begin.bounds),
          .rises = std::span(rises_).subspan(begin.rises, end.rises - begin.rises),
          .orders = std::span(orders_).subspan(begin.orders, end.orders - begin.orders)};
}

Check Layer::check(const float* params, const CulpritSink& sink) const {
  const auto words = unit_names();
  Check total;
  for (int u = 0; u < num_units(); ++u) {
    total += check_inequalities(
        {params + unit_begin(u), unit_size(u)}, inequalities(u),
        [&](const Culprit& culprit) { sink(describe(words.unit, u, words.part, culprit)); });
  }
  return total;
}

double mean_over(const std::vector<float>& shares, const float* values, std::size_t stride) {
  double sum = 0, total = 0;
  for (std::size_t c = 0; c < shares.size(); ++c) {
    sum += static_cast<double>(shares[c]) * values[c * stride];
    total += shares[c];
  }
  return sum / total;
}

double largest_of(std::span<const float> params) {
  double largest = 0;
  for (const float p : params) largest = std::max(largest, std::fabs(static_cast<double>(p)));
  return largest;
}

}  // namespace espalier
