// SPDX-License-Identifier: Apache-2.0
#include "serve/interpreter.h"

#include <algorithm>
#include <cmath>

#include "data/encode.h"
#include "data/pairs.h"
#include "serve/lane_order.h"

namespace espalier {

namespace {

// From this many rows on a padded tile is faster than row after row.
constexpr std::size_t kTilePays = 8;

float encode(const NumberCell& cell, float x) noexcept {
  return std::isnan(x) ? cell.missing : position_among(cell.keypoints, x, cell.turned);
}

float encode(const CategoryCell& cell, float x) noexcept {
  if (std::isnan(x)) return static_cast<float>(cell.missing);
  const auto unseen = static_cast<float>(cell.num_words);
  const bool in_range = x >= 0 && x < unseen;
  return in_range && x == static_cast<float>(static_cast<int>(x)) ? x : unseen;
}

std::size_t num_outputs(const Step& step) {
  return std::visit([](const auto& own) { return own.num_outputs(); }, step);
}

float encode(const PairCell& pair, const float* cells) noexcept {
  const std::size_t i = bin_of(pair.first_edges, cells[pair.first]);
  const std::size_t j = bin_of(pair.second_edges, cells[pair.second]);
  return static_cast<float>(pair.codes[i * (pair.second_edges.size() + 1) + j]);
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
    : cells_(std::move(program.cells)),
      pairs_(std::move(program.pairs)),
      scores_(std::move(program.scores)),
      link_(program.link) {
  for (std::vector<Step>& steps : program.members) {
    members_.emplace_back(std::move(steps), num_inputs());
    member_scratch_size_ = std::max(member_scratch_size_, members_.back().scratch_size());
  }
  outputs_begin_ = kTile * num_inputs();
  members_begin_ = outputs_begin_ + kTile * num_scores() * members_.size();
}

void Interpreter::run(const float* rows, std::size_t count, Output output, float* scratch,
                      float* out) const noexcept {
  for (std::size_t first = 0; first < count; first += kTile) {
    const std::size_t now = std::min<std::size_t>(kTile, count - first);
    float* encoded = scratch;
    for (std::size_t r = 0; r < now; ++r) {
      const float* const row = encoded;
      for (const Cell& cell : cells_)
        *encoded++ = std::visit([x = *rows++](const auto& own) { return encode(own, x); }, cell);
      for (const PairCell& pair : pairs_) *encoded++ = encode(pair, row);
    }
    run_encoded(scratch, now, scratch, out);
    if (output == Output::prediction) link({out, now * num_scores()});
    out += now * num_scores();
  }
}

void Interpreter::run_encoded(const float* rows, std::size_t count, float* scratch,
                              float* out) const noexcept {
  for (std::size_t first = 0; first < count; first += kTile) {
    const std::size_t now = std::min<std::size_t>(kTile, count - first);
    if (now < kTilePays) {
      score_rows(rows, now, scratch, out);
    } else {
      score_tile(rows, now, scratch, out);
    }
    rows += now * num_inputs();
    out += now * num_scores();
  }
}

void Interpreter::link(std::span<float> scores) const noexcept {
  for (float& score : scores) score = prediction_of(link_, score);
}

void Interpreter::score_rows(const float* rows, std::size_t count, float* scratch,
                             float* out) const noexcept {
  float* outputs = scratch + outputs_begin_;  // [member][score]
  for (std::size_t r = 0; r < count; ++r, rows += num_inputs()) {
    for (std::size_t m = 0; m < members_.size(); ++m) {
      std::copy_n(rows, num_inputs(), scratch + members_begin_);
      std::copy_n(members_[m].row(scratch + members_begin_), num_scores(),
                  outputs + m * num_scores());
    }
    for (std::size_t s = 0; s < num_scores(); ++s) *out++ = score(s, outputs + s, num_scores());
  }
}

void Interpreter::score_tile(const float* rows, std::size_t count, float* scratch,
                             float* out) const noexcept {
  float* outputs = scratch + outputs_begin_;  // [member][score][kTile]
  const std::size_t size = num_scores() * kTile;
  float* in = scratch + members_begin_;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    for (std::size_t r = 0; r < kTile; ++r) {
      const float* row = rows + (r < count ? r : 0) * num_inputs();
      for (std::size_t f = 0; f < num_inputs(); ++f) in[f * kTile + r] = row[f];
    }
    std::copy_n(members_[m].tile(in), size, outputs + m * size);
  }
  for (std::size_t r = 0; r < count; ++r) {
    for (std::size_t s = 0; s < num_scores(); ++s) *out++ = score(s, outputs + s * kTile + r, size);
  }
}

// Score s from the outputs of the members, each `stride` floats after the one before.
float Interpreter::score(std::size_t s, const float* outputs, std::size_t stride) const noexcept {
  double sum = 0;
  for (std::size_t m = 0; m < members_.size(); ++m) sum += outputs[m * stride];
  return score_of(scores_[s], sum / static_cast<double>(members_.size()));
}

}  // namespace espalier
