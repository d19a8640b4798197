// SPDX-License-Identifier: Apache-2.0
#include "serve/interpreter.h"

#include <algorithm>
#include <cmath>

#include "encode/encode.h"
#include "encode/pairs.h"
#include "serve/lane_order.h"

namespace espalier {

namespace {

// From this many rows on a padded tile is faster than row after row.
constexpr std::size_t kTilePays = 8;

float encode(const NumberCell& cell, float x) noexcept {
  return std::isnan(x) ? cell.missing : position_among(cell.keypoints, x, cell.reversed);
}

float encode(const CategoryCell& cell, float x) noexcept {
  if (std::isnan(x)) return static_cast<float>(cell.missing);
  const auto unseen = static_cast<float>(cell.num_categories);
  const bool in_range = x >= 0 && x < unseen;
  return in_range && x == static_cast<float>(static_cast<int>(x)) ? x : unseen;
}

std::size_t num_outputs(const Step& step) {
  return std::visit([](const auto& own) { return own.num_outputs(); }, step);
}

float encode(const PairCell& pair, const float* cells) noexcept {
  const std::size_t i = bin_of(pair.first_edges, cells[pair.first]);
  const std::size_t j = bin_of(pair.second_edges, cells[pair.second]);
  const std::size_t cell = i * (pair.second_edges.size() + 1) + j;
  return static_cast<float>(pair.codes.empty() ? static_cast<std::int32_t>(cell)
                                               : pair.codes[cell]);
}

}  // namespace

MemberRunner::MemberRunner(std::vector<Step> steps, std::size_t num_inputs) {
  wires_size_ = padded(num_inputs) * kTile;
  if (std::optional<std::vector<Step>> row_steps = in_lane_order(steps)) {
    for (const Step& step : *row_steps)
      wires_size_ = std::max(wires_size_, padded(num_outputs(step)));
    row_runners_ = lay_out(std::move(*row_steps));
  }
  for (const Step& step : steps)
    wires_size_ = std::max(wires_size_, padded(num_outputs(step)) * kTile);
  runners_ = lay_out(std::move(steps));
  for (const auto* runners : {&runners_, &row_runners_}) {
    for (const Runner& runner : *runners) {
      const auto size = [](const auto& own) { return own.scratch_size(); };
      step_scratch_size_ = std::max(step_scratch_size_, std::visit(size, runner));
    }
  }
}

const float* MemberRunner::tile(float* scratch) const noexcept {
  float* in = scratch;
  float* out = scratch + wires_size_;
  for (const Runner& runner : runners_) {
    std::visit([&](const auto& own) { own.tile(in, out, scratch + 2 * wires_size_); }, runner);
    std::swap(in, out);
  }
  return in;
}

const float* MemberRunner::row(float* scratch) const noexcept {
  float* in = scratch;
  float* out = scratch + wires_size_;
  for (const Runner& runner : row_runners()) {
    std::visit([&](const auto& own) { own.row(in, out, scratch + 2 * wires_size_); }, runner);
    std::swap(in, out);
  }
  return in;
}

Interpreter::Interpreter(Program program)
    : program_(std::move(program)), total_weight_(program_.total_weight()) {
  for (std::vector<Step>& steps : program_.members) {
    members_.emplace_back(std::move(steps), program_.num_inputs());
    member_scratch_size_ = std::max(member_scratch_size_, members_.back().scratch_size());
  }
  program_.members.clear();
  outputs_begin_ = kTile * num_encoded();
  members_begin_ = outputs_begin_ + kTile * num_outputs() * members_.size();
}

void Interpreter::run(const float* rows, std::size_t count, Output output, float* scratch,
                      float* out) const noexcept {
  for (std::size_t first = 0; first < count; first += kTile) {
    const std::size_t now = std::min<std::size_t>(kTile, count - first);
    float* encoded = scratch;
    float exposures[kTile], offsets[kTile];
    for (std::size_t r = 0; r < now; ++r) {
      const float* const row = encoded;
      for (const Cell& cell : program_.cells)
        *encoded++ = std::visit([x = *rows++](const auto& own) { return encode(own, x); }, cell);
      for (const PairCell& pair : program_.pairs) *encoded++ = encode(pair, row);
      if (program_.has_exposure) exposures[r] = *rows++;
      if (program_.has_offset) offsets[r] = *rows++;
    }
    run_encoded(scratch, program_.has_exposure ? exposures : nullptr,
                program_.has_offset ? offsets : nullptr, now, output, scratch, out);
    out += now * num_scores();
  }
}

void Interpreter::run_encoded(const float* rows, const float* exposures, const float* offsets,
                              std::size_t count, Output output, float* scratch,
                              float* out) const noexcept {
  for (std::size_t first = 0; first < count; first += kTile) {
    const std::size_t now = std::min<std::size_t>(kTile, count - first);
    const float* own_offsets = offsets != nullptr ? offsets + first : nullptr;
    for (std::size_t level = 0; level < std::max<std::size_t>(1, program_.levels.size()); ++level) {
      const EncodedRows own{rows, own_offsets, now, level};
      if (now < kTilePays) {
        score_rows(own, scratch, out + level);
      } else {
        score_tile(own, scratch, out + level);
      }
    }
    for (std::size_t r = 0; r < now && output == Output::prediction; ++r) {
      apply_link(program_.link, program_.unit, exposures != nullptr ? exposures[first + r] : 1,
                 {out + r * num_scores(), num_scores()});
    }
    rows += now * num_encoded();
    out += now * num_scores();
  }
}

// The inputs of a member: the cells of a row, and the level if there are levels.
void Interpreter::load_row(const EncodedRows& rows, std::size_t row, float* in,
                           std::size_t stride) const noexcept {
  const float* cells = rows.cells + row * num_encoded();
  for (std::size_t f = 0; f < num_encoded(); ++f) in[f * stride] = cells[f];
  if (!program_.levels.empty()) in[num_encoded() * stride] = program_.levels[rows.level];
}

void Interpreter::score_rows(const EncodedRows& rows, float* scratch, float* out) const noexcept {
  float* outputs = scratch + outputs_begin_;  // [member][output]
  for (std::size_t r = 0; r < rows.count; ++r, out += num_scores()) {
    for (std::size_t m = 0; m < members_.size(); ++m) {
      load_row(rows, r, scratch + members_begin_, 1);
      std::copy_n(members_[m].row(scratch + members_begin_), num_outputs(),
                  outputs + m * num_outputs());
    }
    for (std::size_t s = 0; s < num_outputs(); ++s)
      out[s] = score(rows, r, s, outputs + s, num_outputs());
  }
}

void Interpreter::score_tile(const EncodedRows& rows, float* scratch, float* out) const noexcept {
  float* outputs = scratch + outputs_begin_;  // [member][output][kTile]
  const std::size_t size = num_outputs() * kTile;
  float* in = scratch + members_begin_;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    for (std::size_t r = 0; r < kTile; ++r) load_row(rows, r < rows.count ? r : 0, in + r, kTile);
    std::copy_n(members_[m].tile(in), size, outputs + m * size);
  }
  for (std::size_t r = 0; r < rows.count; ++r, out += num_scores()) {
    for (std::size_t s = 0; s < num_outputs(); ++s)
      out[s] = score(rows, r, s, outputs + s * kTile + r, size);
  }
}

// From output s of the members, each `stride` floats after the one before.
float Interpreter::score(const EncodedRows& rows, std::size_t row, std::size_t s,
                         const float* outputs, std::size_t stride) const noexcept {
  double sum = 0;
  for (std::size_t m = 0; m < members_.size(); ++m)
    sum += static_cast<double>(program_.weights[m]) * outputs[m * stride];
  const float offset = rows.offsets != nullptr ? rows.offsets[row] : 0;
  return score_of(program_.scores[rows.level + s], sum / total_weight_, usable_offset(offset));
}

}  // namespace espalier
