// SPDX-License-Identifier: Apache-2.0
#include "train/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/random.h"
#include "data/encode.h"
#include "data/roles.h"
#include "data/schema_builder.h"
#include "espalier/error.h"
#include "model/builder.h"
#include "objective/label.h"
#include "train/presets.h"
#include "train/streams.h"

namespace espalier {

namespace {

void warn(const TrainControl& control, const std::string& message) {
  if (control.warning) control.warning(message);
}

Rows usable_rows(const Label& label, const Table& table, const TrainControl& control) {
  Rows rows = labelled_rows(label, table);
  if (rows.size() < table.num_rows) {
    warn(control, fmt::format("{}: {} rows without a label are left out", table.name,
                              table.num_rows - rows.size()));
  }
  return rows;
}

void require_both_classes(const Dataset& data, const Schema& schema, std::string_view which) {
  if (schema.label.task != Task::classification || data.num_rows == 0) return;
  const auto [least, most] = std::minmax_element(data.labels.begin(), data.labels.end());
  if (*least != *most) return;
  throw Error(ErrorKind::data,
              fmt::format("the {} {} rows have one class only, '{}'", data.num_rows, which,
                          *most > 0 ? schema.label.positive : schema.label.negative));
}

void warn_of_close_labels(const Label& label, const TrainControl& control) {
  // The distance of two floats beside the mean, about.
  const double step = std::abs(label.offset) * std::numeric_limits<float>::epsilon();
  if (label.task == Task::classification || label.scale > 16 * step) return;
  warn(
      control,
      fmt::format("label '{}': its values differ by about {:.3g} around {:.9g}, where predictions, "
                  "which are 32-bit floats, are {:.2g} apart; subtract a constant from the label",
                  label.name, label.scale, label.offset, step));
}

// Scales the weights so that both classes weigh the same and the total stays.
void balance_classes(Prepared& p) {
  double totals[2] = {0, 0};
  for (std::size_t i = 0; i < p.train.num_rows; ++i)
    totals[p.train.labels[i] > 0] += p.train.weight(i);
  for (const int c : {0, 1})
    p.class_scale[c] = static_cast<float>((totals[0] + totals[1]) / (2 * totals[c]));
  std::vector<float>& weights = p.train.beside[Role::weight];
  weights.resize(p.train.num_rows, 1);
  for (std::size_t i = 0; i < p.train.num_rows; ++i)
    weights[i] *= p.class_scale[p.train.labels[i] > 0];
}

// The training rows and the validation rows as the network reads them. A table that is owned is
// empty afterwards.
void encode_rows(const Source& source, const Table* valid, const Split& rows, Prepared& p) {
  if (source.owned == nullptr) {
    p.train = encode_labelled(p.schema, source.table, rows.train);
    p.valid = encode_labelled(p.schema, valid == nullptr ? source.table : *valid, rows.valid);
    return;
  }
  const Rows none;
  const std::vector<const Rows*> parts = {&rows.train, valid == nullptr ? &rows.valid : &none};
  std::vector<Dataset> encoded =
      encode_labelled_and_free(p.schema, std::move(*source.owned), parts);
  p.train = std::move(encoded[0]);
  p.valid =
      valid == nullptr ? std::move(encoded[1]) : encode_labelled(p.schema, *valid, rows.valid);
}

// Without rows, or with rows that all weigh nothing, there is nothing to learn.
void require_rows(const Table& table, const Rows& rows, const TrainOptions& options,
                  const char* purpose) {
  if (rows.empty())
    throw Error(ErrorKind::data, fmt::format("{}: no row is left to {}", table.name, purpose));
  const Column* const weight = options.weight.empty() ? nullptr : table.find(options.weight);
  if (weight == nullptr || weight->type != ColumnType::number) return;
  const auto weighs_nothing = [&](std::uint32_t row) { return weight->values()[row] == 0; };
  if (!std::all_of(rows.begin(), rows.end(), weighs_nothing)) return;
  throw Error(ErrorKind::data, fmt::format("{}: column '{}': the {} rows to {} all weigh 0",
                                           table.name, options.weight, rows.size(), purpose));
}

// Scales the weights to a mean near 1, so that sums and products of floats neither overflow nor
// vanish. By a power of two: no digit of a weight changes.
void scale_weights(Dataset& data) {
  std::vector<float>& weights = data.beside[Role::weight];
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (!(total > 0)) return;
  const int exponent = std::ilogb(total / static_cast<double>(weights.size()));
  for (float& weight : weights) weight = std::ldexp(weight, -exponent);
}

// Where the first calibrators bend. Without calibrators a number enters as its place between the
// ends of its range.
KeypointPlan keypoint_plan(const SettledOptions& options, const Architecture& architecture) {
  const auto layer = input_calibrators(architecture);
  if (!layer) return {.mode = Keypoints::uniform, .count = 2, .learn_missing = false};
  return {.mode = options->keypoints,
          .count = layer->keypoints,
          .continuous_count = options->continuous_keypoints,
          .range = layer->range,
          .learn_missing = true};
}

// The rows to train on and the rows to choose the epoch on; the latter of the table, or of another.
Split split_rows(const Source& source, const Label& label, const TrainOptions& options,
                 const TrainControl& control) {
  if (source.rows != nullptr) return *source.rows;
  Rows rows = usable_rows(label, source.table, control);
  if (control.valid == nullptr) {
    return hold_out_share(std::move(rows), options.valid_fraction,
                          Random(options.seed).split(kSplitStream));
  }
  return {.train = std::move(rows), .valid = usable_rows(label, *control.valid, control)};
}

// All that follows from the settled options: the caller's are out of sight.
void fit(const Source& source, const Split& rows, const Table* valid, Prepared& p) {
  p.architecture = parse_architecture(p.options->architecture);
  fit_keypoints(keypoint_plan(p.options, p.architecture), source.table, rows.train,
                p.schema.features);
  encode_rows(source, valid, rows, p);
  scale_weights(p.train);
  scale_weights(p.valid);
  require_both_classes(p.train, p.schema, "training");
  if (p.options->class_weight == ClassWeight::balanced) balance_classes(p);
  fit_label(p.train, p.schema.label);
}

}  // namespace

Prepared prepare(const Source& source, const TrainOptions& options, const TrainControl& control) {
  validate(options);
  const Table& table = source.table;
  Schema schema{
      .features = {}, .label = build_label(table, options), .beside = side_columns(options)};
  if (options.class_weight == ClassWeight::balanced && schema.label.task == Task::regression)
    throw Error(ErrorKind::argument, "class_weight: balanced does not suit regression");
  const Split rows = split_rows(source, schema.label, options, control);
  require_rows(table, rows.train, options, "train on");
  if (!rows.valid.empty()) {
    require_rows(control.valid != nullptr ? *control.valid : table, rows.valid, options,
                 "choose the epoch on");
  }
  schema.features =
      build_features(table, options, rows.train, [&](const std::string& m) { warn(control, m); });
  Prepared p{.options = settle(options, schema.label, schema.features, rows.train.size()),
             .schema = std::move(schema),
             .valid_is_split_off = control.valid == nullptr && source.rows == nullptr,
             .finds_interactions = finds_interactions(options.architecture)};
  fit(source, rows, control.valid, p);
  warn_of_close_labels(p.schema.label, control);
  return p;
}

}  // namespace espalier
