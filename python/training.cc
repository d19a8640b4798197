// SPDX-License-Identifier: Apache-2.0
#include "training.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>

#include "arrow.h"
#include "espalier/error.h"
#include "espalier/ranks.h"
#include "espalier/text.h"
#include "espalier/train.h"
#include "espalier/tune.h"
#include "interrupts.h"
#include "served_model.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace espalier {
namespace {

// Name, help and default of every field, and the words of an enum.
template <class Options>
nb::list fields_of() {
  nb::list fields;
  const Options defaults;
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
    } else if constexpr (is_auto<Value>) {
      entry["default"] = std::string(kAuto);
    } else {
      entry["default"] = value;
    }
    fields.append(entry);
  });
  return fields;
}

nb::dict to_dict(const Progress& progress) {
  nb::dict dict;
  dict["member"] = progress.member;
  dict["epoch"] = progress.last.epoch;
  dict["epochs"] = progress.options->epochs.value();
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

// Calls Python now and then and whenever something has ended, looks for Ctrl-C, and asks to stop if
// the callback says so. What Python raises leaves train() or tune().
class Caller {
 public:
  Caller(nb::object callback, std::stop_source stop)
      : callback_(std::move(callback)), stop_(std::move(stop)) {}

  // `to_dict` makes what the callback gets.
  template <class ToDict>
  void tell(bool is_news, const ToDict& to_dict) {
    const auto now = std::chrono::steady_clock::now();
    if (!is_news && now < next_) return;
    next_ = now + std::chrono::milliseconds(50);
    raise_interrupts();
    if (callback_.is_none()) return;
    const nb::gil_scoped_acquire gil;
    if (nb::cast<bool>(callback_(to_dict()))) stop_.request_stop();
  }

  void operator()(const Progress& progress) {
    tell(progress.epoch_finished, [&] { return to_dict(progress); });
  }

 private:
  nb::object callback_;
  std::stop_source stop_;
  std::chrono::steady_clock::time_point next_{};
};

std::function<void(const std::string&)> warning_to(const nb::callable& warn) {
  return [&warn](const std::string& message) {
    const nb::gil_scoped_acquire gil;
    warn(message);
  };
}

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

nb::dict to_dict(const TrainResult& result) {
  nb::dict dict;
  dict["model"] = nb::cast(std::make_unique<ServedModel>(result.model));
  dict["history"] = to_list(result.history);
  dict["options"] = to_json(result.options);
  dict["stopped"] = result.stopped;
  return dict;
}

// Names of files are bytes, as the system has them.
std::string to_string(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

const Table* table_of(const BorrowingTable* table) {
  return table != nullptr ? &table->table : nullptr;
}

// The ranks of espalier._ranks.Ranks. Whoever destroys one has the GIL.
class PythonRanks : public Ranks {
 public:
  explicit PythonRanks(nb::object ranks)
      : ranks_(std::move(ranks)),
        rank_(nb::cast<int>(ranks_.attr("rank"))),
        size_(nb::cast<int>(ranks_.attr("size"))) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void exchange(std::span<const std::span<const std::byte>> send,
                std::span<const std::span<std::byte>> receive) override {
    const nb::gil_scoped_acquire gil;
    nb::list to_send, to_receive;
    for (const auto& message : send)
      to_send.append(view(const_cast<std::byte*>(message.data()), message.size(), PyBUF_READ));
    for (const auto& message : receive)
      to_receive.append(view(message.data(), message.size(), PyBUF_WRITE));
    ranks_.attr("exchange")(to_send, to_receive);
  }

 private:
  static nb::object view(std::byte* data, std::size_t size, int flags) {
    static std::byte nothing{};  // a view of no bytes has an address, too
    return nb::steal(PyMemoryView_FromMemory(reinterpret_cast<char*>(size > 0 ? data : &nothing),
                                             static_cast<Py_ssize_t>(size), flags));
  }

  const nb::object ranks_;
  const int rank_, size_;
};

std::unique_ptr<Ranks> ranks_of(nb::object ranks) {
  if (ranks.is_none()) return nullptr;
  return std::make_unique<PythonRanks>(std::move(ranks));
}

// With a checkpoint, what Python raises first ends training as a stop does, so that the checkpoint
// is of the last step.
nb::dict train_model(BorrowingTable& table, const std::string& options_json, BorrowingTable* valid,
                     nb::object progress, nb::callable warn, const nb::bytes& folder,
                     double checkpoint_seconds, bool resume, const nb::bytes& scratch,
                     std::uint64_t memory, nb::object communicator) {
  const std::string checkpoint = to_string(folder);
  TrainOptions options;
  apply_json(options, options_json, "options");
  const std::unique_ptr<Ranks> ranks = ranks_of(std::move(communicator));
  std::stop_source stop;
  Caller caller(std::move(progress), stop);
  std::optional<nb::python_error> raised;
  const auto on_progress = [&](const Progress& now) {
    if (raised) return;
    try {
      caller(now);
    } catch (nb::python_error& error) {
      if (checkpoint.empty()) throw;
      raised.emplace(std::move(error));
      stop.request_stop();
    }
  };
  const TrainControl control{.valid = table_of(valid),
                             .progress = on_progress,
                             .warning = warning_to(warn),
                             .stop = stop.get_token(),
                             .checkpoint = checkpoint,
                             .checkpoint_seconds = checkpoint_seconds,
                             .resume = resume,
                             .scratch = to_string(scratch),
                             .ranks = ranks.get(),
                             .memory = memory};
  std::optional<TrainResult> result;
  try {
    const nb::gil_scoped_release unlocked;
    result = train(std::move(table.table), options, control);
  } catch (const Error&) {
    if (!raised) throw;
  }
  if (raised) throw std::move(*raised);
  return to_dict(*result);
}

nb::dict to_dict(const TuneRun& run) {
  nb::dict dict;
  dict["trial"] = run.trial;
  dict["epochs"] = run.epochs;
  dict["repeat"] = run.repeat;
  dict["settings"] = run.settings;
  dict["value"] = run.valid_metric;
  dict["seconds"] = run.seconds;
  return dict;
}

nb::dict to_dict(const TuneProgress& progress) {
  nb::dict dict;
  dict["metric"] = std::string(to_word(progress.metric));
  dict["runs"] = progress.runs.size();
  dict["running"] = progress.running;
  dict["confirming"] = progress.confirming;
  dict["seconds"] = progress.seconds;
  dict["finished"] = progress.finished != nullptr ? nb::object(to_dict(*progress.finished))
                                                  : nb::object(nb::none());
  return dict;
}

// The table is kept: every trial reads it. Threads of the search call the callback, one at a time;
// Ctrl-C is seen by the one that called tune().
nb::dict tune_model(const BorrowingTable& table, const std::string& options_json,
                    BorrowingTable* valid, const TuneOptions& tune_options,
                    const nb::bytes& results, nb::object progress, nb::object final_progress,
                    nb::callable warn, nb::object communicator) {
  TrainOptions options;
  apply_json(options, options_json, "options");
  validate(tune_options);
  const std::unique_ptr<Ranks> ranks = ranks_of(std::move(communicator));
  const std::stop_source stop;
  Caller search(std::move(progress), stop), training(std::move(final_progress), stop);
  TuneControl control{.valid = table_of(valid),
                      .final_progress = std::ref(training),
                      .warning = warning_to(warn),
                      .stop = stop.get_token(),
                      .results = to_string(results),
                      .ranks = ranks.get()};
  control.progress = [&](const TuneProgress& now) {
    search.tell(now.finished != nullptr, [&] { return to_dict(now); });
  };
  const TuneResult result = [&] {
    const nb::gil_scoped_release unlocked;
    return tune(table.table, options, tune_options, control);
  }();
  nb::list trials;
  for (const TuneTrial& trial : result.trials) {
    nb::dict entry = to_dict(trial.run);
    entry["confirmed"] = trial.confirmed;
    trials.append(entry);
  }
  nb::dict dict = to_dict(result.trained);
  dict["metric"] = std::string(to_word(result.trained.metric));
  dict["trials"] = trials;
  dict["search"] = result.search;
  dict["search_stopped"] = result.stopped;
  return dict;
}

}  // namespace

void define_training(nb::module_& m) {
  nb::class_<TuneOptions>(m, "TuneOptions")
      .def(
          "__init__",
          [](TuneOptions* self, int trials, double minutes, std::optional<int> confirm, int folds,
             std::vector<std::string> search, std::vector<std::string> fix) {
            new (self)
                TuneOptions{trials, minutes,           confirm ? Auto<int>(*confirm) : Auto<int>(),
                            folds,  std::move(search), std::move(fix)};
          },
          "trials"_a, "minutes"_a, "confirm"_a.none(), "folds"_a, "search"_a, "fix"_a);
  m.def("train_fields", &fields_of<TrainOptions>);
  m.def("tune_fields", &fields_of<TuneOptions>);
  m.def("train", &train_model, nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg(),
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("read_memory", [](const std::string& text) { return read_memory("memory", text); });
  m.def("remove_checkpoint", [](const nb::bytes& folder) { remove_checkpoint(to_string(folder)); });
  m.def("tune", &tune_model, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(),
        nb::arg().none(), nb::arg().none(), nb::arg(), nb::arg().none());
}

}  // namespace espalier
