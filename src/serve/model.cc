// SPDX-License-Identifier: Apache-2.0
// What a user holds: the networks and the file of src/model, and the predictor that serves them.
#include "espalier/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/default_floats.h"
#include "core/file.h"
#include "core/thread_pool.h"
#include "csv/cell.h"
#include "encode/encode.h"
#include "encode/roles.h"
#include "espalier/csv.h"
#include "espalier/predictor.h"
#include "model/model_data.h"
#include "model/model_file.h"
#include "serve/compiled.h"

namespace espalier {

namespace {

// Of the cells of a feature's column that have a word, those whose word the feature does not know.
class Unseen {
 public:
  explicit Unseen(const Feature& feature)
      : feature_(feature),
        known_categories_(feature),
        is_expected_(feature.pools_rare && feature.shares.back() > 0.5f) {}

  void add(const Column& column, std::size_t num_rows) {
    const std::span<const std::int32_t> codes = column.category_codes();
    std::vector<char> known;  // by code
    for (const std::string& word : column.categories)
      known.push_back(known_categories_.find(word).has_value());
    for (std::size_t row = 0; row < num_rows; ++row) {
      if (column.type == ColumnType::category && codes[row] == kMissingCode) continue;
      const bool is_number = column.type == ColumnType::number;
      if (is_number && std::isnan(column.values()[row])) continue;
      ++words_;
      if (is_number ? known_categories_.find(text_at(column, row)).has_value()
                    : known[static_cast<std::size_t>(codes[row])] != 0) {
        continue;
      }
      if (cells_++ == 0) example_ = text_at(column, row);
    }
  }

  // A pool of rare words makes unseen ones no surprise.
  bool is_strange() const { return !is_expected_ && words_ >= 10 && 10 * cells_ > 9 * words_; }

  const Feature& feature() const { return feature_; }

  std::string warning(std::string_view table) const {
    return fmt::format(
        "{}: column '{}': training never saw {} of {} words, such as '{}'; it saw '{}'", table,
        printable(feature_.name), cells_, words_, printable(example_),
        printable(feature_.categories.front()));
  }

 private:
  const Feature& feature_;
  FeatureCategories known_categories_;
  bool is_expected_;
  std::size_t words_ = 0;
  std::size_t cells_ = 0;
  std::string example_;
};

// Of an exposure or an offset, the numbers that training would not take.
class OddNumbers {
 public:
  OddNumbers(Role role, std::string column) : role_(role), column_(std::move(column)) {}

  void add(const ColumnIndex& columns, const Table& piece) {
    const Column* const column = columns.find(column_);
    if (column == nullptr || column->type != ColumnType::number) return;
    const std::span<const float> numbers = column->values();
    for (std::size_t row = 0; row < piece.num_rows; ++row) {
      if (wanted_of(role_, numbers[row]).empty()) continue;
      if (count_++ > 0) continue;
      first_ = numbers[row];
      row_ = piece.first_row + row + 1;
    }
    rows_ += piece.num_rows;
  }

  bool is_strange() const { return count_ > 0; }

  std::string warning(std::string_view table) const {
    return fmt::format(
        "{}: column '{}': {} of {} values are no {}, such as {} in row {}; wanted {}. Predictions "
        "count {}",
        table, printable(column_), count_, rows_, to_word(role_), first_, row_,
        wanted_of(role_, first_),
        role_ == Role::exposure ? "a negative one as 0 and a missing one as 1"
                                : "a missing one as 0");
  }

 private:
  Role role_;
  std::string column_;
  std::size_t rows_ = 0;
  std::size_t count_ = 0;
  std::size_t row_ = 0;  // of the first, from 1
  float first_ = 0;
};

}  // namespace

Model Model::load(const std::string& path) { return from_bytes(read_file(path).view(), path); }

void Model::save(const std::string& path) const { write_file_atomically(path, to_bytes()); }

std::string Model::to_bytes() const {
  const DefaultFloats floats;
  return format_model(data());
}

Model Model::from_bytes(std::string_view bytes, const std::string& name) {
  const DefaultFloats floats;
  return Model(
      std::make_shared<const ModelData>(parse_model(bytes, name, Inequalities::must_hold)));
}

const Schema& Model::schema() const noexcept { return data_->schema; }

std::string Model::architecture() const {
  // A gather that only permutes comes back when the architecture is built again; one that chooses
  // its wires does so by the size of the lattices that read them.
  const auto network = std::ranges::find_if(data_->members, &ModelMember::is_network);
  if (network == data_->members.end()) return "trees";
  Architecture shown = network->network().architecture();
  const LayerSpec* lattices = nullptr;
  for (auto layer = shown.layers.rbegin(); layer != shown.layers.rend(); ++layer) {
    if (layer->kind == LayerKind::lat) lattices = &*layer;
    if (layer->kind != LayerKind::gather || lattices == nullptr) continue;
    std::vector<int> wires = std::move(layer->wires);
    layer->wires.clear();
    std::sort(wires.begin(), wires.end());
    const bool repeats = std::adjacent_find(wires.begin(), wires.end()) != wires.end();
    const bool leaves_out = !wires.empty() && wires.back() + 1 > static_cast<int>(wires.size());
    if (!repeats && !leaves_out) continue;
    layer->groups = lattices->groups;
    layer->group_size = lattices->group_size;
  }
  std::erase_if(shown.layers, [](const LayerSpec& layer) {
    return layer.kind == LayerKind::gather && layer.groups == 0 && layer.wires.empty();
  });
  std::vector<std::string> layers;
  for (LayerSpec& layer : shown.layers) {
    if (layer.outputs == 1) layer.monotone_outputs = 0;
    layers.push_back(layer.kind == LayerKind::tree ? short_name(layer) : to_string(layer));
  }
  return fmt::format("{}", fmt::join(layers, " "));
}

std::size_t Model::num_parameters() const noexcept {
  std::size_t total = 0;
  for (const ModelMember& member : data_->members) {
    if (member.is_network()) {
      total += member.network().params().size();
      continue;
    }
    for (const DecisionTree& tree : member.forest().trees)
      total += tree.splits.size() + tree.leaves.size();
  }
  return total;
}

std::size_t Model::num_scores() const noexcept { return data_->schema.label.num_scores(); }

int Model::num_members() const noexcept { return static_cast<int>(data_->members.size()); }

const std::string& Model::training_json() const noexcept { return data_->training_json; }

std::string Model::hash() const {
  return data_->file_hash.empty() ? model_hash(to_bytes()) : data_->file_hash;
}

CsvOptions Model::csv_options() const { return csv_options(CsvOptions{}); }

CsvOptions Model::csv_options(CsvOptions base, Reading reading) const {
  const auto add = [&](const std::string& name, bool is_number) {
    base.types[name] = is_number ? ColumnType::number : ColumnType::category;
    base.only.push_back(name);
  };
  const auto add_words = [&](const auto& column) {
    if (!column.missing.empty()) base.column_missing[column.name] = column.missing;
    if (!column.not_missing.empty()) base.not_missing[column.name] = column.not_missing;
  };
  for (const Feature& feature : schema().features) {
    add(feature.name, feature.kind == FeatureKind::number);
    add_words(feature);
  }
  for (const auto& [role, name] : schema().beside) {
    const bool is_read = role == Role::weight     ? reading == Reading::labelled
                         : role == Role::exposure ? reading != Reading::features
                                                  : true;
    if (is_read) add(name, true);
  }
  if (reading == Reading::labelled) {
    add(schema().label.name, schema().label.is_number);
    add_words(schema().label);
  }
  return base;
}

std::vector<std::string> Model::warnings(const Table& table) const {
  TableWarnings warnings(*this);
  warnings.add(table);
  return warnings.list(table.name);
}

struct TableWarnings::State {
  Model model;  // keeps the features alive
  std::vector<Unseen> columns = {};
  std::vector<OddNumbers> beside = {};
};

TableWarnings::TableWarnings(const Model& model) : state_(new State{model}) {
  for (const Feature& feature : state_->model.schema().features) {
    if (feature.kind != FeatureKind::number) state_->columns.emplace_back(feature);
  }
  for (const auto& [role, name] : prediction_columns(state_->model.schema().beside))
    state_->beside.emplace_back(role, name);
}

TableWarnings::~TableWarnings() = default;

void TableWarnings::add(const Table& piece) {
  const ColumnIndex columns(piece);
  for (Unseen& unseen : state_->columns)
    unseen.add(columns.require(unseen.feature().name), piece.num_rows);
  for (OddNumbers& odd : state_->beside) odd.add(columns, piece);
}

std::vector<std::string> TableWarnings::list(std::string_view name) const {
  std::vector<std::string> warnings;
  for (const Unseen& unseen : state_->columns) {
    if (unseen.is_strange()) warnings.push_back(unseen.warning(name));
  }
  for (const OddNumbers& odd : state_->beside) {
    if (odd.is_strange()) warnings.push_back(odd.warning(name));
  }
  return warnings;
}

std::vector<float> Model::predict(const Table& table, Output output, int threads) const {
  const DefaultFloats floats;
  const Predictor predictor(*this);
  ThreadPool pool(threads);
  const Dataset rows = encode_to_predict(schema(), table);
  return output == Output::score ? scores(predictor, rows, pool)
                                 : predictions(predictor, rows, pool);
}

}  // namespace espalier
