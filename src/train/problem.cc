// SPDX-License-Identifier: Apache-2.0
#include "train/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/random.h"
#include "encode/column_options.h"
#include "encode/encode.h"
#include "encode/roles.h"
#include "encode/schema_builder.h"
#include "espalier/error.h"
#include "espalier/json.h"
#include "model/builder.h"
#include "objective/fit_label.h"
#include "objective/label.h"
#include "train/policy.h"
#include "train/presets.h"
#include "train/rank_rows.h"
#include "train/streams.h"
#include "train/trees.h"

namespace espalier {

namespace {

// None if this process is alone.
Ranks* ranks_of(const TrainControl& control) {
  return control.ranks != nullptr && control.ranks->size() > 1 ? control.ranks : nullptr;
}

void warn(const TrainControl& control, const std::string& message) {
  if (control.warning) control.warning(message);
}

// Those with a label and a weight above 0: a row of weight 0 and an absent row train the same
// model.
Rows usable_rows(const Label& label, const Table& table, const TrainOptions& options,
                 const TrainControl& control) {
  Rows weighted = weighted_rows(table, options.weight);
  const std::size_t all = weighted.size();
  Rows rows = labelled_rows(label, table, std::move(weighted));
  if (rows.size() < all) {
    warn(control,
         fmt::format("{}: {} rows without a label are left out", table.name, all - rows.size()));
  }
  return rows;
}

void require_two_classes(const Dataset& data, const Label& label) {
  if (label.task() != Task::classification) return;
  const auto [least, most] = std::minmax_element(data.labels.begin(), data.labels.end());
  if (*least != *most) return;
  throw Error(ErrorKind::data,
              fmt::format("the {} training rows have one class only, '{}'", data.num_rows,
                          label.classes[static_cast<std::size_t>(*most)]));
}

void warn_of_close_labels(const Label& label, const TrainControl& control) {
  // The distance of two floats beside the mean, about.
  const double step = std::abs(label.offsets.back()) * std::numeric_limits<float>::epsilon();
  if (label.task() == Task::classification || label.has_log_link() || label.scale > 16 * step)
    return;
  warn(
      control,
      fmt::format("label '{}': its values differ by about {:.3g} around {:.9g}, where predictions, "
                  "which are 32-bit floats, are {:.2g} apart; subtract a constant from the label",
                  label.name, label.scale, label.offsets.back(), step));
}

// Scales the weights so that all classes that are there weigh the same and the total stays.
void balance_classes(Problem& p) {
  std::vector<double> totals(p.schema.label.classes.size());
  const auto class_of = [&](std::size_t row) {
    return static_cast<std::size_t>(p.train.labels[row]);
  };
  for (std::size_t i = 0; i < p.train.num_rows; ++i) totals[class_of(i)] += p.train.weight(i);
  const double total = std::accumulate(totals.begin(), totals.end(), 0.0);
  const auto there = std::ranges::count_if(totals, [](double own) { return own > 0; });
  for (const double own : totals)
    p.class_scale.push_back(own > 0 ? static_cast<float>(total / (static_cast<double>(there) * own))
                                    : 1.0f);
  LargeVector<float>& weights = p.train.beside[Role::weight];
  weights.resize(p.train.num_rows, 1);
  for (std::size_t i = 0; i < p.train.num_rows; ++i) weights[i] *= p.class_scale[class_of(i)];
}

// The directions of columns, and of classes without an order what they promise.
Directions directions_of(const Table& table, const TrainOptions& options, Label& label) {
  const ColumnIndex columns(table);
  if (!label.has_many_classes()) return read_directions(table, columns, options);
  ClassDirections found = read_class_directions(table, columns, options, label.classes);
  label.promises = std::move(found.promises);
  return found.columns;
}

// The training rows and the validation rows as the network reads them, divided among the ranks. A
// table that is owned is empty afterwards.
void encode_rows(const Source& source, const RankRows& share, const Table* valid, const Split& rows,
                 Ranks* ranks, Problem& p) {
  const Rows none;
  const std::vector<const Rows*> lists = {&rows.train, valid == nullptr ? &rows.valid : &none};
  std::vector<Dataset> encoded = encode_labelled_and_free(
      p.schema, source.owned != nullptr ? std::move(*source.owned) : borrowed(source.table), share,
      lists);
  p.train = std::move(encoded[0]);
  p.valid =
      valid == nullptr ? std::move(encoded[1]) : encode_labelled(p.schema, *valid, rows.valid);
  complete_cells(ranks, p.valid);
  divide_cells(p.options->batch_size, source.many_rows, ranks, p.train);
}

void require_rows(const Table& table, const Rows& rows, const char* purpose) {
  if (rows.empty())
    throw Error(ErrorKind::data, fmt::format("{}: no row is left to {}", table.name, purpose));
}

// Scales the weights to a mean near 1, so that sums and products of floats neither overflow nor
// vanish. By a power of two: no digit of a weight changes. By the same one in all rows, because
// those that one network of an ensemble is trained on another holds out.
void scale_weights(Problem& p) {
  double total = 0, count = 0;
  const auto each = [&](auto&& visit) {
    for (Dataset* data : {&p.train, &p.valid}) {
      for (float& weight : data->beside[Role::weight]) visit(weight);
    }
  };
  each([&](float weight) { total += weight, ++count; });
  if (!(total > 0)) return;
  const int exponent = std::ilogb(total / count);
  each([&](float& weight) { weight = std::ldexp(weight, -exponent); });
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

// Trees are grown where the caller wants them, or leaves them open and the table can say what they
// are worth.
void settle_trees(const TrainOptions& options, Problem& p) {
  const std::string why_not = TreeLearner().obstacle(p);
  if (options.trees.value_or(0) > 0 && !why_not.empty())
    throw Error(ErrorKind::argument,
                fmt::format("trees: {}: {}; set trees to 0", options.trees.value(), why_not));
  p.open.mixing_weight = options.tree_share.is_open() && p.valid.num_rows > 0;
  if (options.trees.is_open() && why_not.empty() && p.valid.num_rows > 0 &&
      asks_the_data(options.architecture)) {
    TrainOptions settled = *p.options;
    settled.trees = kMaxTrees;
    p.options = SettledOptions(std::move(settled));
  }
}

// All that follows from the settled options: the caller's are out of sight.
void fit(const Source& source, const RankRows& share, const Split& rows,
         const TrainControl& control, Problem& p) {
  p.architecture = parse_architecture(p.options->architecture);
  fit_keypoints(keypoint_plan(p.options, p.architecture), source.table, share, rows.train,
                p.schema.features);
  encode_rows(source, share, control.valid, rows, ranks_of(control), p);
  scale_weights(p);
  require_two_classes(p.train, p.schema.label);
  if (p.options->class_weight == ClassWeight::balanced) balance_classes(p);
  fit_label(p.train, p.schema.label);
}

// The names of options that were settled to something else than the caller's.
std::vector<std::string> chosen_of(const TrainOptions& given, const TrainOptions& settled) {
  const Json before = Json::parse(to_json(given)), after = Json::parse(to_json(settled));
  std::vector<std::string> names;
  for (const auto& [name, value] : after.members()) {
    if (value != before[name]) names.push_back(name);
  }
  return names;
}

// Of a table whose columns beside the features are whole.
Problem pose_share(const Source& source, const RankRows& share, const TrainOptions& options,
                   const TrainControl& control) {
  const Table& table = source.table;
  Schema schema{
      .features = {}, .label = build_label(table, options), .beside = side_columns(options)};
  if (options.class_weight == ClassWeight::balanced && schema.label.task() == Task::regression)
    throw Error(ErrorKind::argument, "class_weight: balanced does not suit regression");
  const Split rows = split_rows(source, schema.label, options, control);
  require_rows(table, rows.train, "train on");
  schema.features =
      build_features(table, share, options, directions_of(table, options, schema.label), rows.train,
                     [&](const std::string& m) { warn(control, m); });
  const bool is_given = control.valid != nullptr || source.rows != nullptr;
  const Validation validation = rows.valid.empty() ? Validation::none
                                : is_given         ? Validation::given
                                                   : Validation::split_off;
  Problem p{
      .options = settle(options, schema.label, schema.features, rows.train.size(), validation),
      .schema = std::move(schema),
      .validation = validation,
      .open = {.pairs = asks_the_data(options.architecture)},
      .many_rows = source.many_rows};
  p.open.options = chosen_of(options, *p.options);
  fit(source, share, rows, control, p);
  settle_trees(options, p);
  warn_of_close_labels(p.schema.label, control);
  return p;
}

}  // namespace

Split split_rows(const Source& source, const Label& label, const TrainOptions& options,
                 const TrainControl& control) {
  if (source.rows != nullptr) return *source.rows;
  Rows rows = usable_rows(label, source.table, options, control);
  if (control.valid == nullptr) {
    return hold_out_share(std::move(rows), options.valid_fraction,
                          Random(options.seed).split(kSplitStream), source.many_rows);
  }
  return {.train = std::move(rows), .valid = usable_rows(label, *control.valid, options, control)};
}

Problem pose(const Source& source, const TrainOptions& options, const TrainControl& control) {
  validate(options);
  std::vector<std::string> in_full{options.label};
  for (const auto& [role, name] : side_columns(options)) in_full.push_back(name);
  Ranks* const ranks = ranks_of(control);
  if (ranks == nullptr) {
    Table unused{.num_rows = source.table.num_rows};
    const RankRows share = share_of(nullptr, source.many_rows, in_full, unused);
    return pose_share(source, share, options, control);
  }
  Table own = source.owned != nullptr ? std::move(*source.owned) : borrowed(source.table);
  const RankRows share = share_of(ranks, source.many_rows, in_full, own);
  return pose_share(
      {.table = own, .owned = &own, .rows = source.rows, .many_rows = source.many_rows}, share,
      options, control);
}

}  // namespace espalier
