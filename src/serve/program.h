// SPDX-License-Identifier: Apache-2.0
// The serving program: all that a Predictor computes, as plain values. compile.h makes it of a
// model, interpreter.h runs it, exports print it; all must do the operations below in their order,
// and then give the same bits. docs/monotonicity.md has the proof that no result falls.
//
// Numbers are floats unless a formula says double; every operation rounds to nearest and keeps
// subnormal numbers (core/default_floats.h), and fma(a, b, c) rounds a * b + c once. A row goes
// this way:
//
//   encode      each raw cell becomes a position or a code: NumberCell, CategoryCell; behind them
//               pairs of encoded cells become whole numbers: PairCell. A raw row may go on with its
//               exposure and its offset, which are no inputs of the networks
//   levels      with levels, what follows is done for each of them, and the position of the level
//               is one more encoded cell, the last; each gives one score. Else all are given at
//               once
//   members     each runs its steps in turn on the encoded cells; a step reads the wires (the
//               values) of the step before it, and the last one leaves a wire per score
//   mean        of score s, in double: (0 + weight 0 * member 0 + weight 1 * member 1 + ...) /
//               (0 + weight 0 + weight 1 + ...); weights are floats, so each product is exact
//   score       float(offset + scale * mean + the row's offset), in double from left to right,
//               rounded once: ScoreUnits, scale > 0
//   prediction  of the scores, by the link: objective/link.h, which also says what any float counts
//   as
//               that stands for the row's exposure or offset
//
// The values of a table (a calibrator or a lattice) are stored within [1, 2], where b - a is exact
// and fma(t, b - a, a) rises with t, a and b. A result y in [1, 2] then goes the way back to the
// units of the table: fma(range, y - 1, low).
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <variant>
#include <vector>

#include "core/aligned.h"
#include "espalier/architecture.h"
#include "layers/cell_table.h"
#include "layers/tree_plan.h"
#include "model/forest.h"
#include "objective/link.h"

namespace espalier {

/// A number, or an ordered word by its index, as its position among the keypoints.
///
///   NaN    missing
///   x      clipped to [keypoints.front(), keypoints.back()]; k is the last keypoint but one at
///          most with keypoints[k] <= x; in double
///          position = k + (x - keypoints[k]) / max(keypoints[k + 1] - keypoints[k], 2^-149),
///          or last - position if turned, where last = keypoints.size() - 1; rounded to float once
struct NumberCell {
  std::vector<float> keypoints;  // strictly increasing, at least two
  bool reversed = false;         // a decreasing feature: all monotone wires rise
  float missing = 0;             // the position of a missing cell; negative: its table knows it
};

/// A category by the code of its word: NaN is `missing`; a whole number in [0, num_categories) is
/// itself; anything else is unseen, num_categories.
struct CategoryCell {
  int num_categories = 0;
  int missing = 0;
};

using Cell = std::variant<NumberCell, CategoryCell>;

/// A whole number that is made of two encoded cells: i * (second_edges.size() + 1) + j, or what
/// stands there in `codes` if that is not empty, where i is the number of first_edges that are <=
/// the cell `first`, and j that of second_edges that are <= the cell `second`.
struct PairCell {
  std::size_t first = 0;  // of Program::cells
  std::size_t second = 0;
  std::vector<float> first_edges;  // strictly increasing
  std::vector<float> second_edges;
  std::vector<std::int32_t> codes;
};

/// The first calibrators: wire i is cell i through its table.
struct CellStep {
  std::vector<CellTable> cells;

  std::size_t num_outputs() const { return cells.size(); }
};

/// Calibrators with uniform keypoints, one per wire:
///
///   u = min(max((x - lo) * inverse_step, 0), last), last = keypoints - 1
///   k = min(floor(u), last - 1), y = fma(u - k, table[k + 1] - table[k], table[k]), the way back
///
/// Arrays have an entry per unit and are padded with zeros to whole blocks of 16.
struct CalibratorStep {
  std::size_t num_units = 0;
  int keypoints = 2;
  AlignedFloats lo;
  AlignedFloats inverse_step;
  AlignedFloats tables;  // [unit][keypoints]
  AlignedFloats low;     // the way back
  AlignedFloats range;

  std::size_t num_outputs() const { return num_units; }
};

/// The linear embedding. Output i starts at bias[i]; then each category adds, in order, the weight
/// that its code picks, sum + weight; then each number that reaches i adds, in order,
/// fma(weight, x, sum).
struct LinearStep {
  struct Category {
    std::size_t wire;
    AlignedFloats rows;  // [words, then unseen][padded(category_width)]
  };
  struct Number {
    std::size_t wire;
    std::size_t begin;  // it reaches the outputs [begin, end)
    std::size_t end;
    std::size_t weights;  // where in `weights` that of output `begin` lies; the others follow
  };
  AlignedFloats bias;
  /// All categories reach the outputs [category_begin, category_begin + category_width).
  std::size_t category_begin = 0;
  std::size_t category_width = 0;
  std::vector<Category> categories;
  std::vector<Number> numbers;
  AlignedFloats weights;

  std::size_t num_outputs() const { return bias.size(); }
};

/// Lattices: number g reads the wires g * size ... g * size + size - 1, each clipped to [0, 1]. Bit
/// d of a vertex is its place along input d.
///
///   multilinear  folded along one input after the other, input 0 first, until one value is left:
///                table[v] = fma(x[d], table[2 v + 1] - table[2 v], table[2 v])
///   simplex      x becomes (1 + x) - 1, a multiple of 2^-23; then, in double,
///                table[0] + sum over i of x[p_i] * (table[v_i] - table[v_{i-1}]), x[p_1] >= x[p_2]
///                >= ..., v_0 = 0, v_i = v_{i-1} + 2^{p_i}. Every partial sum is exact, so the
///                order of equal x does not matter; rounded to float once
///
/// and the way back.
struct LatticeStep {
  int size = 1;
  Interpolation interpolation = Interpolation::multilinear;
  std::vector<float> tables;  // [lattice][2^size]
  std::vector<WayBack> backs;

  std::size_t num_vertices() const { return std::size_t{1} << size; }
  std::size_t num_outputs() const { return backs.size(); }
};

/// Output i is wire wires[i].
struct GatherStep {
  std::vector<std::size_t> wires;

  std::size_t num_outputs() const { return wires.size(); }
};

/// One output: 0 + wire 0 + wire 1 + ...
struct SumStep {
  std::size_t num_inputs = 0;

  std::size_t num_outputs() const { return 1; }
};

/// One output: the largest over the groups of the least of the group's `size` wires.
struct MinMaxStep {
  int groups = 1;
  int size = 1;

  std::size_t num_outputs() const { return 1; }
};

/// Output i is max(wire i, 0).
struct ReluStep {
  std::size_t num_wires = 0;

  std::size_t num_outputs() const { return num_wires; }
};

/// One output: 0 + the leaf of tree 0 + the leaf of tree 1 + ... Splits read encoded cells: of a
/// number or a level those at or above the threshold go right, and of those below 0, which are
/// missing, all or none; of a category those whose code is in the set. Of the two sides of a split
/// either may be read first.
struct ForestStep {
  struct Input {
    int num_codes = 0;  // of a category, unseen among them; else 0
    int keypoints = 0;  // of a number, or how many levels there are
  };
  std::vector<Input> inputs;  // all of a member
  DecisionForest forest;

  std::size_t num_outputs() const { return 1; }
};

/// Output g is the value of the leaf to which tree g leads: from roots[g] on, question q goes on to
/// questions[q].next[1] if its wire > above and else to next[0], and -1 - i is leaf i.
struct TreeStep {
  TreePlan plan;
  std::vector<float> leaves;

  std::size_t num_outputs() const { return plan.roots.size(); }
};

using Step = std::variant<CellStep, CalibratorStep, LinearStep, LatticeStep, GatherStep, SumStep,
                          MinMaxStep, ReluStep, TreeStep, ForestStep>;

struct Program {
  std::vector<Cell> cells;                 // of a row, in order
  std::vector<PairCell> pairs;             // encoded behind the cells
  std::vector<std::vector<Step>> members;  // at least one, each with at least one step
  std::vector<float> weights;              // of the members, above 0
  std::vector<float> levels;               // their positions; empty without levels
  std::vector<ScoreUnits> scores;          // with levels, one for each
  Link link = Link::identity;
  float unit = 1;             // of Link::exponential
  bool has_exposure = false;  // a raw cell behind `cells`
  bool has_offset = false;    // a raw cell behind that

  /// Cells of a raw row, of an encoded one, and inputs of a member.
  std::size_t num_raw() const { return cells.size() + has_exposure + has_offset; }
  std::size_t num_encoded() const { return cells.size() + pairs.size(); }
  std::size_t num_inputs() const { return num_encoded() + (levels.empty() ? 0 : 1); }
  std::size_t num_scores() const { return scores.size(); }
  double total_weight() const { return std::accumulate(weights.begin(), weights.end(), 0.0); }
};

}  // namespace espalier
