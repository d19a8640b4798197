// SPDX-License-Identifier: Apache-2.0
#include "espalier/predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/aligned.h"
#include "core/default_floats.h"
#include "csv/cell.h"
#include "encode/encode.h"
#include "encode/roles.h"
#include "espalier/csv.h"
#include "espalier/error.h"
#include "model/model_data.h"
#include "serve/compile.h"
#include "serve/compiled.h"

namespace espalier {

namespace {

// Floats of a Scratch: room to begin on a cache line.
std::size_t floats_of_scratch(const Interpreter& interpreter) {
  return interpreter.scratch_size() + kCacheLine / sizeof(float);
}

// Whether spans of so many floats are the same number of rows in and out.
bool fit(const Interpreter& interpreter, std::size_t rows, std::size_t out) {
  const std::size_t width = interpreter.num_raw(), scores = interpreter.num_scores();
  return rows % width == 0 && out % scores == 0 && rows / width == out / scores;
}

}  // namespace

Predictor::Compiled::Compiled(const Model& compiled_model)
    : model(compiled_model), interpreter(compile(compiled_model)) {}

Predictor::Predictor(const Model& model) {
  const DefaultFloats floats;
  compiled_ = std::make_shared<const Compiled>(model);
}

const Model& Predictor::model() const noexcept { return compiled_->model; }

std::size_t Predictor::num_cells() const noexcept { return compiled_->interpreter.num_raw(); }

std::size_t Predictor::num_scores() const noexcept { return compiled_->interpreter.num_scores(); }

float Predictor::code(std::size_t feature, std::string_view word) const noexcept {
  const std::vector<Feature>& features = model().schema().features;
  if (feature >= features.size()) return NAN;
  const Feature& own = features[feature];
  auto found = std::find(own.categories.begin(), own.categories.end(), word);
  if (found == own.categories.end()) {
    found = std::ranges::find(own.categories, shortest_plain(word), shortest_plain);
  }
  const bool known = found != own.categories.end();
  const bool is_missing = means_missing(word, own.missing, own.not_missing);
  // The place behind the last word is no code of the category's: it counts as unseen.
  if (known || (own.kind == FeatureKind::category && !is_missing))
    return static_cast<float>(found - own.categories.begin());
  return NAN;
}

Predictor::Scratch::Scratch(const Predictor& predictor)
    : floats_(floats_of_scratch(predictor.compiled().interpreter)) {}

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

bool Predictor::predict(std::span<const float> rows, std::span<float> out, Scratch& scratch,
                        Output output) const noexcept {
  const DefaultFloats floats;
  const Interpreter& interpreter = compiled_->interpreter;
  if (!fit(interpreter, rows.size(), out.size()) ||
      scratch.floats_.size() < floats_of_scratch(interpreter)) {
    std::fill(out.begin(), out.end(), NAN);
    return false;
  }
  interpreter.run(rows.data(), out.size() / num_scores(), output, scratch.begin(), out.data());
  return true;
}

void Predictor::predict(std::span<const float> rows, std::span<float> out, Output output,
                        int threads) const {
  const std::size_t width = num_cells(), scores = num_scores();
  if (!fit(compiled_->interpreter, rows.size(), out.size())) {
    throw Error(ErrorKind::argument,
                fmt::format("predict: {} cells for {} outputs; wanted {} cells and {} output{} for "
                            "each row",
                            rows.size(), out.size(), width, scores, scores == 1 ? "" : "s"));
  }
  const std::size_t num_rows = out.size() / scores;
  ThreadPool pool(num_rows <= kTaskRows ? 1 : threads);
  pool.run_ranges(num_rows, kTaskRows, [&](std::size_t begin, std::size_t end) {
    Scratch scratch(*this);
    predict(rows.subspan(begin * width, (end - begin) * width),
            out.subspan(begin * scores, (end - begin) * scores), scratch, output);
  });
}

std::vector<float> Predictor::rows(const Table& table) const {
  const DefaultFloats floats;
  const Schema& schema = model().schema();
  const Dataset features = read_features(schema, table);
  const auto beside = prediction_columns(schema.beside);
  if (beside.empty()) return {features.cells.begin(), features.cells.end()};
  std::vector<LargeVector<float>> columns;
  for (const auto& [role, name] : beside) {
    columns.push_back(role == Role::exposure && table.find(name) == nullptr
                          ? LargeVector<float>(table.num_rows, 1)
                          : any_side_column(name, table));
  }
  std::vector<float> rows;
  rows.reserve(table.num_rows * num_cells());
  for (std::size_t r = 0; r < table.num_rows; ++r) {
    rows.insert(rows.end(), features.row(r), features.row(r + 1));
    for (const LargeVector<float>& column : columns) rows.push_back(column[r]);
  }
  return rows;
}

namespace {

std::vector<float> run(const Predictor& predictor, const Dataset& data, Output output,
                       ThreadPool& pool) {
  const Interpreter& interpreter = predictor.compiled().interpreter;
  std::vector<float> result(data.num_rows * interpreter.num_scores());
  pool.run_ranges(data.num_rows, kTaskRows, [&](std::size_t begin, std::size_t end) {
    const auto from = [&](Role role) {
      const LargeVector<float>& column = data.beside[role];
      return column.empty() ? nullptr : column.data() + begin;
    };
    AlignedFloats scratch(interpreter.scratch_size());
    interpreter.run_encoded(data.row(begin), from(Role::exposure), from(Role::offset), end - begin,
                            output, scratch.data(),
                            result.data() + begin * interpreter.num_scores());
  });
  return result;
}

}  // namespace

std::vector<float> scores(const Predictor& predictor, const Dataset& data, ThreadPool& pool) {
  return run(predictor, data, Output::score, pool);
}

std::vector<float> predictions(const Predictor& predictor, const Dataset& data, ThreadPool& pool) {
  return run(predictor, data, Output::prediction, pool);
}

}  // namespace espalier
