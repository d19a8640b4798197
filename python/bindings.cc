// SPDX-License-Identifier: Apache-2.0
// The extension espalier._core: the C++ library as the Python package needs it. What users see is
// made of this in python/espalier.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "arrow.h"
#include "espalier/espalier.h"
#include "numpy.h"
#include "tables.h"

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

nb::list train_fields() {
  nb::list fields;
  const TrainOptions defaults;
  visit_fields(defaults, [&](const Field& field, const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    nb::dict entry;
    entry["name"] = field.name;
    entry["help"] = field.help;
    if constexpr (std::is_enum_v<Value>) {
      nb::list words;
      for (const std::string_view word : Words<Value>::list) words.append(std::string(word));
      entry["words"] = words;
      entry["default"] = std::string(to_word(value));
    } else {
      entry["default"] = value;
    }
    fields.append(entry);
  });
  return fields;
}

bool has_infinity(const Rows& rows) {
  const float* const begin = rows.data();
  return std::any_of(begin, begin + rows.size(), [](float value) { return std::isinf(value); });
}

// A model, its predictor, and working memory that calls take and give back.
class ServedModel {
 public:
  explicit ServedModel(Model model) : predictor_(std::move(model)) {}

  const Model& model() const { return predictor_.model(); }
  const Predictor& predictor() const { return predictor_; }

  void predict(std::span<const float> rows, std::span<float> out, Output output, int threads) {
    constexpr std::size_t kThreadsPay = 4096;
    if (threads != 1 && out.size() >= kThreadsPay) {
      predictor_.predict(rows, out, output, threads);
      return;
    }
    std::unique_ptr<Predictor::Scratch> scratch = take_scratch();
    predictor_.predict(rows, out, *scratch, output);
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(scratch));
  }

 private:
  std::unique_ptr<Predictor::Scratch> take_scratch() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto scratch = std::move(free_.back());
        free_.pop_back();
        return scratch;
      }
    }
    return std::make_unique<Predictor::Scratch>(predictor_);
  }

  Predictor predictor_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Predictor::Scratch>> free_;
};

nb::ndarray<nb::numpy, float> predict(ServedModel& served, const Rows& rows,
                                      const std::string& output, int threads) {
  if (rows.shape(1) != served.predictor().num_features()) {
    throw Error(ErrorKind::data, "X has " + std::to_string(rows.shape(1)) +
                                     " columns, the model reads " +
                                     std::to_string(served.predictor().num_features()));
  }
  const Output wanted = output_of(output);
  std::vector<float> out(rows.shape(0));
  {
    const nb::gil_scoped_release unlocked;
    served.predict({rows.data(), rows.size()}, out, wanted, threads);
  }
  const std::size_t count = out.size();
  return to_numpy(std::move(out), {count});
}

nb::ndarray<nb::numpy, float> rows_of(const ServedModel& served, const BorrowingTable& table) {
  std::vector<float> rows;
  {
    const nb::gil_scoped_release unlocked;
    rows = served.predictor().rows(table.table);
  }
  return to_numpy(std::move(rows), {table.table.num_rows, served.predictor().num_features()});
}

// Raises KeyboardInterrupt after Ctrl-C; for callbacks of long work, which runs without the GIL.
void raise_interrupts() {
  const nb::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

Certificate verify_model(const ServedModel& served, std::size_t pairs, std::uint64_t seed,
                         int threads) {
  const nb::gil_scoped_release unlocked;
  return verify(served.model(),
                {.pairs = pairs, .seed = seed, .threads = threads, .progress = [](std::size_t) {
                   raise_interrupts();
                 }});
}

nb::dict to_dict(const Progress& progress) {
  nb::dict dict;
  dict["member"] = progress.member;
  dict["epoch"] = progress.last.epoch;
  dict["epochs"] = progress.options->epochs;
  dict["train_loss"] = progress.last.train_loss;
  dict["valid_metric"] = progress.last.valid_metric;
  dict["metric"] = std::string(to_word(progress.metric));
  dict["loss"] = progress.loss;
  dict["rows_done"] = progress.rows_done;
  dict["rows_total"] = progress.rows_total;
  dict["seconds"] = progress.seconds;
  dict["epoch_finished"] = progress.epoch_finished;
  return dict;
}

// Hands progress to Python now and then and after each epoch, looks for Ctrl-C, and asks to stop if
// the callback says so. What Python raises leaves train().
class PythonProgress {
 public:
  PythonProgress(nb::object callback, std::stop_source stop)
      : callback_(std::move(callback)), stop_(std::move(stop)) {}

  void operator()(const Progress& progress) {
    const auto now = std::chrono::steady_clock::now();
    if (!progress.epoch_finished && now < next_) return;
    next_ = now + std::chrono::milliseconds(50);
    raise_interrupts();
    if (callback_.is_none()) return;
    const nb::gil_scoped_acquire gil;
    if (nb::cast<bool>(callback_(to_dict(progress)))) stop_.request_stop();
  }

 private:
  nb::object callback_;
  std::stop_source stop_;
  std::chrono::steady_clock::time_point next_{};
};

nb::list to_list(const std::vector<Epoch>& epochs) {
  nb::list list;
  for (const Epoch& epoch : epochs) {
    nb::dict entry;
    entry["member"] = epoch.member;
    entry["epoch"] = epoch.epoch;
    entry["train_loss"] = epoch.train_loss;
    entry["valid_metric"] = epoch.valid_metric;
    list.append(entry);
  }
  return list;
}

nb::dict train_model(BorrowingTable& table, const std::string& options_json, BorrowingTable* valid,
                     nb::object progress, nb::callable warn) {
  TrainOptions options;
  apply_json(options, options_json, "options");
  const std::stop_source stop;
  PythonProgress on_progress(std::move(progress), stop);
  const TrainControl control{.valid = valid != nullptr ? &valid->table : nullptr,
                             .progress = std::ref(on_progress),
                             .warning =
                                 [&](const std::string& message) {
                                   const nb::gil_scoped_acquire gil;
                                   warn(message);
                                 },
                             .stop = stop.get_token()};
  const TrainResult result = [&] {
    const nb::gil_scoped_release unlocked;
    return train(std::move(table.table), options, control);
  }();
  nb::dict dict;
  dict["model"] = nb::cast(std::make_unique<ServedModel>(result.model));
  dict["history"] = to_list(result.history);
  return dict;
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
      .def_ro("layers", &Certificate::layers)
      .def_ro("inequalities", &Certificate::inequalities)
      .def_ro("violations", &Certificate::violations)
      .def_ro("pairs", &Certificate::pairs)
      .def_ro("pair_violations", &Certificate::pair_violations)
      .def_ro("largest_drop", &Certificate::largest_drop)
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
                  [](const std::string& path) {
                    const nb::gil_scoped_release unlocked;
                    return std::make_unique<ServedModel>(Model::load(path));
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
           [](const ServedModel& self, const std::string& path) { self.model().save(path); })
      .def("predict", &predict, nb::arg().noconvert(), nb::arg(), nb::arg())
      .def("rows", &rows_of)
      .def("verify", &verify_model, "pairs"_a = VerifyOptions().pairs,
           "seed"_a = VerifyOptions().seed, "threads"_a = VerifyOptions().threads)
      .def("inspect_json", [](const ServedModel& self) { return inspect_json(self.model()); })
      .def("inspect_text", [](const ServedModel& self) { return inspect_text(self.model()); })
      .def_prop_ro("hash", [](const ServedModel& self) { return self.model().hash(); });
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
  m.def("train_fields", &train_fields);
  m.def("train", &train_model, nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg());
  m.def("has_infinity", &has_infinity, nb::arg().noconvert());
}
