// SPDX-License-Identifier: Apache-2.0
// The extension espalier._core: the C++ library as the Python package needs it. What users see is
// made of this in python/espalier.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "anatomy.h"
#include "arrow.h"
#include "espalier/espalier.h"
#include "explanations.h"
#include "interrupts.h"
#include "numpy.h"
#include "served_model.h"
#include "tables.h"
#include "training.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace espalier {
namespace {

using Rows = nb::ndarray<const float, nb::ndim<2>, nb::device::cpu, nb::c_contig>;

Output output_of(const std::string& word) {
  if (word == "prediction") return Output::prediction;
  if (word == "score") return Output::score;
  throw Error(ErrorKind::argument, "output: '" + word + "' is neither prediction nor score");
}

bool has_infinity(const Rows& rows) {
  const float* const begin = rows.data();
  return std::any_of(begin, begin + rows.size(), [](float value) { return std::isinf(value); });
}

nb::ndarray<nb::numpy, float> predict(ServedModel& served, const Rows& rows,
                                      const std::string& output, int threads) {
  if (rows.shape(1) != served.predictor().num_cells()) {
    throw Error(ErrorKind::data, "X has " + std::to_string(rows.shape(1)) +
                                     " columns, the model reads " +
                                     std::to_string(served.predictor().num_cells()));
  }
  constexpr std::size_t kRowsAtOnce = 1 << 16;  // between two looks for Ctrl-C
  const Output wanted = output_of(output);
  const std::size_t count = rows.shape(0), num_scores = served.predictor().num_scores();
  std::vector<float> out(count * num_scores);
  {
    const nb::gil_scoped_release unlocked;
    const std::span<const float> cells(rows.data(), rows.size());
    for (std::size_t begin = 0; begin < count; begin += kRowsAtOnce) {
      const std::size_t now = std::min(kRowsAtOnce, count - begin);
      served.predict(cells.subspan(begin * rows.shape(1), now * rows.shape(1)),
                     std::span(out).subspan(begin * num_scores, now * num_scores), wanted, threads);
      if (now == kRowsAtOnce) raise_interrupts();
    }
  }
  return num_scores == 1 ? to_numpy(std::move(out), {count})
                         : to_numpy(std::move(out), {count, num_scores});
}

nb::ndarray<nb::numpy, float> rows_of(const ServedModel& served, const BorrowingTable& table) {
  std::vector<float> rows;
  {
    const nb::gil_scoped_release unlocked;
    rows = served.predictor().rows(table.table);
  }
  return to_numpy(std::move(rows), {table.table.num_rows, served.predictor().num_cells()});
}

Certificate verify_model(const ServedModel& served, std::size_t pairs, std::uint64_t seed,
                         int threads) {
  const nb::gil_scoped_release unlocked;
  return verify(served.model(),
                {.pairs = pairs, .seed = seed, .threads = threads, .progress = [](std::size_t) {
                   raise_interrupts();
                 }});
}

void report_model(const ServedModel& served, const BorrowingTable& table, const nb::bytes& path,
                  const std::string& by, std::size_t pairs, std::uint64_t seed, int threads) {
  const std::string name(path.c_str(), path.size());
  const nb::gil_scoped_release unlocked;
  write_page(served.model(), table.table, name,
             {.by = by,
              .pairs = pairs,
              .seed = seed,
              .threads = threads,
              .progress = [](double, std::string_view) { raise_interrupts(); }});
}

void define_certificate(nb::module_& m) {
  nb::class_<LayerProof>(m, "LayerProof", "The inequalities of one layer.")
      .def_ro("layer", &LayerProof::layer)
      .def_ro("inequalities", &LayerProof::inequalities)
      .def_ro("violations", &LayerProof::violations);
  nb::class_<Certificate>(m, "Certificate",
                          "The proof that a model is monotone: every inequality on its stored "
                          "parameters, tolerance 0, and a hunt for pairs of rows whose predictions "
                          "contradict it. `holds` if neither found a violation; `culprits` names "
                          "the first ones.")
      .def_ro("model_hash", &Certificate::model_hash)
      .def_ro("increasing", &Certificate::increasing)
      .def_ro("decreasing", &Certificate::decreasing)
      .def_ro("levels", &Certificate::levels)
      .def_ro("layers", &Certificate::layers)
      .def_ro("inequalities", &Certificate::inequalities)
      .def_ro("violations", &Certificate::violations)
      .def_ro("pairs", &Certificate::pairs)
      .def_ro("pair_violations", &Certificate::pair_violations)
      .def_ro("crossings", &Certificate::crossings)
      .def_ro("largest_drop", &Certificate::largest_drop)
      .def_ro("thresholds", &Certificate::thresholds)
      .def_ro("thresholds_crossed", &Certificate::thresholds_crossed)
      .def_ro("seed", &Certificate::seed)
      .def_ro("culprits", &Certificate::culprits)
      .def_prop_ro("holds", &Certificate::holds)
      .def("__repr__", [](const Certificate& self) {
        return "<espalier.Certificate " + self.model_hash + ": " +
               std::to_string(self.inequalities) + " inequalities, " +
               std::to_string(self.violations) + " violated; " + std::to_string(self.pairs) +
               " pairs, " + std::to_string(self.pair_violations) + " fell>";
      });
}

void define_model(nb::module_& m) {
  nb::class_<ServedModel>(m, "Model")
      .def_static("load",
                  [](const nb::bytes& path) {
                    const std::string name(path.c_str(), path.size());
                    const nb::gil_scoped_release unlocked;
                    return std::make_unique<ServedModel>(Model::load(name));
                  })
      .def_static(
          "from_bytes",
          [](const nb::bytes& bytes) {
            return std::make_unique<ServedModel>(Model::from_bytes({bytes.c_str(), bytes.size()}));
          })
      .def("to_bytes",
           [](const ServedModel& self) {
             const std::string bytes = self.model().to_bytes();
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def("save",
           [](const ServedModel& self, const nb::bytes& path) {
             self.model().save({path.c_str(), path.size()});
           })
      .def("export_onnx",
           [](const ServedModel& self, const nb::bytes& path) {
             export_onnx(self.model(), {path.c_str(), path.size()});
           })
      .def("export_header",
           [](const ServedModel& self, const nb::bytes& path) {
             export_header(self.model(), {path.c_str(), path.size()});
           })
      .def("report", &report_model, nb::arg(), nb::arg(), "by"_a, "pairs"_a = PageOptions().pairs,
           "seed"_a = PageOptions().seed, "threads"_a = PageOptions().threads)
      .def("predict", &predict, nb::arg().noconvert(), nb::arg(), nb::arg())
      .def("rows", &rows_of)
      .def("warnings",
           [](const ServedModel& self, const BorrowingTable& table) {
             return self.model().warnings(table.table);
           })
      .def("verify", &verify_model, "pairs"_a = VerifyOptions().pairs,
           "seed"_a = VerifyOptions().seed, "threads"_a = VerifyOptions().threads)
      .def("inspect_json", [](const ServedModel& self) { return inspect_json(self.model()); })
      .def("inspect_text", [](const ServedModel& self) { return inspect_text(self.model()); })
      .def("features", [](const ServedModel& self) { return features_of(self.model()); })
      .def("layers", [](const ServedModel& self) { return layers_of(self.model()); })
      .def("calibrators", [](const ServedModel& self) { return calibrators_of(self.model()); })
      .def("lattices", [](const ServedModel& self) { return lattices_of(self.model()); })
      .def_prop_ro("hash", [](const ServedModel& self) { return self.model().hash(); })
      .def_prop_ro("architecture",
                   [](const ServedModel& self) { return self.model().architecture(); })
      .def_prop_ro(
          "task",
          [](const ServedModel& self) { return to_word(self.model().schema().label.task()); })
      .def_prop_ro(
          "loss", [](const ServedModel& self) { return to_word(self.model().schema().label.loss); })
      .def_prop_ro("classes",
                   [](const ServedModel& self) { return self.model().schema().label.classes; })
      .def_prop_ro("ordered",
                   [](const ServedModel& self) { return self.model().schema().label.ordered; })
      .def_prop_ro(
          "outputs",
          [](const ServedModel& self) { return output_names(self.model().schema().label); })
      .def_prop_ro("beside",
                   [](const ServedModel& self) {
                     nb::dict columns;
                     for (const Role role : kPredictionRoles) {
                       const SideColumns& beside = self.model().schema().beside;
                       if (const auto found = beside.find(role); found != beside.end())
                         columns[std::string(to_word(role)).c_str()] = found->second;
                     }
                     return columns;
                   })
      .def_prop_ro("weight",
                   [](const ServedModel& self) {
                     const SideColumns& beside = self.model().schema().beside;
                     const auto found = beside.find(Role::weight);
                     return found == beside.end() ? std::string() : found->second;
                   })
      .def_prop_ro("label",
                   [](const ServedModel& self) { return self.model().schema().label.name; })
      .def_prop_ro("label_words",
                   [](const ServedModel& self) {
                     const Label& label = self.model().schema().label;
                     return nb::make_tuple(label.missing, label.not_missing);
                   })
      .def_prop_ro("label_is_number",
                   [](const ServedModel& self) { return self.model().schema().label.is_number; })
      .def_prop_ro("positive", [](const ServedModel& self) {
        const Label& label = self.model().schema().label;
        return label.classes.size() == 2 ? std::optional(label.classes[1]) : std::nullopt;
      });
}

}  // namespace
}  // namespace espalier

NB_MODULE(_core, m) {
  using namespace espalier;
  nb::exception<Error>(m, "Error", PyExc_ValueError);
  m.attr("version") = kVersion;
  define_certificate(m);
  define_tables(m);
  define_model(m);
  define_training(m);
  define_explanations(m);
  m.def("has_infinity", &has_infinity, nb::arg().noconvert());
}
