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
  prediction,  ///< probabilities of classes or of at least a grade; numbers in units of the label
  score,       ///< before the link: log-odds, or logs of the number in units of Label::unit
};

/// Which columns of a table to read.
enum class Reading {
  features,  ///< to predict for exposure 1: without the exposure column
  rows,      ///< to predict: the columns that the model reads, including exposure and offset
  labelled,  ///< to evaluate: also the label, and the weight if the model has one
};

/// An immutable trained model. Copies share their data and are cheap. Any number of threads may use
/// a model at the same time.
class Model {
 public:
  /// Reads a model file. Throws Error (file) if it cannot be read. Throws Error (format) if it is
  /// damaged, has a newer version, or violates an inequality of monotonicity.
  static Model load(const std::string& path);

  /// Writes the model file atomically: `path` always has the old file or the new one.
  void save(const std::string& path) const;

  /// Converts to and from the bytes of a model file. Messages use `name` for the file. from_bytes
  /// throws as load does.
  std::string to_bytes() const;
  static Model from_bytes(std::string_view bytes, const std::string& name = "model");

  const Schema& schema() const noexcept;

  /// The architecture with all its sizes, in the grammar of architecture.h.
  std::string architecture() const;

  /// The number of trained parameters of all members.
  std::size_t num_parameters() const noexcept;

  /// The number of members that the model averages.
  int num_members() const noexcept;

  /// How many numbers predict returns per row. One for numeric labels and for two classes (the
  /// probability of the positive class), one per quantile, one per grade but the lowest (the
  /// probability of at least that grade), and one per class for more classes.
  std::size_t num_scores() const noexcept;

  /// The training options and the history of training, as JSON text.
  const std::string& training_json() const noexcept;

  /// A hash of all bits of the model: 16 hexadecimal digits.
  std::string hash() const;

  /// Options for reading data for this model: the columns to read and their types, added to `base`.
  CsvOptions csv_options() const;
  CsvOptions csv_options(CsvOptions base, Reading reading = Reading::rows) const;

  /// Warnings about a table that the model can read: columns with mostly unseen categories, and
  /// exposures and offsets that training would reject.
  std::vector<std::string> warnings(const Table& table) const;

  /// Predicts num_scores numbers per row, row after row. Columns are matched by name; others are
  /// ignored. A table without the exposure column is predicted for exposure 1. `threads` 0 uses all
  /// cores. Throws Error (data) if a column is absent or has another type.
  std::vector<float> predict(const Table& table, Output output = Output::prediction,
                             int threads = 0) const;

  /// Internal.
  explicit Model(std::shared_ptr<const ModelData> data) : data_(std::move(data)) {}
  const ModelData& data() const noexcept { return *data_; }

 private:
  std::shared_ptr<const ModelData> data_;
};

/// Model::warnings for a table in pieces.
class TableWarnings {
 public:
  explicit TableWarnings(const Model& model);
  ~TableWarnings();

  void add(const Table& piece);

  /// The warnings about all pieces so far. Messages use `name` for the table.
  std::vector<std::string> list(std::string_view name) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace espalier
