// SPDX-License-Identifier: Apache-2.0
#include "boost/loss_kernels.h"

#include <bit>

#include "layers/instruction_sets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boost/loss_kernels.cc"
// The order matters.
// clang-format off
#include "hwy/foreach_target.h"
#include "boost/lane_math.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace espalier {
namespace HWY_NAMESPACE {

// The loss of each row and its first and second derivative. What is not used is not computed.
struct LaneLoss {
  Lanes loss, gradient, hessian;
};

// The losses below do what loss_of in objective/loss.cc does, as functions of the scores s of the
// rows from `row` on.
class LogLossLanes {
 public:
  explicit LogLossLanes(const Label&) {}

  HWY_INLINE LaneLoss operator()(const LossBlock& rows, std::size_t row, Lanes s) const {
    const auto is_positive = hn::Gt(load(rows.y + row), load(rows.level + row));
    const Lanes d = lane_exp(hn::Neg(hn::Abs(s)));
    const Lanes one_plus_d = hn::Add(set(1), d);
    const Lanes probability = hn::Div(hn::IfThenElse(hn::Ge(s, set(0)), set(1), d), one_plus_d);
    const Lanes lost = hn::IfThenElse(is_positive, hn::Neg(s), s);
    return {hn::Add(hn::IfThenElseZero(hn::Gt(lost, set(0)), lost), lane_log(one_plus_d)),
            hn::Sub(probability, hn::IfThenElseZero(is_positive, set(1))),
            hn::Mul(probability, hn::Sub(set(1), probability))};
  }
};

class PowerLossLanes {
 public:
  explicit PowerLossLanes(const Label& label) : power_(label.power), per_unit_(1 / label.unit) {}

  HWY_INLINE LaneLoss operator()(const LossBlock& rows, std::size_t row, Lanes s) const {
    const double p = power_;
    const Lanes exposure = load(rows.exposure + row);
    const Lanes y = hn::Mul(load(rows.y + row), set(per_unit_));  // exact: units are powers of two
    const Lanes expected = hn::Mul(exposure, lane_exp(hn::Mul(set(2 - p), s)));
    const Lanes seen = p == 1 ? y : hn::Mul(y, lane_exp(hn::Mul(set(1 - p), s)));
    const Lanes rising = p == 2 ? hn::Mul(exposure, s) : hn::Div(expected, set(2 - p));
    const Lanes falling = p == 1 ? hn::Mul(y, s) : hn::Div(seen, set(1 - p));
    return {hn::Sub(rising, falling), hn::Sub(expected, seen),
            hn::Add(hn::Mul(set(2 - p), expected), hn::Mul(set(p - 1), seen))};
  }

 private:
  double power_;
  double per_unit_;
};

// The rest is row_loss: with respect to the outputs z, in the units of training.
template <class Formula>
class ScoreLossLanes {
 public:
  explicit ScoreLossLanes(const Objective& objective)
      : formula_(objective.label()), scale_(objective.label().scale), units_(objective.scale()) {}

  HWY_INLINE LaneLoss operator()(const LossBlock& rows, std::size_t row) const {
    const Lanes scale = set(scale_), units = set(units_);
    const Lanes of_z = hn::Mul(scale, load(rows.z + row));
    const Lanes s = hn::Add(hn::Add(load(rows.base + row), of_z), load(rows.offset + row));
    const LaneLoss own = formula_(rows, row, s);
    return {hn::Mul(units, own.loss), hn::Mul(hn::Mul(units, own.gradient), scale),
            hn::Mul(hn::Mul(hn::Mul(units, own.hessian), scale), scale)};
  }

 private:
  Formula formula_;
  double scale_;
  double units_;
};

class SquaredErrorLanes {
 public:
  explicit SquaredErrorLanes(const Objective& objective) : scale_(objective.label().scale) {}

  HWY_INLINE LaneLoss operator()(const LossBlock& rows, std::size_t row) const {
    const Lanes wanted = hn::Div(
        hn::Sub(hn::Sub(load(rows.y + row), load(rows.base + row)), load(rows.offset + row)),
        set(scale_));
    const Lanes error = hn::Sub(load(rows.z + row), wanted);
    return {hn::Mul(error, error), hn::Mul(set(2), error), set(2)};
  }

 private:
  double scale_;
};

template <class Formula>
void gradients_of(const Formula& formula, const LossBlock& rows, float* gradients,
                  float* hessians) {
  for (std::size_t row = 0; row < rows.count; row += kLanes) {
    const LaneLoss own = formula(rows, row);
    const FloatLanes weight = hn::LoadU(kHalfFloats, rows.weight + row);
    hn::StoreU(hn::Mul(weight, to_floats(own.gradient)), kHalfFloats, gradients + row);
    hn::StoreU(hn::Mul(weight, to_floats(own.hessian)), kHalfFloats, hessians + row);
  }
}

template <class Formula>
void losses_of(const Formula& formula, const LossBlock& rows, double* losses) {
  for (std::size_t row = 0; row < rows.count; row += kLanes) {
    const Lanes weight = load(rows.weight + row);
    hn::StoreU(hn::Mul(weight, formula(rows, row).loss), kDoubles, losses + row);
  }
}

void loss_gradients(const Objective& objective, const LossBlock& rows, float* gradients,
                    float* hessians) {
  const Label& label = objective.label();
  if (label.loss == Loss::squared_error)
    return gradients_of(SquaredErrorLanes(objective), rows, gradients, hessians);
  if (label.loss == Loss::log_loss)
    return gradients_of(ScoreLossLanes<LogLossLanes>(objective), rows, gradients, hessians);
  gradients_of(ScoreLossLanes<PowerLossLanes>(objective), rows, gradients, hessians);
}

void loss_values(const Objective& objective, const LossBlock& rows, double* losses) {
  const Label& label = objective.label();
  if (label.loss == Loss::squared_error)
    return losses_of(SquaredErrorLanes(objective), rows, losses);
  if (label.loss == Loss::log_loss)
    return losses_of(ScoreLossLanes<LogLossLanes>(objective), rows, losses);
  losses_of(ScoreLossLanes<PowerLossLanes>(objective), rows, losses);
}

// The bits of floats without a sign are in the order of their magnitudes, NaN above infinity.
float largest_magnitude(const float* values, std::size_t count) {
  std::int32_t most = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t bits = std::bit_cast<std::int32_t>(values[i]) & 0x7fffffff;
    most = bits > most ? bits : most;
  }
  return std::bit_cast<float>(most);
}

void round_gradients(const float* gradients, const float* hessians, std::size_t count,
                     double per_gradient, double per_hessian, GradientPair* rounded) {
  const auto nearest = [](float value, double per_unit) {
    const double shifted = static_cast<double>(value) * per_unit + kRoundingShift;
    return static_cast<std::int32_t>(std::bit_cast<std::int64_t>(shifted));
  };
  for (std::size_t i = 0; i < count; ++i)
    rounded[i] = {nearest(gradients[i], per_gradient), nearest(hessians[i], per_hessian)};
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier {

HWY_EXPORT(loss_gradients);
HWY_EXPORT(loss_values);
HWY_EXPORT(largest_magnitude);
HWY_EXPORT(round_gradients);

void loss_gradients(const Objective& objective, const LossBlock& rows, float* gradients,
                    float* hessians) noexcept {
  HWY_DYNAMIC_DISPATCH(loss_gradients)(objective, rows, gradients, hessians);
}
void loss_values(const Objective& objective, const LossBlock& rows, double* losses) noexcept {
  HWY_DYNAMIC_DISPATCH(loss_values)(objective, rows, losses);
}
float largest_magnitude(std::span<const float> values) noexcept {
  return HWY_DYNAMIC_DISPATCH(largest_magnitude)(values.data(), values.size());
}
void round_gradients(std::span<const float> gradients, std::span<const float> hessians,
                     double gradient_unit, double hessian_unit, GradientPair* rounded) noexcept {
  HWY_DYNAMIC_DISPATCH(round_gradients)
  (gradients.data(), hessians.data(), gradients.size(), 1 / gradient_unit, 1 / hessian_unit,
   rounded);
}

}  // namespace espalier
#endif  // HWY_ONCE
