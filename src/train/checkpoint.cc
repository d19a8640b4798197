// SPDX-License-Identifier: Apache-2.0
#include "train/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <type_traits>

#include "core/bytes.h"
#include "core/file.h"
#include "espalier/error.h"
#include "espalier/version.h"
#include "model/model_data.h"
#include "model/model_file.h"
#include "train/share.h"

namespace espalier {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "ESPCHECK";
constexpr std::uint32_t kFormatVersion = 2;

std::string file_in(const std::string& folder) {
  return (fs::path(folder) / "checkpoint").string();
}

std::uint64_t hash_of(const Dataset& data, const std::vector<RowRange>& parts, Ranks* ranks) {
  std::string text;
  put(text, data.num_rows);
  put(text, data.num_features);
  const auto hash_cells = [&](const RowRange& part) {
    return checksum(
        raw_bytes(std::span<const float>(data.row(part.begin), part.size() * data.num_features)));
  };
  for (const std::uint64_t hash : of_parts(parts, data, ranks, hash_cells)) put(text, hash);
  for (const Role role : kSideRoles)
    put(text, checksum(raw_bytes(std::span<const float>(data.beside[role]))));
  put(text, checksum(raw_bytes(std::span<const double>(data.labels))));
  return checksum(text);
}

// A checkpoint is written and read by one list of its fields: visit(field, what) puts a field at
// the end of the bytes, or takes it off their front.
class Writer {
 public:
  template <class Field>
  void operator()(const Field& field, std::string_view) {
    if constexpr (std::is_arithmetic_v<Field>) {
      put(out, field);
    } else if constexpr (std::is_same_v<Field, std::string>) {
      put_text(out, field);
    } else {
      put_floats(out, field);
    }
  }

  template <class Item>
  void list(const std::vector<Item>& items, std::string_view) {
    put(out, static_cast<std::uint64_t>(items.size()));
    for (const Item& item : items) visit_fields(item, *this);
  }

  std::string out;
};

class Loader {
 public:
  explicit Loader(Reader& reader) : reader_(reader) {}

  template <class Field>
  void operator()(Field& field, std::string_view what) {
    if constexpr (std::is_arithmetic_v<Field>) {
      field = reader_.get<Field>(what);
    } else if constexpr (std::is_same_v<Field, std::string>) {
      field = reader_.text(what);
    } else {
      field = reader_.floats(what);
    }
  }

  // One by one: the length is believed only as far as there are bytes.
  template <class Item>
  void list(std::vector<Item>& items, std::string_view what) {
    const auto count = reader_.get<std::uint64_t>(what);
    for (std::uint64_t i = 0; i < count; ++i) visit_fields(items.emplace_back(), *this);
  }

 private:
  Reader& reader_;
};

template <class T, class Wanted>
concept Is = std::is_same_v<std::remove_const_t<T>, Wanted>;

template <Is<Epoch> T, class Visitor>
void visit_fields(T& epoch, Visitor& visit) {
  visit(epoch.member, "epochs");
  visit(epoch.epoch, "epochs");
  visit(epoch.train_loss, "epochs");
  visit(epoch.valid_metric, "epochs");
}

template <Is<NetworkState> T, class Visitor>
void visit_fields(T& network, Visitor& visit) {
  visit(network.architecture, "architecture");
  visit(network.params, "parameters");
  visit(network.constants, "constants");
}

template <Is<FinishedNetwork> T, class Visitor>
void visit_fields(T& finished, Visitor& visit) {
  visit_fields(finished.network, visit);
  visit_fields(finished.best, visit);
}

template <Is<TrainerState> T, class Visitor>
void visit_fields(T& trainer, Visitor& visit) {
  visit(trainer.adam.mean, "means");
  visit(trainer.adam.variance, "variances");
  visit(trainer.adam.beta1_power, "powers");
  visit(trainer.adam.beta2_power, "powers");
  visit(trainer.adam.steps_done, "steps");
  visit(trainer.epochs_done, "epochs");
  visit(trainer.epoch_loss.loss, "loss");
  visit(trainer.epoch_loss.weight, "loss");
  visit_fields(trainer.best, visit);
  visit(trainer.best_params, "best parameters");
  visit(trainer.averages, "averages");
  visit(trainer.improved, "epochs");
  visit(trainer.improved_metric, "epochs");
}

template <Is<Fingerprint::Option> T, class Visitor>
void visit_fields(T& option, Visitor& visit) {
  visit(option.first, "options");
  visit(option.second, "options");
}

template <Is<Fingerprint> T, class Visitor>
void visit_fields(T& fingerprint, Visitor& visit) {
  visit(fingerprint.version, "version of the library");
  visit.list(fingerprint.options, "options");
  visit(fingerprint.columns, "hashes");
  visit(fingerprint.train_rows, "hashes");
  visit(fingerprint.valid_rows, "hashes");
}

template <Is<Checkpoint> T, class Visitor>
void visit_fields(T& checkpoint, Visitor& visit) {
  visit_fields(checkpoint.fingerprint, visit);
  visit.list(checkpoint.finished, "finished networks");
  visit_fields(checkpoint.network, visit);
  visit_fields(checkpoint.trainer, visit);
  visit.list(checkpoint.history, "history");
}

// The first of the options that count.
std::string difference_of_options(const Fingerprint& was, const Fingerprint& is,
                                  const std::function<bool(const std::string&)>& counts) {
  for (std::size_t i = 0; i < is.options.size(); ++i) {
    const auto& [name, value] = is.options[i];
    if (was.options[i] != is.options[i] && counts(name))
      return fmt::format("{} was {} and is {} now", name, was.options[i].second, value);
  }
  return {};
}

}  // namespace

DataHashes data_hashes(const Prepared& p, Ranks* ranks) {
  ModelData columns;  // a model file without networks is the schema and nothing else
  columns.schema = p.schema;
  columns.training_json = "{}";
  const auto parts = training_parts(p.train.num_rows, p.options->batch_size, p.many_rows);
  return {.columns = checksum(format_model(columns)),
          .train_rows = hash_of(p.train, parts, ranks),
          .valid_rows = hash_of(p.valid, {{0, p.valid.num_rows}}, nullptr)};
}

Fingerprint fingerprint_of(const SettledOptions& options, const Prepared& p, Ranks* ranks) {
  Fingerprint fingerprint{.version = kVersion, .chosen = p.chosen};
  const Json deciding = deciding_options(options);
  for (const auto& [name, value] : deciding.members())
    fingerprint.options.emplace_back(name, value.dump());
  const DataHashes hashes = p.hashes ? *p.hashes : data_hashes(p, ranks);
  fingerprint.columns = hashes.columns;
  fingerprint.train_rows = hashes.train_rows;
  fingerprint.valid_rows = hashes.valid_rows;
  return fingerprint;
}

std::string difference_of_inputs(const Fingerprint& was, const Fingerprint& is) {
  if (was.version != is.version)
    return fmt::format("version {} of the library wrote it, this is {}", was.version, is.version);
  if (was.options.size() != is.options.size()) return "the list of options differs";
  const auto is_chosen = [&is](const std::string& name) {
    return std::ranges::count(is.chosen, name) > 0;
  };
  const std::string options = difference_of_options(was, is, std::not_fn(is_chosen));
  if (!options.empty()) return options;
  if (was.columns != is.columns) return "the columns of the training data, or their values, differ";
  if (was.train_rows != is.train_rows) return "the training rows differ";
  if (was.valid_rows != is.valid_rows) return "the validation rows differ";
  return {};
}

std::string difference(const Fingerprint& was, const Fingerprint& is) {
  const std::string inputs = difference_of_inputs(was, is);
  if (!inputs.empty()) return inputs;
  return difference_of_options(was, is, [](const std::string&) { return true; });
}

NetworkState state_of(const Network& network) {
  return {to_string(network.architecture()),
          {network.params().begin(), network.params().end()},
          all_constants(network)};
}

std::string restore(const NetworkState& state, Network& network) {
  if (state.architecture != to_string(network.architecture())) return "the architecture differs";
  if (state.params.size() != network.params().size())
    return "its parameters do not match the architecture";
  std::copy(state.params.begin(), state.params.end(), network.params().begin());
  return set_constants(state.constants, network);
}

std::string format_checkpoint(const Checkpoint& checkpoint) {
  Writer writer{std::string(kMagic)};
  writer(kFormatVersion, "version");
  visit_fields(checkpoint, writer);
  put(writer.out, checksum(writer.out));
  return std::move(writer.out);
}

Checkpoint parse_checkpoint(std::string_view bytes, const std::string& place) {
  Reader reader(bytes, place, "checkpoint");
  reader.open_frame(kMagic, kFormatVersion);
  Loader loader(reader);
  Checkpoint checkpoint;
  visit_fields(checkpoint, loader);
  if (reader.left() > 0) reader.fail(fmt::format("{} bytes too many", reader.left()));
  return checkpoint;
}

CheckpointFile::CheckpointFile(const TrainControl& control, bool is_first)
    : control_(control), is_first_(is_first) {
  const std::string& folder = control.checkpoint;
  if (folder.empty()) {
    if (control.resume)
      throw Error(ErrorKind::argument, "resume: there is no folder of checkpoints to resume from");
    return;
  }
  if (!(control.checkpoint_seconds >= 0)) {
    throw Error(ErrorKind::argument,
                fmt::format("checkpoint_seconds: {} is not 0 or more", control.checkpoint_seconds));
  }
  path_ = file_in(folder);
  if (!is_first_) return;
  std::error_code failure, ignored;
  fs::create_directory(folder, failure);
  if (!fs::is_directory(folder, ignored)) {
    throw Error(ErrorKind::file, fmt::format("cannot make the folder {}: {}", folder,
                                             failure ? failure.message() : "it is a file"));
  }
  if (!control.resume && fs::exists(path_, ignored)) {
    throw Error(
        ErrorKind::argument,
        fmt::format("{}: an earlier run left this checkpoint; pass --resume to continue it, or "
                    "delete the file to begin anew",
                    path_));
  }
  remove_stale_temporaries(folder);
}

std::optional<Checkpoint> CheckpointFile::read(Team& team) const {
  std::error_code ignored;
  std::string found;
  if (wanted() && is_first_ && fs::exists(path_, ignored))
    found = fmt::format("+{}", read_file(path_).view());
  found = team.from_first(found);
  if (found.empty()) return std::nullopt;
  return parse_checkpoint(std::string_view(found).substr(1), path_);
}

void require_same_on_all_ranks(const Prepared& p, Team& team) {
  if (team.ranks() == nullptr) return;
  const std::vector<std::string> all =
      team.gather(format_checkpoint({.fingerprint = fingerprint_of(p.options, p, team.ranks())}));
  const Fingerprint first = parse_checkpoint(all[0], "rank 0").fingerprint;
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    const std::string name = fmt::format("rank {}", rank);
    const std::string other = difference(first, parse_checkpoint(all[rank], name).fingerprint);
    if (!other.empty())
      throw Error(ErrorKind::data, fmt::format("{}: not the same as on rank 0: {}", name, other));
  }
}

void CheckpointFile::require_no(const std::string& difference) const {
  if (difference.empty()) return;
  throw Error(ErrorKind::argument,
              fmt::format("{}: the checkpoint is of another run: {}; resume with the data and "
                          "options of that run, or choose another folder",
                          path_, difference));
}

bool CheckpointFile::due() const {
  const std::chrono::duration<double> passed = Clock::now() - written_;
  return wanted() && is_first_ && passed.count() >= control_.checkpoint_seconds;
}

void CheckpointFile::write(const Checkpoint& checkpoint) {
  if (!is_first_) return;
  try {
    write_file_atomically(path_, format_checkpoint(checkpoint));
  } catch (const Error& error) {
    if (!warned_ && control_.warning) {
      control_.warning(
          fmt::format("no checkpoint: {}; training goes on, and so do the attempts", error.what()));
    }
    warned_ = true;
  }
  written_ = Clock::now();
}

void remove_checkpoint(const std::string& folder) {
  std::error_code failure;
  fs::remove(file_in(folder), failure);
  if (failure) {
    throw Error(ErrorKind::file,
                fmt::format("cannot delete {}: {}", file_in(folder), failure.message()));
  }
}

}  // namespace espalier
