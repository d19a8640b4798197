// SPDX-License-Identifier: Apache-2.0
// A model compiled for serving.
//
//   espalier::Predictor predictor(model);
//   espalier::Predictor::Scratch scratch(predictor);  // one per thread
//   float row[] = {52000, predictor.code(1, "renter"), 0.31f};  // as model.schema().features
//   float risk = predictor.predict(row, scratch);
//
// Predictions are monotonic in the constrained features to the last bit; docs/monotonicity.md has
// the proof. All ways to predict give the same bits: one row or many, scalar, AVX2 or AVX-512.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "espalier/model.h"

namespace espalier {

/// Immutable. Any number of threads may share a Predictor, each with its own Scratch. Copies share
/// their data and are cheap. Predicting with a Scratch never throws, never allocates and reports
/// wrong sizes.
///
/// A row has one float for each of model.schema().features, in that order: a number, or the code of
/// a category. NaN is missing. Infinities count as the nearest keypoint, and unknown codes as
/// unseen categories. Exposure and offset follow, if the model has them. They accept any float: NaN
/// counts as exposure 1 and offset 0, a negative exposure as 0, and infinities as the largest
/// floats.
class Predictor {
 public:
  explicit Predictor(const Model& model);

  const Model& model() const noexcept;
  /// Floats per row that predict reads: features, exposure and offset.
  std::size_t num_cells() const noexcept;
  /// Floats per row that predict writes, see Model::num_scores.
  std::size_t num_scores() const noexcept;

  /// The code of a category. A categorical feature returns a code that counts as unseen for an
  /// unknown category. The code is NaN for a word that means missing, for an unknown category of an
  /// ordered feature, for a numeric feature, and for a feature that the model does not have.
  float code(std::size_t feature, std::string_view word) const noexcept;

  /// Working memory of one thread. Make it once and reuse it.
  class Scratch {
   public:
    explicit Scratch(const Predictor& predictor);

   private:
    friend class Predictor;
    float* begin() noexcept;  // aligned to a cache line
    std::vector<float> floats_;
  };

  /// Predicts one row, for a model with one score. Returns NaN if a size is wrong; a prediction is
  /// never NaN.
  float predict(std::span<const float> row, Scratch& scratch,
                Output output = Output::prediction) const noexcept;

  /// Predicts many rows: num_cells floats per row in `rows` and num_scores floats per row in `out`.
  /// If the sizes do not match or the scratch is too small, returns false and fills `out` with NaN.
  bool predict(std::span<const float> rows, std::span<float> out, Scratch& scratch,
               Output output = Output::prediction) const noexcept;

  /// Predicts many rows on several threads; 0 uses all cores. Allocates. Throws Error (argument) if
  /// the sizes do not match.
  void predict(std::span<const float> rows, std::span<float> out, Output output, int threads) const;

  /// The rows of a table in the format of predict. Columns are matched by name; others are ignored.
  /// Without the exposure column, exposures are 1. Throws Error (data) if a column is absent or has
  /// another type.
  std::vector<float> rows(const Table& table) const;

  struct Compiled;  // internal
  const Compiled& compiled() const noexcept { return *compiled_; }

 private:
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace espalier
