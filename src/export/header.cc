// SPDX-License-Identifier: Apache-2.0
#include "export/header.h"

#include <fmt/format.h>

#include <string_view>
#include <variant>

#include "encode/pairs.h"
#include "encode/promises.h"
#include "espalier/error.h"
#include "espalier/outputs.h"
#include "espalier/version.h"
#include "export/names.h"
#include "export/numbers.h"
#include "export/row.h"
#include "export/runtime_text.h"
#include "export/steps.h"

namespace espalier {

namespace {

// Beyond these compilers take minutes or threads run out of stack.
constexpr std::size_t kMaxNumbers = std::size_t{1} << 22;
constexpr std::size_t kMaxStack = std::size_t{1} << 19;

std::string_view copied_part(std::string_view text) {
  constexpr std::string_view kBegin = "// begin of the copied part\n";
  const std::size_t begin = text.find(kBegin) + kBegin.size();
  return text.substr(begin, text.find("// end of the copied part") - begin);
}

std::string runtime() {
  return fmt::format("{}\n{}", copied_part(kDefaultFloatsText), copied_part(kRuntimeText));
}

std::string names_of(const Schema& schema, Monotonicity monotonicity) {
  std::string text;
  for (const std::string& promise : promises_of(schema, monotonicity))
    text += (text.empty() ? "" : ", ") + comment_of(promise);
  return text.empty() ? "none" : text;
}

std::string print_title(const Program& program, const Schema& schema, const HeaderPlan& plan) {
  const Label& label = schema.label;
  const std::string predicts =
      label.classes.size() == 2
          ? fmt::format("the probability that {} is {} and not {}", comment_of(label.name),
                        comment_of(label.classes[1]), comment_of(label.classes[0]))
          : comment_of(label.name);
  return fmt::format(
      "// Made by espalier {} of a model; do not edit.\n"
      "//\n"
      "//   model       {}, {} network{}\n"
      "//   predicts    {}\n"
      "//   increasing  {}\n"
      "//   decreasing  {}\n"
      "//\n"
      "// With inputs that are listed as increasing (decreasing) no prediction falls (rises) when "
      "they\n"
      "// rise, for any two floats, not by one bit; of class:input that is the prediction of that "
      "class.\n"
      "// The bits are those of espalier::Predictor, on every CPU and in every floating-point "
      "mode.\n"
      "// Nothing here allocates, throws or changes: any number of threads may call it.\n"
      "//\n"
      "//   {}::Row row;  // every field starts as missing\n"
      "//   float p = {}::predict(row);\n",
      kVersion, plan.model_hash, program.members.size(), program.members.size() == 1 ? "" : "s",
      predicts, names_of(schema, Monotonicity::increasing),
      names_of(schema, Monotonicity::decreasing), plan.name_space, plan.name_space);
}

constexpr std::string_view kPreamble = R"(
#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <string_view>

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) || \
    defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || defined(_M_FP_FAST)
#error "-ffast-math and its parts change the bits and break the promise: compile without them"
#endif
#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16
#error "floats must be computed as floats: compile for SSE2, not for the x87"
#endif
static_assert(std::numeric_limits<float>::is_iec559 && std::numeric_limits<double>::is_iec559,
              "IEEE 754 floats are needed");
)";

// At -O2 GCC leaves the loops over units as they are, and a row takes twice as long.
constexpr std::string_view kBeginFast = R"(#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O3")
#endif
)";
constexpr std::string_view kEndFast = R"(#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
)";

// Where the CPU may have a fused multiply-add that the compiler was not told of.
constexpr std::string_view kDispatch =
    "#if defined(__GNUC__) && defined(__x86_64__) && !defined(__FMA__) && \\\n"
    "    !defined(ESPALIER_EXPORT_NO_DISPATCH)\n";

std::string list_of(const std::vector<std::int32_t>& codes) {
  constexpr std::size_t kPerLine = 20;
  std::string text;
  for (std::size_t i = 0; i < codes.size(); ++i)
    text += fmt::format("{}{},", i % kPerLine == 0 ? "\n    " : " ", codes[i]);
  return text;
}

std::string print_cells(const Program& program, const Schema& schema, Numbers& numbers) {
  std::string entries;
  for (std::size_t i = 0; i < program.cells.size(); ++i) {
    if (const auto* category = std::get_if<CategoryCell>(&program.cells[i])) {
      entries += fmt::format("    {{nullptr, {}, false, {}}},\n", category->num_categories,
                             category->missing);
      continue;
    }
    const auto& number = std::get<NumberCell>(program.cells[i]);
    const std::size_t begin = numbers.add(
        fmt::format("keypoints of {}", comment_of(schema.features[i].name)), number.keypoints);
    entries += fmt::format("    {{numbers + {}, {}, {}, {}}},\n", begin, number.keypoints.size(),
                           number.reversed, float_literal(number.missing));
  }
  return fmt::format("inline constexpr Cell cells[] = {{\n{}}};\n\n", entries);
}

// What pairs of cells make, if there are any.
std::string print_pairs(const Program& program, const Schema& schema, Numbers& numbers) {
  if (program.pairs.empty()) return "";
  std::string codes, entries;
  for (std::size_t p = 0; p < program.pairs.size(); ++p) {
    const PairCell& pair = program.pairs[p];
    const std::string name = comment_of(name_of(schema.pairs[p], schema));
    const std::size_t first = numbers.add(fmt::format("first bins of {}", name), pair.first_edges);
    const std::size_t second =
        numbers.add(fmt::format("second bins of {}", name), pair.second_edges);
    if (!pair.codes.empty()) {
      codes += fmt::format("// {}\ninline constexpr std::int32_t pair_codes_{}[] = {{{}}};\n", name,
                           p, list_of(pair.codes));
    }
    entries +=
        fmt::format("    {{{}, {}, numbers + {}, {}, numbers + {}, {}, {}}},\n", pair.first,
                    pair.second, first, pair.first_edges.size(), second, pair.second_edges.size(),
                    pair.codes.empty() ? "nullptr" : fmt::format("pair_codes_{}", p));
  }
  return fmt::format("{}inline constexpr PairCell pairs[] = {{\n{}}};\n\n", codes, entries);
}

std::string print_scores(const Program& program) {
  std::string text;
  const auto add_score = [&](std::size_t s, std::size_t output) {
    text += fmt::format("  scores[{}] = score_of({}, {}, sums[{}] / {}, row_offset);\n", s,
                        double_literal(program.scores[s].offset),
                        double_literal(program.scores[s].scale), output,
                        double_literal(program.total_weight()));
  };
  if (program.levels.empty()) {
    text += "  run_members(encoded, sums);\n";
    for (std::size_t s = 0; s < program.num_scores(); ++s) add_score(s, s);
  }
  for (std::size_t l = 0; l < program.levels.size(); ++l) {
    text += fmt::format("  encoded[{}] = {};\n  sums[0] = 0;\n  run_members(encoded, sums);\n",
                        program.num_encoded(), float_literal(program.levels[l]));
    add_score(l, 0);
  }
  return text;
}

// From the raw cells of a row to its scores.
std::string print_score_function(const Program& program) {
  std::string members;
  const std::string pairs =
      program.pairs.empty()
          ? ""
          : fmt::format(
                "  for (std::size_t i = {0}; i < {1}; ++i) encoded[i] = encode(pairs[i - {0}], "
                "encoded);\n",
                program.cells.size(), program.num_encoded());
  for (std::size_t m = 0; m < program.members.size(); ++m)
    members += fmt::format("  member_{}(encoded, sums);\n", m);
  return fmt::format(
      R"(ESPALIER_EXPORT_INLINE void members(const float* encoded, double* sums) noexcept {{
{0}}}

{1}#define ESPALIER_EXPORT_DISPATCH
__attribute__((target("avx2,fma"))) inline void members_fma(const float* encoded,
                                                            double* sums) noexcept {{
  members(encoded, sums);
}}
#endif

inline void run_members(const float* encoded, double* sums) noexcept {{
#if defined(ESPALIER_EXPORT_DISPATCH)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {{
    members_fma(encoded, sums);
    return;
  }}
#endif
  members(encoded, sums);
}}

inline void score(const float* raw, float* scores) noexcept {{
  float encoded[{2}];
  for (std::size_t i = 0; i < {3}; ++i) encoded[i] = encode(cells[i], raw[i]);
  const double row_offset = {4};
  double sums[{5}] = {{}};
{6}}}

)",
      members, kDispatch, program.num_inputs(), program.cells.size(),
      program.has_offset ? fmt::format("usable_offset(raw[{}])", program.num_raw() - 1) : "0",
      program.levels.empty() ? program.num_scores() : 1, pairs + print_scores(program));
}

// What becomes of the scores of a row, as a statement.
std::string print_link(const Program& program, const RowText& row) {
  switch (program.link) {
    case Link::identity:
      return "";
    case Link::sigmoid:
      return "  for (float& own : scores) own = detail::sigmoid(own);\n";
    case Link::exponential:
      return fmt::format(
          "  float exposure = {};\n  detail::settle(&exposure, 1);\n"
          "  for (float& own : scores) own = detail::exponential(own, {}, exposure);\n",
          program.has_exposure ? "row." + row.exposure : "1", float_literal(program.unit));
    case Link::softmax:
      return "  detail::softmax(scores.data(), scores.size());\n";
    case Link::promised_softmax:
      return "  detail::promised_softmax(scores.data(), scores.size());\n";
  }
  return "";
}

constexpr std::string_view meaning_of(Link link) {
  switch (link) {
    case Link::identity:
      return "The same as the score.";
    case Link::sigmoid:
      return "1 / (1 + e^-score).";
    case Link::exponential:
      return "e^score, times the unit of the label and the exposure.";
    case Link::softmax:
    case Link::promised_softmax:
      return "e^score / the sum of all e^score.";
  }
  return "";
}

// score(row) and predict(row). Between the two settle() no arithmetic can leave the scope of the
// floating-point mode.
std::string print_functions(const Program& program, const Label& label, const RowText& row) {
  const std::size_t count = program.num_scores();
  std::string names;
  for (const std::string& name : output_names(label))
    names += (names.empty() ? "" : ", ") + comment_of(name);
  const std::string type = count == 1 ? "float" : fmt::format("std::array<float, {}>", count);
  const char* const result = count == 1 ? "scores[0]" : "scores";
  return fmt::format(
      "namespace detail {{\n\ninline std::array<float, {0}> scores_of(const Row& row) noexcept {{\n"
      "  float raw[] = {{\n{1}  }};\n  settle(raw, {7});\n  std::array<float, {0}> scores;\n"
      "  score(raw, scores.data());\n  return scores;\n}}\n\n}}  // namespace detail\n\n"
      "// The output of the model before its link: {5}.\n"
      "inline {2} score(const Row& row) noexcept {{\n  const detail::DefaultFloats floats;\n"
      "  auto scores = detail::scores_of(row);\n"
      "  detail::settle(scores.data(), {0});\n  return {3};\n}}\n\n"
      "// {4}\ninline {2} predict(const Row& row) noexcept {{\n"
      "  const detail::DefaultFloats floats;\n  auto scores = detail::scores_of(row);\n{6}"
      "  detail::settle(scores.data(), {0});\n  return {3};\n}}\n",
      count, row.cells, type, result, meaning_of(program.link), names, print_link(program, row),
      program.num_raw());
}

std::string print_numbers(const Numbers& numbers) {
  return fmt::format("{{\n{}}};\n", numbers.text());
}

void refuse_if_too_large(std::size_t numbers, std::size_t stack) {
  if (numbers > kMaxNumbers) {
    throw Error(ErrorKind::unsupported,
                fmt::format("export: the model has {} numbers; a header holds at most {}", numbers,
                            kMaxNumbers));
  }
  if (stack > kMaxStack) {
    throw Error(ErrorKind::unsupported,
                fmt::format("export: a prediction would take {} bytes of stack; a header takes at "
                            "most {}",
                            stack, kMaxStack));
  }
}

// Numbers a program holds, about; before anything is printed.
struct CountNumbers {
  std::size_t operator()(const CellStep& step) const {
    std::size_t count = 0;
    for (const CellTable& cell : step.cells) count += cell.table.size();
    return count;
  }
  std::size_t operator()(const CalibratorStep& step) const { return step.tables.size(); }
  std::size_t operator()(const LinearStep& step) const {
    std::size_t count = step.weights.size();
    for (const LinearStep::Category& category : step.categories) count += category.rows.size();
    return count;
  }
  std::size_t operator()(const LatticeStep& step) const { return step.tables.size(); }
  std::size_t operator()(const TreeStep& step) const {
    return step.leaves.size() + 4 * step.plan.questions.size();
  }
  std::size_t operator()(const ForestStep& step) const {
    std::size_t count = 0;
    for (const DecisionTree& tree : step.forest.trees)
      count += tree.leaves.size() + 5 * tree.splits.size();
    return count;
  }
  template <class Step>
  std::size_t operator()(const Step&) const {
    return 0;
  }
};

}  // namespace

HeaderText print_header(const Program& program, const Schema& schema, const HeaderPlan& plan) {
  std::size_t count = 0;
  for (const PairCell& pair : program.pairs) count += pair.codes.size();
  for (const std::vector<Step>& steps : program.members) {
    for (const Step& step : steps) count += std::visit(CountNumbers(), step);
  }
  refuse_if_too_large(count, 0);

  const RowText row = print_row(schema);
  Numbers numbers;
  std::string cells = print_cells(program, schema, numbers);
  cells += print_pairs(program, schema, numbers);
  std::string members;
  std::size_t stack = 0;
  for (std::size_t m = 0; m < program.members.size(); ++m) {
    const MemberText member = print_member(m, program.members[m], program.weights[m], numbers);
    members += member.text;
    stack += member.stack_bytes;
  }
  refuse_if_too_large(numbers.size(), stack);

  const bool inside = numbers.size() <= plan.most_inside;
  const std::string array = fmt::format("numbers[{}]", numbers.size());
  const std::string guard = fmt::format("ESPALIER_EXPORT_{}_{}", plan.name_space, plan.model_hash);
  const std::string title = print_title(program, schema, plan);
  HeaderText text{.fields = row.fields};
  text.header = fmt::format(
      "{0}#ifndef {1}\n#define {1}\n{2}\nnamespace {3} {{\n\n"
      "// Changes with any bit of the model.\n"
      "inline constexpr const char* kModelHash = \"{4}\";\n\n{5}"
      "// What the model reads.\nstruct Row {{\n{6}}};\n\n{8}namespace detail {{\n\n{7}\n",
      title, guard, kPreamble, plan.name_space, plan.model_hash, row.enums, row.row, runtime(),
      kBeginFast);
  text.header += inside ? fmt::format("alignas(64) inline constexpr float {} = {}\n", array,
                                      print_numbers(numbers))
                        : fmt::format("alignas(64) extern const float {};\n\n", array);
  text.header += fmt::format(
      "{}{}{}{}\n}}  // namespace detail\n{}\n{}{}\n}}  // namespace {}\n\n"
      "#undef ESPALIER_EXPORT_INLINE\n#undef ESPALIER_EXPORT_DISPATCH\n#endif  // {}\n",
      cells, members, print_score_function(program), row.categories, kEndFast, row.from_string,
      print_functions(program, schema.label, row), plan.name_space, guard);
  if (!inside) {
    text.numbers = fmt::format(
        "{}#include {}\n\n#ifndef {}\n#error \"this file and its header belong to different "
        "models\"\n#endif\n\nalignas(64) const float {}::detail::{} = {}",
        title, literal_of(plan.file_name), guard, plan.name_space, array, print_numbers(numbers));
  }
  return text;
}

}  // namespace espalier
