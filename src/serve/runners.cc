// SPDX-License-Identifier: Apache-2.0
#include "serve/runners.h"

#include <algorithm>
#include <set>

#include "layers/min_max.h"
#include "serve/kernels.h"

namespace espalier {

namespace {

Runner lay_out(CellStep&& step) { return CellRunner(std::move(step)); }
Runner lay_out(CalibratorStep&& step) { return CalibratorRunner(std::move(step)); }
Runner lay_out(LinearStep&& step) { return LinearRunner(std::move(step)); }
Runner lay_out(LatticeStep&& step) {
  if (step.interpolation == Interpolation::simplex) return SimplexRunner(std::move(step));
  return MultilinearRunner(std::move(step));
}
Runner lay_out(GatherStep&& step) { return GatherRunner(std::move(step)); }
Runner lay_out(SumStep&& step) { return SumRunner(step); }
Runner lay_out(MinMaxStep&& step) { return MinMaxRunner(step); }
Runner lay_out(ReluStep&& step) { return ReluRunner(step); }

}  // namespace

Runner runner_of(Step step) {
  return std::visit([](auto&& own) { return lay_out(std::move(own)); }, std::move(step));
}

LinearRunner::LinearRunner(LinearStep step) : step_(std::move(step)) {
  std::set<std::size_t> borders = {0, step_.num_outputs()};
  for (const LinearStep::Number& number : step_.numbers) {
    borders.insert(number.begin);
    borders.insert(number.end);
  }
  for (auto first = borders.begin(), last = std::next(first); last != borders.end();
       ++first, ++last) {
    Band band = {static_cast<int>(*first), static_cast<int>(*last), {}};
    for (const LinearStep::Number& number : step_.numbers) {
      if (number.begin > *first || number.end < *last) continue;
      band.terms.push_back({static_cast<std::ptrdiff_t>(number.weights - number.begin),
                            static_cast<std::ptrdiff_t>(number.wire)});
    }
    bands_.push_back(std::move(band));
  }
}

std::size_t LinearRunner::scratch_size() const {
  return step_.categories.empty() ? 0 : kTile * padded(step_.num_outputs());
}

// The bias and the weights that the categories pick.
void LinearRunner::start_row(const float* in, std::size_t stride, float* out) const noexcept {
  const auto pick = [&](std::size_t k) {
    const LinearStep::Category& category = step_.categories[k];
    const auto code = static_cast<std::size_t>(in[category.wire * stride]);
    return category.rows.data() + code * padded(step_.category_width);
  };
  const std::size_t begin = step_.category_begin;
  std::copy_n(step_.bias.data(), begin, out);
  sum_of_picked(step_.bias.data() + begin, step_.categories.size(), pick, 0, step_.category_width,
                out + begin);
}

void LinearRunner::tile(const float* in, float* out, float* scratch) const noexcept {
  const std::size_t num_outputs = step_.num_outputs();
  if (step_.categories.empty()) {
    for (std::size_t i = 0; i < num_outputs; ++i)
      std::fill_n(out + i * kTile, kTile, step_.bias[i]);
  } else {
    for (std::size_t r = 0; r < kTile; ++r)
      start_row(in + r, kTile, scratch + r * padded(num_outputs));
    rows_to_tile(scratch, static_cast<int>(num_outputs), out);
  }
  for (const Band& band : bands_) {
    add_terms(band.terms.data(), band.terms.size(), step_.weights.data(), band.first, band.last, in,
              out);
  }
}

void LinearRunner::row(const float* in, float* out, float*) const noexcept {
  start_row(in, 1, out);
  if (step_.num_outputs() == 1) {
    const std::vector<LinearTerm>& terms = bands_.front().terms;
    *out = add_terms_of_row(terms.data(), terms.size(), step_.weights.data(), in, *out);
    return;
  }
  for (const LinearStep::Number& number : step_.numbers) {
    add_scaled(in[number.wire], step_.weights.data() + number.weights, out + number.begin,
               number.end - number.begin);
  }
}

void GatherRunner::tile(const float* in, float* out, float*) const noexcept {
  for (const std::size_t wire : step_.wires) out = std::copy_n(in + wire * kTile, kTile, out);
}

void GatherRunner::row(const float* in, float* out, float*) const noexcept {
  for (const std::size_t wire : step_.wires) *out++ = in[wire];
}

void SumRunner::tile(const float* in, float* out, float*) const noexcept {
  std::fill_n(out, kTile, 0.0f);
  for (std::size_t i = 0; i < step_.num_inputs; ++i) add(in + i * kTile, out, kTile);
}

void SumRunner::row(const float* in, float* out, float*) const noexcept {
  float sum = 0;
  for (std::size_t i = 0; i < step_.num_inputs; ++i) sum += in[i];
  *out = sum;
}

void MinMaxRunner::tile(const float* in, float* out, float*) const noexcept {
  min_max<kTile>(in, step_.groups, step_.size, out);
}

void MinMaxRunner::row(const float* in, float* out, float*) const noexcept {
  min_max<1>(in, step_.groups, step_.size, out);
}

void ReluRunner::tile(const float* in, float* out, float*) const noexcept {
  for (std::size_t i = 0; i < step_.num_wires * kTile; ++i) out[i] = std::max(in[i], 0.0f);
}

void ReluRunner::row(const float* in, float* out, float*) const noexcept {
  for (std::size_t i = 0; i < step_.num_wires; ++i) out[i] = std::max(in[i], 0.0f);
}

}  // namespace espalier
