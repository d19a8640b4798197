// SPDX-License-Identifier: Apache-2.0
#include "serve/runners.h"

#include <algorithm>
#include <numeric>

#include "layers/min_max.h"
#include "serve/kernels.h"

namespace espalier {

namespace {

std::vector<std::size_t> wires_in_order(std::size_t count) {
  std::vector<std::size_t> wires(count);
  std::iota(wires.begin(), wires.end(), std::size_t{0});
  return wires;
}

Runner runner_of(CellStep&& step) { return CellRunner(std::move(step)); }
Runner runner_of(CalibratorStep&& step) { return CalibratorRunner(std::move(step)); }
Runner runner_of(LinearStep&& step) { return LinearRunner(std::move(step)); }
Runner runner_of(LatticeStep&& step) {
  if (step.interpolation == Interpolation::simplex) return SimplexRunner(std::move(step));
  const std::size_t num_inputs = step.num_outputs() * static_cast<std::size_t>(step.size);
  return MultilinearRunner(std::move(step), wires_in_order(num_inputs));
}
Runner runner_of(GatherStep&& step) { return GatherRunner(std::move(step)); }
Runner runner_of(SumStep&& step) { return SumRunner(step); }
Runner runner_of(MinMaxStep&& step) { return MinMaxRunner(step); }
Runner runner_of(ReluStep&& step) { return ReluRunner(step); }
Runner runner_of(TreeStep&& step) { return TreeRunner(std::move(step)); }
Runner runner_of(ForestStep&& step) { return ForestRunner(step); }

bool is_multilinear(const Step& step) {
  const auto* lattices = std::get_if<LatticeStep>(&step);
  return lattices != nullptr && lattices->interpolation == Interpolation::multilinear;
}

}  // namespace

std::vector<Runner> lay_out(std::vector<Step> steps) {
  std::vector<Runner> runners;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    auto* gather = std::get_if<GatherStep>(&steps[i]);
    if (gather != nullptr && i + 1 < steps.size() && is_multilinear(steps[i + 1])) {
      runners.push_back(MultilinearRunner(std::get<LatticeStep>(std::move(steps[++i])),
                                          std::move(gather->wires)));
    } else {
      runners.push_back(std::visit([](auto& own) { return runner_of(std::move(own)); }, steps[i]));
    }
  }
  return runners;
}

LinearRunner::LinearRunner(LinearStep step) : step_(std::move(step)) {
  std::set<std::size_t> borders = {0, step_.category_begin, step_.num_outputs()};
  for (const LinearStep::Number& number : step_.numbers) {
    borders.insert(number.begin);
    borders.insert(number.end);
  }
  bands_ = bands_between(borders);
  for (const Band& band : bands_) {
    borders.insert(std::min(padded(band.first), band.last));
    borders.insert(std::max(band.last / 16 * 16, band.first));
  }
  row_bands_ = bands_between(borders);
}

std::vector<LinearRunner::Band> LinearRunner::bands_between(
    const std::set<std::size_t>& borders) const {
  std::vector<Band> bands;
  for (auto first = borders.begin(), last = std::next(first); last != borders.end();
       ++first, ++last) {
    Band band = {*first, *last, {}};
    for (const LinearStep::Number& number : step_.numbers) {
      if (number.begin > *first || number.end < *last) continue;
      band.terms.push_back({static_cast<std::ptrdiff_t>(number.weights - number.begin),
                            static_cast<std::ptrdiff_t>(number.wire)});
    }
    bands.push_back(std::move(band));
  }
  return bands;
}

std::size_t LinearRunner::scratch_size() const {
  return step_.categories.empty() ? 0 : kTile * padded(step_.num_outputs());
}

const float* LinearRunner::picked(std::size_t category, float code) const noexcept {
  return step_.categories[category].rows.data() +
         static_cast<std::size_t>(code) * padded(step_.category_width);
}

// The bias and the weights that the categories pick, for one row of a tile.
void LinearRunner::start_row(const float* in, float* out) const noexcept {
  const auto pick = [&](std::size_t c) { return picked(c, in[step_.categories[c].wire * kTile]); };
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
    for (std::size_t r = 0; r < kTile; ++r) start_row(in + r, scratch + r * padded(num_outputs));
    rows_to_tile(scratch, static_cast<int>(num_outputs), out);
  }
  for (const Band& band : bands_) {
    add_terms(band.terms.data(), band.terms.size(), step_.weights.data(),
              static_cast<int>(band.first), static_cast<int>(band.last), in, out);
  }
}

void LinearRunner::row(const float* in, float* out, float*) const noexcept {
  const float* start = step_.bias.data();
  std::size_t next = 0;  // category
  do {
    const std::size_t count = std::min(kPicked, step_.categories.size() - next);
    const bool last = next + count == step_.categories.size();
    for (const Band& band : row_bands_) {
      const float* rows[kPicked];
      const std::size_t reaching = band.first < step_.category_begin ? 0 : count;
      for (std::size_t c = 0; c < reaching; ++c) {
        rows[c] = picked(next + c, in[step_.categories[next + c].wire]) +
                  (band.first - step_.category_begin);
      }
      linear_row({start + band.first, rows, reaching, step_.weights.data() + band.first,
                  band.terms.data(), last ? band.terms.size() : 0},
                 in, band.last - band.first, out + band.first);
    }
    start = out;
    next += count;
  } while (next < step_.categories.size());
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
