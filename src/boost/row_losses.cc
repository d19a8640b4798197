// SPDX-License-Identifier: Apache-2.0
#include "boost/row_losses.h"

#include <algorithm>

namespace espalier {

void TreeSums::fade(std::size_t begin, std::size_t end, float kept) {
  if (fading_.empty()) return;
  for (std::size_t r = begin; r < end; ++r) fading_[r] *= kept;
}

void TreeSums::read(std::size_t begin, std::size_t count, float* sums) const {
  std::copy_n(steady_.data() + begin, count, sums);
  if (fading_.empty()) return;
  for (std::size_t r = 0; r < count; ++r) sums[r] += fading_[begin + r];
}

RowLosses::RowLosses(const Objective& objective, const Dataset& data)
    : objective_(objective), label_(objective.label()), data_(data) {
  same_.base.fill(label_.offsets[0]);
  same_.level.fill(0);
  same_.exposure.fill(1);
  same_.offset.fill(0);
  same_.weight.fill(1);
}

void RowLosses::gradients(const TreeSums& sums, std::size_t begin, std::size_t end,
                          float* gradients, float* hessians) const {
  if (has_hessian(label_)) {
    Buffers own;
    for (; begin < end; begin += kLossBlock) {
      const std::size_t count = std::min(kLossBlock, end - begin);
      loss_gradients(objective_, block(sums, begin, count, own), gradients, hessians);
      gradients += kLossBlock;
      hessians += kLossBlock;
    }
    return;
  }
  for (std::size_t r = begin; r < end; ++r) {
    float z;
    sums.read(r, 1, &z);
    *gradients++ = weight(r) * row_loss(objective_, z, row(r)).gradient;
    *hessians++ = weight(r);
  }
}

// In units of the output, as row_loss has it.
void RowLosses::residuals(const TreeSums& sums, std::size_t begin, std::size_t end,
                          Residual* residuals) const {
  for (std::size_t r = begin; r < end; ++r) {
    float z;
    sums.read(r, 1, &z);
    const LossRow own = row(r);
    const double wanted = (own.y - label_.offsets[own.level] - own.offset) / label_.scale;
    const double quantile = label_.loss == Loss::quantile ? label_.quantiles[own.level] : 0.5;
    *residuals++ = {static_cast<float>(wanted - z), static_cast<float>(quantile), weight(r)};
  }
}

double RowLosses::loss(const TreeSums& sums, std::size_t begin, std::size_t end) const {
  double sum = 0;
  Buffers own;
  std::array<double, kLossBlock> losses;
  for (; begin < end; begin += kLossBlock) {
    const std::size_t count = std::min(kLossBlock, end - begin);
    if (has_hessian(label_)) {
      loss_values(objective_, block(sums, begin, count, own), losses.data());
    } else {
      sums.read(begin, count, own.z.data());
      for (std::size_t r = 0; r < count; ++r)
        losses[r] = weight(begin + r) * row_loss(objective_, own.z[r], row(begin + r)).loss;
    }
    for (std::size_t r = 0; r < count; ++r) sum += losses[r];
  }
  return sum;
}

LossRow RowLosses::row(std::size_t index) const {
  return loss_row(data_, index / label_.num_levels(), index % label_.num_levels());
}

// The arrays of the dataset themselves, where a whole block of them has one row after another.
LossBlock RowLosses::block(const TreeSums& sums, std::size_t begin, std::size_t count,
                           Buffers& own) const {
  sums.read(begin, count, own.z.data());
  const auto whole = [&](Role role, const std::array<float, kLossBlock>& otherwise) {
    return data_.beside[role].empty() ? otherwise.data() : data_.beside[role].data() + begin;
  };
  if (label_.num_levels() == 1 && count == kLossBlock) {
    return {.count = count,
            .z = own.z.data(),
            .y = data_.labels.data() + begin,
            .base = same_.base.data(),
            .level = same_.level.data(),
            .exposure = whole(Role::exposure, same_.exposure),
            .offset = whole(Role::offset, same_.offset),
            .weight = whole(Role::weight, same_.weight)};
  }
  fill(begin, count, own);
  return {.count = (count + 7) / 8 * 8,
          .z = own.z.data(),
          .y = own.y.data(),
          .base = own.base.data(),
          .level = own.level.data(),
          .exposure = own.exposure.data(),
          .offset = own.offset.data(),
          .weight = own.weight.data()};
}

// Row by row; then rows that weigh nothing, up to a multiple of 8.
void RowLosses::fill(std::size_t begin, std::size_t count, Buffers& own) const {
  for (std::size_t k = 0; k < count; ++k) {
    const LossRow from = row(begin + k);
    own.y[k] = from.y;
    own.base[k] = label_.offsets[from.level];
    own.level[k] = static_cast<double>(from.level);
    own.exposure[k] = static_cast<float>(from.exposure);
    own.offset[k] = static_cast<float>(from.offset);
    own.weight[k] = weight(begin + k);
  }
  for (std::size_t k = count; k % 8 != 0; ++k) {
    own.z[k] = own.exposure[k] = own.offset[k] = own.weight[k] = 0;
    own.y[k] = own.base[k] = own.level[k] = 0;
  }
}

}  // namespace espalier
