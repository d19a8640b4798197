// SPDX-License-Identifier: Apache-2.0
#include "explanations.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arrow.h"
#include "espalier/error.h"
#include "espalier/explain.h"
#include "interrupts.h"
#include "numpy.h"
#include "served_model.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace espalier {
namespace {

using Rows = nb::ndarray<const float, nb::ndim<2>, nb::device::cpu, nb::c_contig>;
using Cells = nb::ndarray<const float, nb::ndim<1>, nb::device::cpu, nb::c_contig>;
using CategoryWeights = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu, nb::c_contig>;

template <class Enum>
Enum enum_of(const char* what, const std::string& word) {
  if (const auto value = from_word<Enum>(word)) return *value;
  std::string words;
  for (const std::string_view each : Words<Enum>::list)
    words += (words.empty() ? "" : ", ") + std::string(each);
  throw Error(ErrorKind::argument, std::string(what) + ": '" + word + "' is not one of " + words);
}

nb::dict explain_rows(const ServedModel& served, const Rows& rows, const Cells& baseline,
                      const std::string& output, int exact_columns, int permutations,
                      std::uint64_t seed, int threads) {
  const Predictor& predictor = served.predictor();
  if (rows.shape(1) != predictor.num_cells()) {
    throw Error(ErrorKind::data, "X has " + std::to_string(rows.shape(1)) +
                                     " columns, the model reads " +
                                     std::to_string(predictor.num_cells()));
  }
  Explanation why;
  {
    const nb::gil_scoped_release unlocked;
    why = explain(predictor, {rows.data(), rows.size()}, {baseline.data(), baseline.size()},
                  {.output = output,
                   .exact_columns = exact_columns,
                   .permutations = permutations,
                   .seed = seed,
                   .threads = threads,
                   .progress = [](std::size_t) { raise_interrupts(); }});
  }
  const std::size_t count = why.num_rows, columns = why.num_columns;
  std::vector<std::int64_t> outputs(why.outputs.begin(), why.outputs.end());
  nb::dict result;
  result["outputs"] = to_numpy(std::move(outputs), {count});
  result["scores"] = to_numpy(std::move(why.scores), {count});
  result["baselines"] = to_numpy(std::move(why.baselines), {count});
  result["shares"] = to_numpy(std::move(why.shares), {count, columns});
  result["errors"] = to_numpy(std::move(why.errors), {count, columns});
  return result;
}

std::vector<std::vector<std::size_t>> top_of_rows(const CategoryWeights& shares, std::size_t top,
                                                  const std::string& adverse) {
  const auto side = enum_of<Adverse>("adverse", adverse);
  std::vector<std::vector<std::size_t>> rows;
  for (std::size_t r = 0; r < shares.shape(0); ++r) {
    const std::span row(shares.data() + r * shares.shape(1), shares.shape(1));
    rows.push_back(top_columns(row, top, side));
  }
  return rows;
}

// Mean and deviation over the columns, [2][columns].
nb::ndarray<nb::numpy, double> spreads(const Importance& importance,
                                       Spread ColumnImportance::*part) {
  const std::size_t count = importance.columns.size();
  std::vector<double> numbers(2 * count);
  for (std::size_t f = 0; f < count; ++f) {
    numbers[f] = (importance.columns[f].*part).mean;
    numbers[count + f] = (importance.columns[f].*part).deviation;
  }
  return to_numpy(std::move(numbers), {2, count});
}

nb::dict importance_of(const ServedModel& served, const BorrowingTable& table, bool labelled,
                       const std::string& metric, int repeats, std::size_t shared_rows,
                       std::size_t shuffled_rows, std::uint64_t seed, int threads) {
  Importance found;
  const auto wanted = enum_of<Metric>("metric", metric);
  {
    const nb::gil_scoped_release unlocked;
    Table scored = table.table;  // its columns stay borrowed
    if (!labelled) {
      const std::string& label = served.model().schema().label.name;
      std::erase_if(scored.columns, [&](const Column& column) { return column.name == label; });
    }
    found = importance(served.model(), scored,
                       {.metric = wanted,
                        .repeats = repeats,
                        .shared_rows = shared_rows,
                        .shuffled_rows = shuffled_rows,
                        .seed = seed,
                        .threads = threads,
                        .progress = [](double) { raise_interrupts(); }});
  }
  nb::dict result;
  result["metric"] = std::string(to_word(found.metric));
  result["value"] = found.value;
  result["loss"] = spreads(found, &ColumnImportance::loss);
  result["move"] = spreads(found, &ColumnImportance::move);
  result["share"] = spreads(found, &ColumnImportance::share);
  return result;
}

}  // namespace

void define_explanations(nb::module_& m) {
  m.def("explain", &explain_rows, nb::arg(), nb::arg().noconvert(), nb::arg().noconvert(),
        "output"_a, "exact_columns"_a = ExplainOptions().exact_columns,
        "permutations"_a = ExplainOptions().permutations, "seed"_a = ExplainOptions().seed,
        "threads"_a = ExplainOptions().threads);
  m.def(
      "baseline_row",
      [](const ServedModel& served, const BorrowingTable* table) {
        std::vector<float> row = table == nullptr ? baseline_row(served.model())
                                                  : baseline_row(served.model(), table->table);
        const std::size_t count = row.size();
        return to_numpy(std::move(row), {count});
      },
      nb::arg(), nb::arg().none());
  m.def("top_columns", &top_of_rows, nb::arg().noconvert(), nb::arg(), nb::arg());
  m.def("importance", &importance_of, nb::arg(), nb::arg(), "labelled"_a, "metric"_a, "repeats"_a,
        "shared_rows"_a, "shuffled_rows"_a, "seed"_a, "threads"_a);
}

}  // namespace espalier
