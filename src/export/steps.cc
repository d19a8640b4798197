// SPDX-License-Identifier: Apache-2.0
#include "export/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "serve/leaf_masks.h"
#include "serve/ranks.h"

namespace espalier {

namespace {

// Lattices that are folded side by side.
constexpr std::size_t kLanes = 16;

// A forest with larger masks is printed split by split: compilers would take long to read them.
constexpr std::size_t kMaxMaskBytes = std::size_t{1} << 18;

template <class Wholes>
std::string list_of(const Wholes& numbers) {
  constexpr std::size_t kPerLine = 16;
  if (numbers.empty()) return "    0,\n";  // arrays have an entry
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const bool ends = i % kPerLine == kPerLine - 1 || i + 1 == numbers.size();
    text += fmt::format("{}{},{}", i % kPerLine == 0 ? "    " : "", numbers[i], ends ? "\n" : " ");
  }
  return text;
}

// Prints one step after the other.
class StepPrinter {
 public:
  StepPrinter(std::size_t member, Numbers& numbers) : member_(member), numbers_(numbers) {}

  void print(const Step& step) {
    out_ = in_ == "a" ? "b" : "a";
    std::visit([this](const auto& own) { print_own(own); }, step);
    width_ = std::visit([](const auto& own) { return own.num_outputs(); }, step);
    widest_ = std::max(widest_, width_);
    in_ = out_;
    ++step_;
  }

  MemberText result(float weight) const {
    const std::string factor = weight == 1 ? "" : double_literal(weight) + " * ";
    std::string sums;
    std::string buffers;
    for (const char* name : {"a", "b"})
      buffers += fmt::format("  alignas(64) float {}[{}];\n", name, widest_);
    for (std::size_t s = 0; s < width_; ++s)
      sums += fmt::format("  sums[{0}] += {2}static_cast<double>({1}[{0}]);\n", s, in_, factor);
    if (step_ == 1) sums += "  static_cast<void>(b);\n";
    return {
        fmt::format("{}ESPALIER_EXPORT_INLINE void member_{}(const float* encoded, double* sums) "
                    "noexcept {{\n{}{}{}}}\n\n",
                    tables_, member_, buffers, calls_, sums),
        2 * widest_ * sizeof(float)};
  }

 private:
  void call(const std::string& line) { calls_ += "  " + line + "\n"; }

  std::string title(std::string_view what) const {
    return fmt::format("member {}, step {}: {}", member_, step_, what);
  }

  // The name of a table of this step.
  std::string table_name(std::string_view kind) const {
    return fmt::format("{}_{}_{}", kind, member_, step_);
  }

  void table(std::string_view type, const std::string& name, const std::string& entries) {
    tables_ += fmt::format("inline constexpr {} {}[] = {{\n{}}};\n", type, name, entries);
  }

  void print_own(const CellStep& step) {
    std::string entries;
    for (std::size_t i = 0; i < step.cells.size(); ++i) {
      const CellTable& cell = step.cells[i];
      if (cell.kind == CellTable::Kind::pass) {
        entries += "    {nullptr, 0, 0, 0, 0, 0, 0},\n";
        continue;
      }
      const std::size_t begin = numbers_.add(title(fmt::format("table of cell {}", i)), cell.table);
      entries += fmt::format("    {{numbers + {}, {}, {}, {}, {}, {}, {}}},\n", begin,
                             cell.kind == CellTable::Kind::position ? cell.keypoints : 0,
                             float_literal(cell.back.low), float_literal(cell.back.range),
                             cell.rows, cell.columns, cell.steps);
    }
    const std::string name = table_name("cell_tables");
    table("CellTable", name, entries);
    call(fmt::format("for (std::size_t i = 0; i < {}; ++i) {}[i] = through({}[i], {}[i]);",
                     step.cells.size(), out_, name, in_));
  }

  void print_own(const CalibratorStep& step) {
    std::vector<float> values;
    for (const AlignedFloats* array : {&step.lo, &step.inverse_step, &step.low, &step.range})
      values.insert(values.end(), array->data(), array->data() + step.num_units);
    values.insert(values.end(), step.tables.data(),
                  step.tables.data() + step.num_units * static_cast<std::size_t>(step.keypoints));
    const std::size_t begin =
        numbers_.add(title("calibrators: lo, inverse step, low, range, then the tables"), values);
    call(fmt::format("calibrate<{}, {}>(numbers + {}, {}, {});", step.num_units, step.keypoints,
                     begin, in_, out_));
  }

  void print_own(const LinearStep& step) {
    const std::size_t bias = numbers_.add(title("bias"), step.bias);
    call(fmt::format("std::copy_n(numbers + {}, {}, {});", bias, step.bias.size(), out_));
    for (const LinearStep::Category& category : step.categories) {
      const std::size_t width = step.category_width;
      std::vector<float> rows;
      for (auto row = category.rows.begin(); row != category.rows.end();
           row += static_cast<std::ptrdiff_t>(padded(width)))
        rows.insert(rows.end(), row, row + static_cast<std::ptrdiff_t>(width));
      const std::size_t begin =
          numbers_.add(title(fmt::format("weights that wire {} picks", category.wire)), rows);
      call(fmt::format("add_picked(numbers + {}, {}, {}[{}], {} + {});", begin, width, in_,
                       category.wire, out_, step.category_begin));
    }
    for (auto first = step.numbers.begin(); first != step.numbers.end();) {
      const auto last = std::find_if(first, step.numbers.end(), [&](const LinearStep::Number& own) {
        return own.begin != first->begin || own.end != first->end;
      });
      print_numbers(step, {first, last});
      first = last;
    }
  }

  // Numbers that follow each other and reach the same outputs.
  void print_numbers(const LinearStep& step, std::span<const LinearStep::Number> numbers) {
    const std::size_t begin = numbers.front().begin, size = numbers.front().end - begin;
    if (size == 0) return;
    std::vector<float> weights;
    std::vector<std::size_t> wires;
    for (const LinearStep::Number& number : numbers) {
      const float* const own = step.weights.data() + number.weights;
      weights.insert(weights.end(), own, own + size);
      wires.push_back(number.wire);
    }
    const std::size_t at = numbers_.add(title(fmt::format("weights to {} outputs", size)), weights);
    const std::string name = fmt::format("{}_{}", table_name("wires"), numbers.front().wire);
    table("std::uint32_t", name, list_of(wires));
    call(fmt::format("add_numbers<{}>({}, numbers + {}, {}, {} + {});", size, name, at, in_, out_,
                     begin));
  }

  void print_own(const LatticeStep& step) {
    if (step.interpolation == Interpolation::simplex) return print_simplex(step);
    const std::size_t count = step.num_outputs();
    if (count >= kLanes) print_lattices(step, 0, kLanes, count / kLanes);
    if (count % kLanes != 0) print_lattices(step, count - count % kLanes, count % kLanes, 1);
  }

  // `blocks` blocks of `lanes` lattices from number `first` on.
  void print_lattices(const LatticeStep& step, std::size_t first, std::size_t lanes,
                      std::size_t blocks) {
    std::vector<float> values;
    for (std::size_t b = 0; b < blocks; ++b) {
      const std::size_t begin = first + b * lanes;
      for (std::size_t v = 0; v < step.num_vertices(); ++v) {
        for (std::size_t l = 0; l < lanes; ++l)
          values.push_back(step.tables[(begin + l) * step.num_vertices() + v]);
      }
      for (std::size_t l = 0; l < lanes; ++l) values.push_back(step.backs[begin + l].low);
      for (std::size_t l = 0; l < lanes; ++l) values.push_back(step.backs[begin + l].range);
    }
    const std::size_t begin =
        numbers_.add(title(fmt::format("lattices from {} on, {} side by side, then low and range",
                                       first, lanes)),
                     values);
    const auto size = static_cast<std::size_t>(step.size);
    call(fmt::format("for (std::size_t i = 0; i < {}; ++i)", blocks));
    call(
        fmt::format("  lattices<{0}, {1}>(numbers + {2} + i * {3}, {4} + {5} + i * {6}, {7} + {8} "
                    "+ i * {1});",
                    size, lanes, begin, (step.num_vertices() + 2) * lanes, in_, first * size,
                    lanes * size, out_, first));
  }

  void print_simplex(const LatticeStep& step) {
    std::vector<float> values;
    for (std::size_t g = 0; g < step.num_outputs(); ++g) {
      const float* theta = step.tables.data() + g * step.num_vertices();
      values.insert(values.end(), theta, theta + step.num_vertices());
      values.push_back(step.backs[g].low);
      values.push_back(step.backs[g].range);
    }
    const std::size_t begin =
        numbers_.add(title("simplex lattices, each with low and range"), values);
    call(fmt::format("for (std::size_t i = 0; i < {}; ++i)", step.num_outputs()));
    call(fmt::format("  {0}[i] = simplex<{1}>(numbers + {2} + i * {3}, {4} + i * {1});", out_,
                     step.size, begin, step.num_vertices() + 2, in_));
  }

  void print_own(const GatherStep& step) {
    const std::string name = table_name("wires");
    table("std::uint32_t", name, list_of(step.wires));
    call(fmt::format("gather({}, {}, {});", name, in_, out_));
  }

  void print_own(const SumStep& step) {
    call(fmt::format("{}[0] = sum_of({}, {});", out_, in_, step.num_inputs));
  }

  void print_own(const MinMaxStep& step) {
    call(fmt::format("{}[0] = min_max({}, {}, {});", out_, in_, step.groups, step.size));
  }

  void print_own(const TreeStep& step) {
    std::string questions;
    for (const TreeQuestion& question : step.plan.questions)
      questions += fmt::format("    {{{}, {}, {{{}, {}}}}},\n", question.wire,
                               float_literal(question.above), question.next[0], question.next[1]);
    if (questions.empty()) questions = "    {0, 0, {0, 0}},\n";  // arrays have an entry
    const std::string asked = table_name("questions"), roots = table_name("roots");
    table("Question", asked, questions);
    table("std::int32_t", roots, list_of(step.plan.roots));
    const std::size_t leaves = numbers_.add(title("leaves of trees"), step.leaves);
    call(fmt::format("trees({}, {}, numbers + {}, {}, {});", asked, roots, leaves, in_, out_));
  }

  void print_own(const ForestStep& step) {
    const RankedColumns ranked(step);
    const auto masks =
        ranked.columns.empty() ? std::nullopt : leaf_masks(step.forest, ranked, kMaxMaskBytes);
    masks ? print_masks(*masks, ranked) : print_splits(step);
  }

  void print_masks(const LeafMasks& masks, const RankedColumns& ranked) {
    std::string columns, blocks;
    for (std::size_t c = 0; c < ranked.columns.size(); ++c) {
      const RankedColumn& own = ranked.columns[c];
      columns +=
          fmt::format("    {{{}, {}, {}, {}, {}}},\n", own.wire, masks.column_begin[c], own.first,
                      own.cuts, own.is_category ? "-1" : fmt::format("{}", own.most));
    }
    for (const LeafMasks::Block& own : masks.blocks)
      blocks += fmt::format("    {{{}, {}, {}, {}}},\n", own.first_line, own.first_tree,
                            own.num_trees, own.leaves);
    table("ForestColumn", table_name("columns"), columns);
    table("ForestBlock", table_name("blocks"), blocks);
    table("std::uint32_t", table_name("firsts"), list_of(ranked.firsts));
    table("std::uint16_t", table_name("line_of"), list_of(masks.line_of));
    tables_ += "alignas(64) ";
    table("std::uint32_t", table_name("lines"), list_of(masks.lines));
    if (!masks.pairs.empty()) table("std::uint8_t", table_name("pairs"), list_of(masks.pairs));
    const std::size_t cuts = numbers_.add(title("thresholds of splits"), ranked.cuts);
    const std::size_t leaves = numbers_.add(title("leaves of trees"), masks.leaves);
    call(fmt::format(
        "{}[0] = masked_forest({}, {}, {{{}, numbers + {}, {}, {}, {}, numbers + {}}}, {});", out_,
        table_name("columns"), table_name("blocks"), table_name("firsts"), cuts,
        table_name("line_of"), table_name("lines"),
        masks.pairs.empty() ? "nullptr" : table_name("pairs"), leaves, in_));
  }

  void print_splits(const ForestStep& step) {
    std::string splits;
    std::vector<std::size_t> sizes;
    std::vector<float> leaves;
    for (const DecisionTree& tree : step.forest.trees) {
      for (const DecisionSplit& split : tree.splits) {
        const bool is_category = step.inputs[split.feature].num_codes > 0;
        splits += fmt::format("    {{{}, {}, {}, {}, {{{}, {}}}}},\n", split.feature,
                              is_category ? fmt::format("{}", split.set) : "-1",
                              float_literal(is_category ? 0 : split.threshold), split.missing_right,
                              split.next[0], split.next[1]);
      }
      sizes.push_back(tree.splits.size());
      leaves.insert(leaves.end(), tree.leaves.begin(), tree.leaves.end());
    }
    if (splits.empty()) splits = "    {0, -1, 0, false, {0, 0}},\n";  // arrays have an entry
    table("Split", table_name("splits"), splits);
    table("std::uint32_t", table_name("sizes"), list_of(sizes));
    table("std::uint32_t", table_name("sets"), list_of(step.forest.sets));
    const std::size_t at = numbers_.add(title("leaves of trees"), leaves);
    call(fmt::format("{}[0] = walked_forest({}, {}, {}, numbers + {}, {});", out_,
                     table_name("splits"), table_name("sizes"), table_name("sets"), at, in_));
  }

  void print_own(const ReluStep& step) {
    call(fmt::format("relu({}, {}, {});", in_, step.num_wires, out_));
  }

  std::size_t member_;
  Numbers& numbers_;
  std::size_t step_ = 0;
  std::string_view in_ = "encoded";
  std::string_view out_;
  std::size_t width_ = 0;  // of the last step
  std::size_t widest_ = 0;
  std::string tables_;
  std::string calls_;
};

}  // namespace

MemberText print_member(std::size_t member, const std::vector<Step>& steps, float weight,
                        Numbers& numbers) {
  StepPrinter printer(member, numbers);
  for (const Step& step : steps) printer.print(step);
  return printer.result(weight);
}

}  // namespace espalier
