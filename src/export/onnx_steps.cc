// SPDX-License-Identifier: Apache-2.0
// Shapes are written [rows][...]; constants have the shape without rows and spread over them.
#include "export/onnx_steps.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace espalier {

namespace {

using Value = OnnxGraph::Value;
using Type = OnnxGraph::Type;
using Integers = std::vector<std::int64_t>;

std::int64_t integer(std::size_t value) { return static_cast<std::int64_t>(value); }

// Tables one behind the other, within [1, 2], and the way back from there.
struct Tables {
  std::vector<float> values;
  Integers begins;
  std::vector<float> ranges, lows;

  template <class Table>
  void add(const Table& table, const WayBack& way) {
    begins.push_back(integer(values.size()));
    values.insert(values.end(), table.begin(), table.end());
    ranges.push_back(way.range);
    lows.push_back(way.low);
  }
};

// Trees as the operator has them: nodes by tree and number, the root first; a row goes on to the
// right if a column compares with a number as `mode` says.
class TreeTables {
 public:
  explicit TreeTables(const char* mode) : mode_(mode) {}

  void begin_tree() {
    ++tree_;
    next_ = 0;
  }

  /// Returns the place of the node, for set_next.
  std::size_t add_split(std::size_t column, float value) {
    add_node(integer(column), value, mode_);
    return nodes_.size() - 1;
  }
  void set_next(std::size_t place, std::int64_t left, std::int64_t right) {
    left_[place] = left;
    right_[place] = right;
  }
  std::int64_t number_of_next() const { return next_; }  // in its tree

  void add_leaf(float value) {
    leaf_trees_.push_back(tree_);
    leaf_nodes_.push_back(next_);
    leaves_.push_back(value);
    add_node(0, 0, "LEAF");
  }

  OnnxGraph::Attributes attributes() const {
    return {{"n_targets", tree_ + 1},        {"nodes_treeids", trees_},
            {"nodes_nodeids", nodes_},       {"nodes_featureids", columns_},
            {"nodes_values", values_},       {"nodes_modes", modes_},
            {"nodes_truenodeids", right_},   {"nodes_falsenodeids", left_},
            {"target_treeids", leaf_trees_}, {"target_nodeids", leaf_nodes_},
            {"target_ids", leaf_trees_},     {"target_weights", leaves_}};
  }

 private:
  void add_node(std::int64_t column, float value, const char* mode) {
    trees_.push_back(tree_);
    nodes_.push_back(next_++);
    columns_.push_back(column);
    values_.push_back(value);
    modes_.emplace_back(mode);
    right_.push_back(0);
    left_.push_back(0);
  }

  const char* mode_;
  std::int64_t tree_ = -1;
  std::int64_t next_ = 0;
  Integers trees_, nodes_, columns_, right_, left_, leaf_trees_, leaf_nodes_;
  std::vector<float> values_, leaves_;
  std::vector<std::string> modes_;
};

// What follows at a place of a tree. `split_at(place)` is its column, its number and what follows
// on both sides; `leaf_at(place)` is the value of a place below 0.
template <class SplitAt, class LeafAt>
void add_tree_from(TreeTables& tables, std::int32_t place, const SplitAt& split_at,
                   const LeafAt& leaf_at) {
  if (place < 0) return tables.add_leaf(leaf_at(place));
  const auto [column, value, left, right] = split_at(place);
  const std::size_t own = tables.add_split(column, value);
  const std::int64_t left_node = tables.number_of_next();
  add_tree_from(tables, left, split_at, leaf_at);
  const std::int64_t right_node = tables.number_of_next();
  add_tree_from(tables, right, split_at, leaf_at);
  tables.set_next(own, left_node, right_node);
}

// Column, number, left, right.
using OnnxSplit = std::tuple<std::size_t, float, std::int32_t, std::int32_t>;

class StepWriter {
 public:
  StepWriter(OnnxGraph& graph, Value in) : graph_(graph), in_(std::move(in)) {}

  const Value& result() const { return in_; }

  void add(const Step& step) {
    in_ = std::visit([&](const auto& own) { return write(own); }, step);
  }

 private:
  Value floats(const std::vector<float>& values) { return graph_.floats(values, {values.size()}); }
  Value scalar(float value) { return graph_.floats({&value, 1}, {}); }
  Value integers(const Integers& values) { return graph_.integers(values, {values.size()}); }
  Value add_to(const Value& a, const Value& b) { return graph_.apply("Add", {a, b}); }
  Value times(const Value& a, const Value& b) { return graph_.apply("Mul", {a, b}); }
  Value minus(const Value& a, const Value& b) { return graph_.apply("Sub", {a, b}); }
  // a + t * (b - a)
  Value between(const Value& t, const Value& a, const Value& b) {
    return add_to(a, times(t, minus(b, a)));
  }

  // From [1, 2] to the units of each table. y: [rows][tables].
  Value back(const Tables& tables, const Value& y) {
    return add_to(times(minus(y, scalar(1)), floats(tables.ranges)), floats(tables.lows));
  }

  // Entry `place` of each table, `t` of the way to the next one. place, t: [rows][tables] floats.
  Value interpolate(Tables tables, const Value& place, const Value& t) {
    tables.values.push_back(1);  // behind the last one, reached with t = 0
    const Value values = floats(tables.values);
    const Value index = add_to(graph_.cast(place, Type::int64), integers(tables.begins));
    const Value next = add_to(index, integers({1}));
    return back(tables, between(t, graph_.apply("Gather", {values, index}),
                                graph_.apply("Gather", {values, next})));
  }

  Value write(const CellStep& step) {
    std::vector<std::size_t> by_kind[4];
    for (std::size_t i = 0; i < step.cells.size(); ++i)
      by_kind[static_cast<std::size_t>(step.cells[i].kind)].push_back(i);
    std::vector<Value> parts;
    std::vector<std::size_t> order;  // wires as the parts have them
    for (const CellTable::Kind kind : {CellTable::Kind::position, CellTable::Kind::category,
                                       CellTable::Kind::grid, CellTable::Kind::pass}) {
      const std::vector<std::size_t>& wires = by_kind[static_cast<std::size_t>(kind)];
      if (wires.empty()) continue;
      order.insert(order.end(), wires.begin(), wires.end());
      const Value own = graph_.columns(in_, wires);
      parts.push_back(kind == CellTable::Kind::position   ? positions(step, wires, own)
                      : kind == CellTable::Kind::category ? categories(step, wires, own)
                      : kind == CellTable::Kind::grid     ? grids(step, wires, own)
                                                          : own);
    }
    const Value all = graph_.apply("Concat", parts, {{"axis", std::int64_t{1}}});
    if (std::is_sorted(order.begin(), order.end())) return all;
    std::vector<std::size_t> place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    return graph_.columns(all, place);
  }

  Value positions(const CellStep& step, const std::vector<std::size_t>& wires, const Value& x) {
    Tables tables;
    std::vector<float> ends, last_segments;
    for (const std::size_t wire : wires) {
      const CellTable& cell = step.cells[wire];
      tables.add(cell.table, cell.back);
      ends.push_back(static_cast<float>(cell.keypoints));
      last_segments.push_back(static_cast<float>(cell.keypoints - 2));
    }
    const Value missing = graph_.apply("Less", {x, scalar(0)});
    const Value k = graph_.apply("Min", {graph_.apply("Floor", {x}), floats(last_segments)});
    const Value place = graph_.apply("Where", {missing, floats(ends), k});
    const Value t = graph_.apply("Where", {missing, scalar(0), minus(x, k)});
    return interpolate(std::move(tables), place, t);
  }

  Value categories(const CellStep& step, const std::vector<std::size_t>& wires, const Value& x) {
    Tables tables;
    for (const std::size_t wire : wires) tables.add(step.cells[wire].table, step.cells[wire].back);
    const Value index = add_to(graph_.cast(x, Type::int64), integers(tables.begins));
    return back(tables, graph_.apply("Gather", {floats(tables.values), index}));
  }

  // Where whole steps p along a column of each grid lie: its last vertex below, and how far beyond.
  std::pair<Value, Value> along_grids(const Value& p, const std::vector<float>& step_sizes,
                                      const std::vector<float>& last_segments) {
    const Value x = times(graph_.cast(p, Type::float32), floats(step_sizes));  // exact
    const Value k = graph_.apply("Min", {graph_.apply("Floor", {x}), floats(last_segments)});
    return {graph_.cast(k, Type::int64), minus(x, k)};
  }

  Value grids(const CellStep& step, const std::vector<std::size_t>& wires, const Value& x) {
    Tables tables;
    Integers widths, columns;
    std::vector<float> step_sizes, last_rows, last_columns;
    for (const std::size_t wire : wires) {
      const CellTable& cell = step.cells[wire];
      tables.add(cell.table, cell.back);
      widths.push_back((cell.columns - 1) * cell.steps + 1);
      columns.push_back(cell.columns);
      step_sizes.push_back(1 / static_cast<float>(cell.steps));
      last_rows.push_back(static_cast<float>(cell.rows - 2));
      last_columns.push_back(static_cast<float>(cell.columns - 2));
    }
    const Value code = graph_.cast(x, Type::int64);
    const Value p = graph_.apply("Div", {code, integers(widths)});
    const Value q = minus(code, times(p, integers(widths)));
    const auto [k, t] = along_grids(p, step_sizes, last_rows);
    const auto [l, u] = along_grids(q, step_sizes, last_columns);
    const Value values = floats(tables.values);
    const Value at = add_to(add_to(times(k, integers(columns)), l), integers(tables.begins));
    Value ends[2];
    for (Value& end : ends) {
      const Value from = &end == ends ? at : add_to(at, integers(columns));
      end = between(u, graph_.apply("Gather", {values, from}),
                    graph_.apply("Gather", {values, add_to(from, integers({1}))}));
    }
    return back(tables, between(t, ends[0], ends[1]));
  }

  Value write(const CalibratorStep& step) {
    const auto keypoints = static_cast<std::size_t>(step.keypoints);
    const auto last = static_cast<float>(step.keypoints - 1);
    Tables tables;
    for (std::size_t u = 0; u < step.num_units; ++u)
      tables.add(std::span(step.tables).subspan(u * keypoints, keypoints),
                 {.low = step.low[u], .range = step.range[u]});
    const auto array = [&](const AlignedFloats& own) {
      return graph_.floats(std::span(own).first(step.num_units), {step.num_units});
    };
    const Value u = graph_.apply(
        "Clip",
        {times(minus(in_, array(step.lo)), array(step.inverse_step)), scalar(0), scalar(last)});
    const Value k = graph_.apply("Min", {graph_.apply("Floor", {u}), scalar(last - 1)});
    return interpolate(std::move(tables), k, minus(u, k));
  }

  Value write(const LinearStep& step) {
    const std::size_t num_outputs = step.num_outputs();
    Value sum = graph_.floats(step.bias, {num_outputs});
    if (!step.numbers.empty()) {
      std::vector<std::size_t> wires;
      std::vector<double> matrix(step.numbers.size() * num_outputs);  // [number][output]
      for (std::size_t n = 0; n < step.numbers.size(); ++n) {
        const LinearStep::Number& number = step.numbers[n];
        wires.push_back(number.wire);
        std::copy_n(step.weights.begin() + static_cast<std::ptrdiff_t>(number.weights),
                    number.end - number.begin,
                    matrix.begin() + static_cast<std::ptrdiff_t>(n * num_outputs + number.begin));
      }
      const Value weights = graph_.doubles(matrix, {wires.size(), num_outputs});
      const Value x = graph_.cast(graph_.columns(in_, wires), Type::float64);
      sum = graph_.cast(graph_.apply("Gemm", {x, weights, graph_.cast(sum, Type::float64)}),
                        Type::float32);
    }
    for (const LinearStep::Category& category : step.categories)
      sum = add_to(sum, picked(step, category));
    return sum;
  }

  // The weights that the code of a category picks.
  Value picked(const LinearStep& step, const LinearStep::Category& category) {
    const std::size_t stride = padded(step.category_width), num_outputs = step.num_outputs();
    const std::size_t num_codes = category.rows.size() / stride;
    std::vector<float> rows(num_codes * num_outputs);
    for (std::size_t c = 0; c < num_codes; ++c)
      std::copy_n(
          category.rows.begin() + static_cast<std::ptrdiff_t>(c * stride), step.category_width,
          rows.begin() + static_cast<std::ptrdiff_t>(c * num_outputs + step.category_begin));
    const Value codes = graph_.cast(wire(category.wire), Type::int64);
    return graph_.apply("Gather", {graph_.floats(rows, {num_codes, num_outputs}), codes});
  }

  // One wire, [rows].
  Value wire(std::size_t index) {
    const std::int64_t wires = integer(index);
    return graph_.apply("Gather", {in_, graph_.integers({&wires, 1}, {})},
                        {{"axis", std::int64_t{1}}});
  }

  // in_ as [rows][a][b].
  Value cut(const Value& value, std::size_t a, std::size_t b) {
    return graph_.apply("Reshape", {value, integers({0, integer(a), integer(b)})});
  }

  Value write(const LatticeStep& step) {
    const std::size_t count = step.num_outputs(), size = static_cast<std::size_t>(step.size);
    const Value x = cut(graph_.apply("Clip", {in_, scalar(0), scalar(1)}), count, size);
    Tables tables;
    for (std::size_t g = 0; g < count; ++g)
      tables.add(std::span(step.tables).subspan(g * step.num_vertices(), step.num_vertices()),
                 step.backs[g]);
    const Value y = step.interpolation == Interpolation::simplex ? simplex(step, tables, x)
                                                                 : multilinear(step, x);
    return back(tables, graph_.apply("Reshape", {y, integers({0, integer(count)})}));
  }

  // Vertices lie with bit 0 as the highest, so that each fold is of two halves.
  Value multilinear(const LatticeStep& step, const Value& x) {
    const std::size_t count = step.num_outputs(), vertices = step.num_vertices();
    const auto size = static_cast<std::size_t>(step.size);
    std::vector<float> left, rise;
    for (std::size_t g = 0; g < count; ++g) {
      const auto at = [&](std::size_t place) {
        std::size_t vertex = 0;
        for (std::size_t d = 0; d < size; ++d) vertex |= (place >> (size - 1 - d) & 1) << d;
        return step.tables[g * vertices + vertex];
      };
      for (std::size_t v = 0; v < vertices / 2; ++v) {
        left.push_back(at(v));
        rise.push_back(at(v + vertices / 2) - left.back());
      }
    }
    const std::vector<Value> inputs =
        graph_.apply_for(size, "Split", {x}, {{"axis", std::int64_t{2}}});
    Value y = add_to(graph_.floats(left, {count, vertices / 2}),
                     times(inputs[0], graph_.floats(rise, {count, vertices / 2})));
    for (std::size_t d = 1; d < size; ++d) {
      const std::vector<Value> halves =
          graph_.apply_for(2, "Split", {y}, {{"axis", std::int64_t{2}}});
      y = between(inputs[d], halves[0], halves[1]);
    }
    return y;
  }

  // With 1 >= x[p_1] >= x[p_2] >= ... >= 0: the sum of (x[p_i] - x[p_(i+1)]) * table[v_i].
  Value simplex(const LatticeStep& step, const Tables& tables, const Value& x) {
    const std::size_t count = step.num_outputs(), size = static_cast<std::size_t>(step.size);
    Integers bits;
    for (std::size_t d = 0; d < size; ++d) bits.push_back(std::int64_t{1} << d);
    const std::vector<Value> sorted = graph_.apply_for(2, "TopK", {x, integers({integer(size)})});
    const Value steps = graph_.apply("Gather", {integers(bits), sorted[1]});
    const std::int64_t axis = 2;
    const Value vertices = graph_.apply("CumSum", {steps, graph_.integers({&axis, 1}, {})});
    const Value first = integers({0, 0, 1, 0, 0, 0}), last = integers({0, 0, 0, 0, 0, 1});
    const Value index =
        add_to(graph_.apply("Pad", {vertices, first}), graph_.integers(tables.begins, {count, 1}));
    const Value from = graph_.apply("Pad", {sorted[0], first, scalar(1)});
    const Value to = graph_.apply("Pad", {sorted[0], last, scalar(0)});
    const Value values = graph_.apply("Gather", {floats(tables.values), index});
    return sum_along(2, times(minus(from, to), values));
  }

  Value sum_along(std::int64_t axis, const Value& value) {
    return graph_.apply("ReduceSum", {value, integers({axis})});
  }

  Value write(const GatherStep& step) { return graph_.columns(in_, step.wires); }

  Value write(const SumStep&) { return sum_along(1, in_); }

  Value write(const MinMaxStep& step) {
    const Value groups =
        cut(in_, static_cast<std::size_t>(step.groups), static_cast<std::size_t>(step.size));
    const Value least =
        graph_.apply("ReduceMin", {groups}, {{"axes", Integers{2}}, {"keepdims", std::int64_t{0}}});
    return graph_.apply("ReduceMax", {least}, {{"axes", Integers{1}}});
  }

  Value write(const TreeStep& step) {
    TreeTables tables("BRANCH_GT");
    for (const std::int32_t root : step.plan.roots) {
      tables.begin_tree();
      add_tree_from(
          tables, root,
          [&](std::int32_t at) {
            const TreeQuestion& own = step.plan.questions[static_cast<std::size_t>(at)];
            return OnnxSplit(static_cast<std::size_t>(own.wire), own.above, own.next[0],
                             own.next[1]);
          },
          [&](std::int32_t at) { return step.leaves[static_cast<std::size_t>(~at)]; });
    }
    return graph_.apply("TreeEnsembleRegressor", {in_}, tables.attributes());
  }

  // Splits read columns of their own: a number as it is, or with missing values above all others,
  // or whether a category is in a set.
  Value write(const ForestStep& step) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> sets;  // input and set: column
    std::map<std::uint32_t, std::size_t> plain, missing_high;
    std::vector<Value> columns;
    const auto column_of = [&](const DecisionSplit& split) {
      const ForestStep::Input& input = step.inputs[split.feature];
      const auto add_column = [&](auto& known, const auto& key, const auto& make) {
        const auto [at, is_new] = known.try_emplace(key, columns.size());
        if (is_new) columns.push_back(make(graph_.columns(in_, {split.feature})));
        return at->second;
      };
      if (input.num_codes > 0) {
        return add_column(sets, std::pair(split.feature, split.set), [&](const Value& code) {
          std::vector<float> is_in;
          for (int c = 0; c < input.num_codes; ++c)
            is_in.push_back(step.forest.has(split.set, static_cast<std::size_t>(c)) ? 1 : 0);
          return graph_.apply("Gather", {floats(is_in), graph_.cast(code, Type::int64)});
        });
      }
      if (!split.missing_right)
        return add_column(plain, split.feature, [](const Value& x) { return x; });
      return add_column(missing_high, split.feature, [&](const Value& x) {
        const Value high = scalar(static_cast<float>(input.keypoints));
        return graph_.apply("Where", {graph_.apply("Less", {x, scalar(0)}), high, x});
      });
    };
    TreeTables tables("BRANCH_GTE");
    for (const DecisionTree& tree : step.forest.trees) {
      tables.begin_tree();
      add_tree_from(
          tables, tree.splits.empty() ? ~0 : 0,
          [&](std::int32_t at) {
            const DecisionSplit& own = tree.splits[static_cast<std::size_t>(at)];
            const bool is_category = step.inputs[own.feature].num_codes > 0;
            return OnnxSplit(column_of(own), is_category ? 0.5f : own.threshold, own.next[0],
                             own.next[1]);
          },
          [&](std::int32_t at) { return tree.leaves[static_cast<std::size_t>(~at)]; });
    }
    if (columns.empty()) columns.push_back(graph_.columns(in_, {0}));
    const Value read = graph_.apply("Concat", columns, {{"axis", std::int64_t{1}}});
    return sum_along(1, graph_.apply("TreeEnsembleRegressor", {read}, tables.attributes()));
  }

  Value write(const ReluStep&) { return graph_.apply("Relu", {in_}); }

  OnnxGraph& graph_;
  Value in_;
};

}  // namespace

// In double, as the program does, so that positions have its bits.
OnnxGraph::Value encode_numbers(OnnxGraph& graph, const OnnxGraph::Value& raw,
                                const std::vector<const NumberCell*>& cells) {
  const std::size_t count = cells.size();
  std::size_t most = 1;  // keypoints between the first and the last, and one that is never reached
  for (const NumberCell* cell : cells) most = std::max(most, cell->keypoints.size() - 1);
  std::vector<double> keypoints, lowest, highest, sign, shift;
  std::vector<double> inner(count * most, std::numeric_limits<double>::infinity());
  std::vector<float> missing;
  Integers begins;
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<float>& own = cells[i]->keypoints;
    begins.push_back(integer(keypoints.size()));
    keypoints.insert(keypoints.end(), own.begin(), own.end());
    std::copy(own.begin() + 1, own.end() - 1,
              inner.begin() + static_cast<std::ptrdiff_t>(i * most));
    lowest.push_back(own.front());
    highest.push_back(own.back());
    sign.push_back(cells[i]->reversed ? -1 : 1);
    shift.push_back(cells[i]->reversed ? static_cast<double>(own.size() - 1) : 0);
    missing.push_back(cells[i]->missing);
  }
  const auto row = [&](const std::vector<double>& values) {
    return graph.doubles(values, {values.size()});
  };
  const Integers one = {1}, two = {2};
  const Value is_missing = graph.apply("IsNaN", {raw});
  const Value known =
      graph.apply("Where", {is_missing, row(lowest), graph.cast(raw, Type::float64)});
  const Value x = graph.apply("Min", {graph.apply("Max", {known, row(lowest)}), row(highest)});
  const Value reached =
      graph.apply("GreaterOrEqual", {graph.apply("Unsqueeze", {x, graph.integers(two, {1})}),
                                     graph.doubles(inner, {count, most})});
  const Value k =
      graph.apply("ReduceSum", {graph.cast(reached, Type::int64), graph.integers(two, {1})},
                  {{"keepdims", std::int64_t{0}}});
  const Value index = graph.apply("Add", {k, graph.integers(begins, {count})});
  const Value lo = graph.apply("Gather", {row(keypoints), index});
  const Value hi = graph.apply(
      "Gather", {row(keypoints), graph.apply("Add", {index, graph.integers(one, {1})})});
  const Value t = graph.apply("Div", {graph.apply("Sub", {x, lo}), graph.apply("Sub", {hi, lo})});
  const Value position = graph.apply("Add", {graph.cast(k, Type::float64), t});
  const Value reversed =
      graph.apply("Add", {graph.apply("Mul", {position, row(sign)}), row(shift)});
  return graph.apply(
      "Where", {is_missing, graph.floats(missing, {count}), graph.cast(reversed, Type::float32)});
}

OnnxGraph::Value encode_pair(OnnxGraph& graph, const OnnxGraph::Value& features,
                             const PairCell& pair) {
  const Integers columns = {1};
  const auto bin = [&](std::size_t cell, const std::vector<float>& edges) {
    const Value reached = graph.apply("GreaterOrEqual", {graph.columns(features, {cell}),
                                                         graph.floats(edges, {1, edges.size()})});
    return graph.apply("ReduceSum",
                       {graph.cast(reached, Type::int64), graph.integers(columns, {1})});
  };
  const Integers width = {integer(pair.second_edges.size() + 1)};
  const Value row =
      graph.apply("Mul", {bin(pair.first, pair.first_edges), graph.integers(width, {1})});
  const Value cell = graph.apply("Add", {row, bin(pair.second, pair.second_edges)});
  if (pair.codes.empty()) return graph.cast(cell, Type::float32);
  const std::vector<float> codes(pair.codes.begin(), pair.codes.end());
  return graph.apply("Gather", {graph.floats(codes, {codes.size()}), cell});
}

OnnxGraph::Value add_member(OnnxGraph& graph, const std::vector<Step>& steps,
                            const OnnxGraph::Value& encoded) {
  StepWriter writer(graph, encoded);
  for (const Step& step : steps) writer.add(step);
  return writer.result();
}

}  // namespace espalier
