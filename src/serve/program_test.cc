// SPDX-License-Identifier: Apache-2.0
// The formulas of program.h, done one by one as an export would do them, give the bits of the
// interpreter.
#include "serve/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "core/math.h"
#include "serve/compile.h"
#include "serve/interpreter.h"
#include "serve/lane_order.h"
#include "support/bits_of.h"
#include "support/effort.h"
#include "support/random_model.h"

namespace espalier {
namespace {

using Wires = std::vector<float>;

float encode(const NumberCell& cell, float x) {
  if (std::isnan(x)) return cell.missing;
  const std::vector<float>& keypoints = cell.keypoints;
  x = std::min(std::max(x, keypoints.front()), keypoints.back());
  std::size_t k = 0;
  while (k + 2 < keypoints.size() && keypoints[k + 1] <= x) ++k;
  const double lo = keypoints[k], hi = keypoints[k + 1];
  const double position = static_cast<double>(k) + (x - lo) / (hi - lo);
  const double last = static_cast<double>(keypoints.size()) - 1;
  return static_cast<float>(cell.reversed ? last - position : position);
}

float encode(const CategoryCell& cell, float x) {
  if (std::isnan(x)) return static_cast<float>(cell.missing);
  for (int code = 0; code < cell.num_categories; ++code) {
    if (x == static_cast<float>(code)) return x;
  }
  return static_cast<float>(cell.num_categories);
}

float encode(const PairCell& pair, const Wires& encoded) {
  const auto below = [](const Wires& edges, float x) {
    return static_cast<std::size_t>(
        std::count_if(edges.begin(), edges.end(), [x](float edge) { return edge <= x; }));
  };
  const std::size_t i = below(pair.first_edges, encoded.at(pair.first));
  const std::size_t j = below(pair.second_edges, encoded.at(pair.second));
  const std::size_t cell = i * (pair.second_edges.size() + 1) + j;
  return static_cast<float>(pair.codes.empty() ? cell
                                               : static_cast<std::size_t>(pair.codes.at(cell)));
}

float way_back(WayBack back, float y) { return std::fma(back.range, y - 1, back.low); }

// `u` in [0, last].
float read_table(const float* table, int last, float u) {
  const int k = std::min(static_cast<int>(u), last - 1);
  return std::fma(u - static_cast<float>(k), table[k + 1] - table[k], table[k]);
}

// x in whole steps of a grid's column: where it lies and how far to the next vertex.
std::pair<std::size_t, float> along(std::size_t x, int steps, int vertices) {
  const float u = static_cast<float>(x) / static_cast<float>(steps);
  const float k = std::min(std::floor(u), static_cast<float>(vertices - 2));
  return {static_cast<std::size_t>(k), u - k};
}

float read_grid(const CellTable& cell, std::size_t code) {
  const auto width = static_cast<std::size_t>((cell.columns - 1) * cell.steps + 1);
  const auto [k, t] = along(code / width, cell.steps, cell.rows);
  const auto [l, u] = along(code % width, cell.steps, cell.columns);
  const auto columns = static_cast<std::size_t>(cell.columns);
  float ends[2];
  for (const std::size_t row : {0, 1}) {
    const float left = cell.table.at((k + row) * columns + l);
    ends[row] = std::fma(u, cell.table.at((k + row) * columns + l + 1) - left, left);
  }
  return std::fma(t, ends[1] - ends[0], ends[0]);
}

float table_at(const CellTable& cell, float x) {
  const std::vector<float>& table = cell.table;
  if (cell.kind == CellTable::Kind::pass) return x;
  if (cell.kind == CellTable::Kind::grid)
    return way_back(cell.back, read_grid(cell, static_cast<std::size_t>(x)));
  if (cell.kind == CellTable::Kind::category)
    return way_back(cell.back, table.at(static_cast<std::size_t>(x)));
  if (x < 0) return way_back(cell.back, table.at(static_cast<std::size_t>(cell.keypoints)));
  return way_back(cell.back, read_table(table.data(), cell.keypoints - 1, x));
}

Wires run(const CellStep& step, const Wires& in) {
  Wires out;
  for (std::size_t i = 0; i < in.size(); ++i) out.push_back(table_at(step.cells.at(i), in[i]));
  return out;
}

Wires run(const CalibratorStep& step, const Wires& in) {
  Wires out;
  const int last = step.keypoints - 1;
  for (std::size_t i = 0; i < step.num_units; ++i) {
    const float u = std::min(std::max((in.at(i) - step.lo[i]) * step.inverse_step[i], 0.0f),
                             static_cast<float>(last));
    const float* table = step.tables.data() + i * static_cast<std::size_t>(step.keypoints);
    out.push_back(way_back({step.low[i], step.range[i]}, read_table(table, last, u)));
  }
  return out;
}

Wires run(const LinearStep& step, const Wires& in) {
  Wires out(step.bias.begin(), step.bias.end());
  for (const LinearStep::Category& category : step.categories) {
    const auto code = static_cast<std::size_t>(in.at(category.wire));
    for (std::size_t i = 0; i < step.category_width; ++i)
      out.at(step.category_begin + i) += category.rows.at(code * padded(step.category_width) + i);
  }
  for (const LinearStep::Number& number : step.numbers) {
    for (std::size_t i = number.begin; i < number.end; ++i) {
      const float weight = step.weights.at(number.weights + i - number.begin);
      out.at(i) = std::fma(weight, in.at(number.wire), out.at(i));
    }
  }
  return out;
}

float fold(Wires table, const Wires& x) {
  for (const float own : x) {
    for (std::size_t v = 0; v < table.size() / 2; ++v)
      table[v] = std::fma(own, table[2 * v + 1] - table[2 * v], table[2 * v]);
    table.resize(table.size() / 2);
  }
  return table.at(0);
}

float simplex(const Wires& table, const Wires& x) {
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return x[a] > x[b]; });
  double sum = table.at(0);
  std::size_t vertex = 0;
  for (const std::size_t d : order) {
    const double before = table.at(vertex);
    vertex += std::size_t{1} << d;
    sum += static_cast<double>((1 + x[d]) - 1) * (table.at(vertex) - before);
  }
  return static_cast<float>(sum);
}

Wires run(const LatticeStep& step, const Wires& in) {
  Wires out;
  const auto size = static_cast<std::size_t>(step.size);
  for (std::size_t g = 0; g < step.backs.size(); ++g) {
    Wires x(in.begin() + static_cast<std::ptrdiff_t>(g * size),
            in.begin() + static_cast<std::ptrdiff_t>((g + 1) * size));
    for (float& own : x) own = std::min(std::max(own, 0.0f), 1.0f);
    const float* table = step.tables.data() + g * step.num_vertices();
    const Wires own(table, table + step.num_vertices());
    const bool folds = step.interpolation == Interpolation::multilinear;
    out.push_back(way_back(step.backs[g], folds ? fold(own, x) : simplex(own, x)));
  }
  return out;
}

Wires run(const GatherStep& step, const Wires& in) {
  Wires out;
  for (const std::size_t wire : step.wires) out.push_back(in.at(wire));
  return out;
}

Wires run(const SumStep& step, const Wires& in) {
  EXPECT_EQ(step.num_inputs, in.size());
  return {std::accumulate(in.begin(), in.end(), 0.0f)};
}

Wires run(const MinMaxStep& step, const Wires& in) {
  float most = -INFINITY;
  auto group = in.begin();
  for (int g = 0; g < step.groups; ++g, group += step.size)
    most = std::max(most, *std::min_element(group, group + step.size));
  return {most};
}

Wires run(const ReluStep& step, const Wires& in) {
  EXPECT_EQ(step.num_wires, in.size());
  Wires out;
  for (const float x : in) out.push_back(std::max(x, 0.0f));
  return out;
}

float leaf_of(const TreeStep& step, std::int32_t at, const Wires& in) {
  if (at < 0) return step.leaves.at(static_cast<std::size_t>(-1 - at));
  const TreeQuestion& question = step.plan.questions.at(static_cast<std::size_t>(at));
  const bool is_above = in.at(static_cast<std::size_t>(question.wire)) > question.above;
  return leaf_of(step, question.next[is_above ? 1 : 0], in);
}

Wires run(const TreeStep& step, const Wires& in) {
  Wires out;
  for (const std::int32_t root : step.plan.roots) out.push_back(leaf_of(step, root, in));
  return out;
}

Wires run(const ForestStep& step, const Wires& in) {
  EXPECT_EQ(step.inputs.size(), in.size());
  float sum = 0;
  for (const DecisionTree& tree : step.forest.trees) {
    std::int32_t at = tree.splits.empty() ? -1 : 0;
    while (at >= 0) {
      const DecisionSplit& split = tree.splits.at(static_cast<std::size_t>(at));
      const float x = in.at(split.feature);
      const auto code = static_cast<std::size_t>(std::max(x, 0.0f));
      const bool right = step.inputs.at(split.feature).num_codes > 0
                             ? (step.forest.sets.at(split.set + code / 32) >> code % 32 & 1) != 0
                         : x < 0 ? split.missing_right
                                 : x >= split.threshold;
      at = split.next[right ? 1 : 0];
    }
    sum += tree.leaves.at(static_cast<std::size_t>(-1 - at));
  }
  return {sum};
}

float linked(const Program& program, float score, float exposure) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  switch (program.link) {
    case Link::identity:
    case Link::softmax:  // not of random models
    case Link::promised_softmax:
      break;
    case Link::sigmoid:
      return static_cast<float>(1 / (1 + portable_exp(-static_cast<double>(score))));
    case Link::exponential: {
      const auto mean = static_cast<float>(std::min<double>(portable_exp(score), kLargest));
      return std::min(std::min(mean * program.unit, kLargest) * exposure, kLargest);
    }
  }
  return score;
}

Wires run_steps(const std::vector<Step>& steps, Wires wires) {
  for (const Step& step : steps) {
    wires = std::visit([&](const auto& own) { return run(own, wires); }, step);
    const std::size_t wanted = std::visit([](const auto& own) { return own.num_outputs(); }, step);
    EXPECT_EQ(wires.size(), wanted);
  }
  return wires;
}

// One row, as program.h tells it.
Wires run_by_hand(const Program& program, const float* row, Output output) {
  Wires encoded;
  for (const Cell& cell : program.cells)
    encoded.push_back(std::visit([&](const auto& own) { return encode(own, *row++); }, cell));
  for (const PairCell& pair : program.pairs) encoded.push_back(encode(pair, encoded));
  constexpr float kLargest = std::numeric_limits<float>::max();
  const float raw_exposure = program.has_exposure ? *row++ : 1;
  const float exposure =
      std::isnan(raw_exposure) ? 1 : std::min(std::max(0.0f, raw_exposure), kLargest);
  const float raw_offset = program.has_offset ? *row++ : 0;
  const double offset =
      std::isnan(raw_offset) ? 0 : std::min(std::max(-kLargest, raw_offset), kLargest);
  std::vector<double> sums(program.num_scores());
  double total = 0;
  for (std::size_t m = 0; m < program.members.size(); ++m) {
    const std::vector<Step>& steps = program.members[m];
    const double weight = program.weights[m];
    total += weight;
    if (program.levels.empty()) {
      const Wires wires = run_steps(steps, encoded);
      EXPECT_EQ(wires.size(), program.num_scores());
      for (std::size_t s = 0; s < sums.size(); ++s) sums[s] += weight * wires.at(s);
    }
    for (std::size_t level = 0; level < program.levels.size(); ++level) {
      Wires with_level = encoded;
      with_level.push_back(program.levels[level]);
      sums[level] += weight * run_steps(steps, with_level).at(0);
    }
  }
  Wires result;
  for (std::size_t s = 0; s < sums.size(); ++s) {
    const double mean = sums[s] / total;
    const ScoreUnits& units = program.scores[s];
    const auto score = static_cast<float>(units.offset + units.scale * mean + offset);
    result.push_back(output == Output::score ? score : linked(program, score, exposure));
  }
  return result;
}

// Rows in one go and one by one, scores and predictions.
void expect_bits_by_hand(const Program& program, const Wires& rows, const std::string& name) {
  const Interpreter interpreter(program);
  const std::size_t width = interpreter.num_raw(), num_scores = interpreter.num_scores();
  const std::size_t count = rows.size() / width;
  AlignedFloats scratch(interpreter.scratch_size());
  for (const Output output : {Output::score, Output::prediction}) {
    Wires wanted, many(count * num_scores), single(count * num_scores);
    for (std::size_t r = 0; r < count; ++r) {
      const float* row = rows.data() + r * width;
      const Wires scores = run_by_hand(program, row, output);
      wanted.insert(wanted.end(), scores.begin(), scores.end());
      interpreter.run(row, 1, output, scratch.data(), single.data() + r * num_scores);
    }
    interpreter.run(rows.data(), count, output, scratch.data(), many.data());
    ASSERT_EQ(bits_of(many), bits_of(wanted)) << name;
    ASSERT_EQ(bits_of(single), bits_of(wanted)) << name << ", row by row";
  }
}

TEST(Program, ItsFormulasGiveTheBitsOfTheInterpreter) {
  for (std::uint64_t seed = 1; seed <= effort(150u, 30u); ++seed) {
    Random random(seed);
    const Model model = random_model(random);
    Program program = compile(model);
    for (float& weight : program.weights) {
      if (seed % 2 == 0) weight = static_cast<float>(0.01 + random.uniform());
    }
    expect_bits_by_hand(program, random_rows(model.schema(), 100, random), model.architecture());
  }
}

// Every member up to its first embedding: one score per output, each with units of its own.
TEST(Program, SeveralScoresLieRowAfterRow) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    const Model model = random_one_score_model(random);
    Program program = compile(model);
    std::size_t num_scores = 1000;
    std::erase_if(program.members, [](const std::vector<Step>& steps) {  // trees embed nothing
      return steps.size() == 1 || std::holds_alternative<GatherStep>(steps.front());
    });
    program.weights.resize(program.members.size());
    for (std::vector<Step>& steps : program.members) {
      ASSERT_TRUE(std::holds_alternative<LinearStep>(steps[1]));
      steps.resize(2);
      num_scores = std::min(num_scores, std::get<LinearStep>(steps[1]).num_outputs());
    }
    program.scores.clear();
    GatherStep first_wires;  // members differ in width
    for (std::size_t s = 0; s < num_scores; ++s) {
      program.scores.push_back({.offset = random.normal(), .scale = 0.1 + random.uniform()});
      first_wires.wires.push_back(s);
    }
    for (std::vector<Step>& steps : program.members) steps.push_back(first_wires);
    expect_bits_by_hand(program, random_rows(model.schema(), 70, random), model.architecture());
  }
}

// Lattices in numbers on both sides of a block of 16, and embeddings whose sums are -0.
TEST(Program, ManyLatticesGiveTheBitsOfTheFormulas) {
  for (std::uint64_t seed = 1; seed <= effort(60u, 12u); ++seed) {
    Random random(seed);
    const auto lattices = 14 + random.below(24), size = 1 + random.below(6);
    const std::string block = fmt::format(
        " lin({}{}) cal({}{}) lat({}x{})", lattices * size, random.uniform() < 0.5 ? ",split" : "",
        2 + random.below(9), random.uniform() < 0.5 ? ",0:1" : "", lattices, size);
    const Schema schema = random_schema(random);
    const std::string text = "cal(5)" + block + (seed % 4 == 0 ? block : "") + " cal(4) lin(1)";
    auto data = std::make_shared<ModelData>();
    data->schema = schema;
    data->members.push_back(
        random_network(schema, data->calibrators, text, random.split(1), random));
    Program program = compile(Model(std::move(data)));
    auto& linear = std::get<LinearStep>(program.members[0][1]);
    if (seed % 3 == 0) {
      std::fill(linear.bias.begin(), linear.bias.end(), -0.0f);
      std::fill(linear.weights.begin(), linear.weights.end(), -0.0f);
      for (LinearStep::Category& category : linear.categories)
        std::fill(category.rows.begin(), category.rows.end(), -0.0f);
    }
    EXPECT_EQ(in_lane_order(program.members[0]).has_value(), lattices >= 16);
    expect_bits_by_hand(program, random_rows(schema, 80, random), text);
  }
}

// More words than a set has bits in one place, several tables for each column, a table that
// questions compare with several numbers, and trees without a question.
TEST(Program, TreesThatAskForWordsGiveTheBitsOfTheFormulas) {
  for (std::uint64_t seed = 1; seed <= effort(60u, 12u); ++seed) {
    Random random(seed);
    Schema schema = random_schema(random);
    for (const std::size_t words : {63, 64, 65, 200}) {
      Feature feature{.name = fmt::format("words{}", words), .kind = FeatureKind::category};
      for (std::size_t w = 0; w < words; ++w) feature.categories.push_back(fmt::format("w{}", w));
      feature.shares = std::vector<float>(words, 1.0f / static_cast<float>(words));
      schema.features.push_back(std::move(feature));
    }
    schema.pairs.clear();
    const std::size_t num_features = schema.features.size(), tables = 30;
    std::vector<std::size_t> readings;
    for (std::size_t i = 0; i < tables; ++i)
      readings.push_back(num_features - 1 - i % std::min<std::size_t>(num_features, 6));
    std::vector<std::string> trees = {"_"};
    for (int g = 0; g < 20; ++g) trees.push_back(random_tree(tables, 6, random));
    const std::string text = fmt::format("gather({}) cal(2) tree({}) sum", fmt::join(readings, ","),
                                         fmt::join(trees, ","));
    auto data = std::make_shared<ModelData>();
    data->schema = schema;
    data->members.push_back(
        random_network(schema, data->calibrators, text, random.split(1), random));
    data->members.push_back(random_network(
        schema, data->calibrators, "gather(0) cal(2) tree(_,_) sum", random.split(2), random));
    expect_bits_by_hand(compile(Model(std::move(data))), random_rows(schema, 150, random), text);
  }
}

TEST(Program, IsAValueWithoutTheModel) {
  Random random(7);
  Wires rows;
  std::string name;
  const Program copy = [&] {
    const Model model = random_model(random);
    rows = random_rows(model.schema(), 100, random);
    name = model.architecture();
    const Program program = compile(model);
    return Program(program);
  }();
  expect_bits_by_hand(copy, rows, name);
}

}  // namespace
}  // namespace espalier
