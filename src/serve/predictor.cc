// SPDX-License-Identifier: Apache-2.0
#include "espalier/predictor.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <memory>

#include "core/aligned.h"
#include "data/encode.h"
#include "model/model_data.h"
#include "objective/link.h"
#include "serve/compiled.h"

namespace espalier {

namespace {

// From this many rows on a padded tile is faster than row after row.
constexpr std::size_t kTilePays = 8;

}  // namespace

Predictor::Compiled::Compiled(const Model& compiled_model) : model(compiled_model) {
  for (const Network& member : model.data().members) members.emplace_back(member);
  for (const CompiledNetwork& member : members)
    scratch_size = std::max(scratch_size, member.scratch_size());
  members_begin = kTile * model.schema().features.size();
  scratch_size += members_begin;
}

float Predictor::Compiled::score(double sum) const noexcept {
  return score_of(model.schema().label, sum / static_cast<double>(members.size()));
}

float Predictor::Compiled::output(float score, Output wanted) const noexcept {
  return wanted == Output::prediction ? prediction_of(model.schema().label, score) : score;
}

void Predictor::Compiled::scores(const float* cells, std::size_t count, float* scratch,
                                 float* out) const noexcept {
  const std::size_t num_features = model.schema().features.size();
  float* in = scratch + members_begin;
  if (count < kTilePays) {
    for (std::size_t r = 0; r < count; ++r, cells += num_features) {
      double sum = 0;
      for (const CompiledNetwork& member : members) {
        std::copy_n(cells, num_features, in);
        sum += member.row(in);
      }
      out[r] = score(sum);
    }
    return;
  }
  double sums[kTile] = {};
  for (const CompiledNetwork& member : members) {
    for (std::size_t r = 0; r < kTile; ++r) {
      const float* row = cells + (r < count ? r : 0) * num_features;
      for (std::size_t f = 0; f < num_features; ++f) in[f * kTile + r] = row[f];
    }
    const float* result = member.tile(in);
    for (std::size_t r = 0; r < count; ++r) sums[r] += result[r];
  }
  for (std::size_t r = 0; r < count; ++r) out[r] = score(sums[r]);
}

Predictor::Predictor(const Model& model) : compiled_(std::make_shared<const Compiled>(model)) {}

const Model& Predictor::model() const noexcept { return compiled_->model; }

std::size_t Predictor::num_features() const noexcept { return model().schema().features.size(); }

float Predictor::code(std::size_t feature, std::string_view word) const noexcept {
  const Feature& own = model().schema().features[feature];
  const auto found = std::find(own.words.begin(), own.words.end(), word);
  const bool known = found != own.words.end();
  const bool is_missing =
      means_missing(word) || std::ranges::find(own.missing, word) != own.missing.end();
  // The place behind the last word is no code of the category's: it counts as unseen.
  if (known || (own.kind == FeatureKind::category && !is_missing))
    return static_cast<float>(found - own.words.begin());
  return std::numeric_limits<float>::quiet_NaN();
}

Predictor::Scratch::Scratch(const Predictor& predictor)
    : floats_(predictor.compiled_->scratch_size + kCacheLine / sizeof(float)) {}

float* Predictor::Scratch::begin() noexcept {
  void* begin = floats_.data();
  std::size_t space = floats_.size() * sizeof(float);
  return static_cast<float*>(std::align(kCacheLine, kCacheLine, begin, space));
}

float Predictor::predict(std::span<const float> row, Scratch& scratch,
                         Output output) const noexcept {
  float result;
  predict(row, {&result, 1}, scratch, output);
  return result;
}

void Predictor::predict(std::span<const float> rows, std::span<float> out, Scratch& scratch,
                        Output output) const noexcept {
  const std::vector<Feature>& features = model().schema().features;
  assert(rows.size() == features.size() * out.size());
  assert(scratch.floats_.size() >= compiled_->scratch_size);
  float* const floats = scratch.begin();
  const float* cell = rows.data();
  for (std::size_t first = 0; first < out.size(); first += kTile) {
    const std::size_t count = std::min<std::size_t>(kTile, out.size() - first);
    float* encoded = floats;
    for (std::size_t r = 0; r < count; ++r) {
      for (const Feature& feature : features) *encoded++ = encode_cell(feature, *cell++);
    }
    float* result = out.data() + first;
    compiled_->scores(floats, count, floats, result);
    for (std::size_t r = 0; r < count; ++r) result[r] = compiled_->output(result[r], output);
  }
}

void Predictor::predict(std::span<const float> rows, std::span<float> out, Output output,
                        int threads) const {
  const auto predict_range = [&](std::size_t begin, std::size_t end) {
    Scratch scratch(*this);
    const std::size_t width = num_features();
    predict(rows.subspan(begin * width, (end - begin) * width), out.subspan(begin, end - begin),
            scratch, output);
  };
  ThreadPool pool(out.size() <= kTaskRows ? 1 : threads);
  pool.run_ranges(out.size(), kTaskRows, predict_range);
}

std::vector<float> Predictor::rows(const Table& table) const {
  return read_features(model().schema(), table).cells;
}

std::vector<float> scores(const Predictor& predictor, const Dataset& data, ThreadPool& pool) {
  const Predictor::Compiled& compiled = predictor.compiled();
  std::vector<float> result(data.num_rows);
  pool.run_ranges(data.num_rows, kTaskRows, [&](std::size_t begin, std::size_t end) {
    AlignedFloats scratch(compiled.scratch_size);
    for (std::size_t first = begin; first < end; first += kTile) {
      compiled.scores(data.row(first), std::min<std::size_t>(kTile, end - first), scratch.data(),
                      result.data() + first);
    }
  });
  return result;
}

std::vector<float> Model::predict(const Table& table, Output output, int threads) const {
  const Predictor predictor(*this);
  ThreadPool pool(threads);
  std::vector<float> result =
      scores(predictor, encode_features(schema(), table, all_rows(table)), pool);
  for (float& value : result) value = predictor.compiled().output(value, output);
  return result;
}

}  // namespace espalier
