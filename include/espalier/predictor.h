// SPDX-License-Identifier: Apache-2.0
// A model compiled for serving.
//
//   espalier::Predictor predictor(model);
//   espalier::Predictor::Scratch scratch(predictor);  // one per thread
//   float row[] = {52000, predictor.code(1, "renter"), 0.31f};  // as model.schema().features
//   float risk = predictor.predict(row, scratch);
//
// Raising an input that must raise the prediction never lowers it, not by one bit, and every path
// gives the same bits: one row or many, scalar, AVX2 or AVX-512. docs/monotonicity.md has the
// proof.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "espalier/model.h"

namespace espalier {

/// Immutable; any number of threads may share one, each with a Scratch of its own. Copies share
/// their data and are cheap. Predicting with a Scratch never throws and never allocates, and sizes
/// that do not fit are reported, never written beyond.
///
/// A row has a cell for each of model.schema().features, in that order: of a number its value, of
/// a category or an ordered word its code. NaN is missing, infinities count as the nearest
/// keypoint, and a code that is none of the feature's counts as unseen. Behind them come the
/// exposure and the offset of the row, if the model has them. Any float will do: NaN counts as 1
/// and as 0, a negative exposure as 0, infinities as the largest floats; so no prediction falls
/// with it.
class Predictor {
 public:
  explicit Predictor(const Model& model);

  const Model& model() const noexcept;
  /// Floats that predict reads for each row: those of the features, and of exposure and offset.
  std::size_t num_cells() const noexcept;
  /// Floats that it writes for each row, see Model::num_scores.
  std::size_t num_scores() const noexcept;

  /// What stands for a word in a row: the code of a category or an ordered word; for a word that a
  /// category does not know, a code that counts as unseen; NaN for a word that means missing, or
  /// that an ordered feature does not know, for any word of a number, and for a feature that the
  /// model does not have.
  float code(std::size_t feature, std::string_view word) const noexcept;

  /// Working memory for one thread, made once and used again and again.
  class Scratch {
   public:
    explicit Scratch(const Predictor& predictor);

   private:
    friend class Predictor;
    float* begin() noexcept;  // on a cache line
    std::vector<float> floats_;
  };

  /// One row of num_cells cells, for a model with one score. A prediction is never NaN, so NaN
  /// says that a size is wrong, as the next one does with false.
  float predict(std::span<const float> row, Scratch& scratch,
                Output output = Output::prediction) const noexcept;

  /// Many rows: for each, num_cells cells in `rows` and num_scores floats in `out`, row after
  /// row. If the sizes are not those of the same number of rows, or the scratch was made for a
  /// smaller predictor, it returns false and all of `out` is NaN.
  bool predict(std::span<const float> rows, std::span<float> out, Scratch& scratch,
               Output output = Output::prediction) const noexcept;

  /// Many rows on several threads; 0 uses all cores. This one allocates and may throw: Error
  /// (argument) if the sizes are not those of the same number of rows.
  void predict(std::span<const float> rows, std::span<float> out, Output output, int threads) const;

  /// The rows of a table, as predict wants them. Columns are found by name; others are ignored.
  /// Throws Error (data) if a column is absent or of another type; without the column of the
  /// exposure it is 1.
  std::vector<float> rows(const Table& table) const;

  struct Compiled;  // internal
  const Compiled& compiled() const noexcept { return *compiled_; }

 private:
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace espalier
