// SPDX-License-Identifier: Apache-2.0
// A trained model: load, save, predict.
//
//   espalier::Model model = espalier::Model::load("loan.esp");
//   espalier::Table rows = espalier::read_csv("new.csv", model.csv_options());
//   std::vector<float> risk = model.predict(rows);
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/schema.h"

namespace espalier {

struct CsvOptions;  // espalier/csv.h
struct Table;       // espalier/table.h
struct ModelData;   // internal: networks and encoding

/// What predict returns.
enum class Output {
  prediction,  ///< probabilities of classes or of reaching grades; numbers in units of the label
  score,       ///< before the link: logits, or logs of the number in units of Label::unit
};

/// What a table is read for.
enum class Reading {
  features,  ///< to predict for exposure 1: without the column of the exposure
  rows,      ///< to predict: the columns that the model reads, exposure and offset among them
  labelled,  ///< to evaluate: also the label, and the weight if the model has one
};

/// An immutable trained model. Copies share their data and are cheap. Any number of threads may use
/// one model at the same time.
class Model {
 public:
  /// Reads a model file. Throws Error (file) if it cannot be read and Error (format) if it is
  /// damaged, of a newer version, or holds parameters that break an inequality of monotonicity.
  static Model load(const std::string& path);

  /// Writes the model file atomically: whatever happens, `path` holds the old file or the new one.
  void save(const std::string& path) const;

  /// The bytes of the model file, and a model from them. `name` stands for the file in messages;
  /// throws as load does.
  std::string to_bytes() const;
  static Model from_bytes(std::string_view bytes, const std::string& name = "model");

  const Schema& schema() const noexcept;

  /// The architecture with all its sizes, in the grammar of architecture.h.
  std::string architecture() const;

  /// Trained numbers, over all members.
  std::size_t num_parameters() const noexcept;

  /// Networks that are averaged: 1 unless trained with `ensemble`.
  int num_members() const noexcept;

  /// Numbers that predict gives for each row: one for two classes (the probability of the positive
  /// one) and for numbers; one for each quantile; for each grade but the lowest the probability to
  /// reach it; one for each of more classes.
  std::size_t num_scores() const noexcept;

  /// The options the model was trained with and how training went, as JSON text.
  const std::string& training_json() const noexcept;

  /// 16 hexadecimal digits that change with any bit of the model.
  std::string hash() const;

  /// How to read a table to predict; and `base` with what the model needs added: the columns to
  /// read and their types.
  CsvOptions csv_options() const;
  CsvOptions csv_options(CsvOptions base, Reading reading = Reading::rows) const;

  /// What looks wrong with a table that the model can read: columns of which training saw hardly
  /// any word, exposures and offsets that training would not take.
  std::vector<std::string> warnings(const Table& table) const;

  /// num_scores numbers per row, row after row. Columns are found by name; others are ignored.
  /// Throws Error (data) if a column is absent or of another type; a table without the column of
  /// the exposure is predicted for exposure 1, which may be any number. `threads` 0 uses all cores.
  std::vector<float> predict(const Table& table, Output output = Output::prediction,
                             int threads = 0) const;

  /// Internal.
  explicit Model(std::shared_ptr<const ModelData> data) : data_(std::move(data)) {}
  const ModelData& data() const noexcept { return *data_; }

 private:
  std::shared_ptr<const ModelData> data_;
};

/// Model::warnings for a table that comes in pieces.
class TableWarnings {
 public:
  explicit TableWarnings(const Model& model);
  ~TableWarnings();

  void add(const Table& piece);

  /// Of all pieces so far; `name` stands for the table.
  std::vector<std::string> list(std::string_view name) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace espalier
