// SPDX-License-Identifier: Apache-2.0
#include "objective/link.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/math.h"

namespace espalier {

namespace {

constexpr float kLargestFloat = std::numeric_limits<float>::max();

void softmax(std::span<float> scores) noexcept {
  const double largest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (const float score : scores) sum += portable_exp(score - largest);
  for (float& score : scores) score = static_cast<float>(portable_exp(score - largest) / sum);
}

// Differences are rounded to floats: a test checks that e^x is increasing over all floats. Beyond
// 1000 it is infinity or 0.
void promised_softmax(std::span<float> scores) noexcept {
  float own[kMaxClasses];
  const std::size_t count = std::min(scores.size(), kMaxClasses);
  std::copy_n(scores.begin(), count, own);
  for (std::size_t c = 0; c < count; ++c) {
    double others = 0;
    for (std::size_t j = 0; j < count; ++j) {
      const double ahead = std::clamp(static_cast<double>(own[j]) - own[c], -1000.0, 1000.0);
      if (j != c) others += portable_exp(static_cast<float>(ahead));
    }
    scores[c] = static_cast<float>(1 / (1 + others));
  }
}

}  // namespace

ScoreUnits units_of(const Label& label, std::size_t score) noexcept {
  const bool falls = label.score_direction(score) < 0;
  return {label.offsets[score], falls ? -label.scale : label.scale};
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
  if (label.has_many_classes())
    return label.promises.empty() ? Link::softmax : Link::promised_softmax;
  if (label.has_log_link()) return Link::exponential;
  return label.task() == Task::classification ? Link::sigmoid : Link::identity;
}

float usable_exposure(float exposure) noexcept {
  if (std::isnan(exposure)) return 1;
  return exposure > 0 ? std::min(exposure, kLargestFloat) : 0;
}

float usable_offset(float offset) noexcept {
  return std::isnan(offset) ? 0 : std::clamp(offset, -kLargestFloat, kLargestFloat);
}

void apply_link(Link link, float unit, float exposure, std::span<float> scores) noexcept {
  switch (link) {
    case Link::identity:
      break;
    case Link::sigmoid:
      for (float& score : scores) score = sigmoid(score);
      break;
    case Link::exponential:
      exposure = usable_exposure(exposure);
      for (float& score : scores) {
        const float rate = std::min(exponential(score) * unit, kLargestFloat);
        score = std::min(rate * exposure, kLargestFloat);
      }
      break;
    case Link::softmax:
      softmax(scores);
      break;
    case Link::promised_softmax:
      promised_softmax(scores);
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
