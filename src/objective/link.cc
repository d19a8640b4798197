// SPDX-License-Identifier: Apache-2.0
#include "objective/link.h"

#include <algorithm>
#include <limits>

#include "core/math.h"

namespace espalier {

namespace {

void softmax(std::span<float> scores) noexcept {
  const double largest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (const float score : scores) sum += portable_exp(score - largest);
  for (float& score : scores) score = static_cast<float>(portable_exp(score - largest) / sum);
}

}  // namespace

ScoreUnits units_of(const Label& label, std::size_t score) noexcept {
  return {label.offsets[score], label.scale};
}

float score_of(const ScoreUnits& units, double output, double row_offset) noexcept {
  constexpr double kLargest = std::numeric_limits<float>::max();
  return static_cast<float>(
      std::clamp(units.offset + units.scale * output + row_offset, -kLargest, kLargest));
}

float score_of(const Label& label, std::size_t score, double output, double row_offset) noexcept {
  return score_of(units_of(label, score), output, row_offset);
}

Link link_of(const Label& label) noexcept {
  if (label.has_many_classes()) return Link::softmax;
  if (label.has_log_link()) return Link::exponential;
  return label.task() == Task::classification ? Link::sigmoid : Link::identity;
}

void apply_link(Link link, float unit, float exposure, std::span<float> scores) noexcept {
  switch (link) {
    case Link::identity:
      break;
    case Link::sigmoid:
      for (float& score : scores) score = sigmoid(score);
      break;
    case Link::exponential:
      for (float& score : scores)
        score = std::min(exponential(score) * unit * exposure, std::numeric_limits<float>::max());
      break;
    case Link::softmax:
      softmax(scores);
      break;
  }
}

float sigmoid(float score) noexcept {
  return static_cast<float>(1 / (1 + portable_exp(-static_cast<double>(score))));
}

float exponential(float score) noexcept {
  constexpr double kLargest = std::numeric_limits<float>::max();
  return static_cast<float>(std::min(portable_exp(score), kLargest));
}

}  // namespace espalier
