// SPDX-License-Identifier: Apache-2.0
#include "train/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/bytes.h"
#include "core/file.h"
#include "espalier/error.h"
#include "espalier/version.h"
#include "model/model_data.h"
#include "model/model_file.h"

namespace espalier {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "ESPCHECK";
constexpr std::uint32_t kFormatVersion = 1;

std::string file_in(const std::string& folder) {
  return (fs::path(folder) / "checkpoint").string();
}

std::uint64_t hash_of(const Dataset& data) {
  std::string parts;
  put(parts, data.num_rows);
  put(parts, data.num_features);
  for (const std::vector<float>* numbers : {&data.cells, &data.labels, &data.weights})
    put(parts, checksum(raw_bytes(std::span<const float>(*numbers))));
  return checksum(parts);
}

void put_epoch(std::string& out, const Epoch& epoch) {
  put(out, epoch.member);
  put(out, epoch.epoch);
  put(out, epoch.train_loss);
  put(out, epoch.valid_metric);
}

Epoch get_epoch(Reader& reader) {
  Epoch epoch;
  epoch.member = reader.get<int>("epochs");
  epoch.epoch = reader.get<int>("epochs");
  epoch.train_loss = reader.get<double>("epochs");
  epoch.valid_metric = reader.get<double>("epochs");
  return epoch;
}

void put_network(std::string& out, const NetworkState& network) {
  put_text(out, network.architecture);
  put_floats(out, network.params);
  put_floats(out, network.constants);
}

NetworkState get_network(Reader& reader) {
  NetworkState network;
  network.architecture = reader.text("architecture");
  network.params = reader.floats("parameters");
  network.constants = reader.floats("constants");
  return network;
}

void put_trainer(std::string& out, const TrainerState& trainer) {
  put_floats(out, trainer.mean);
  put_floats(out, trainer.variance);
  put(out, trainer.beta1_power);
  put(out, trainer.beta2_power);
  put(out, trainer.steps_done);
  put(out, trainer.epochs_done);
  put(out, trainer.epoch_loss);
  put(out, trainer.epoch_weight);
  put_epoch(out, trainer.best);
  put_floats(out, trainer.best_params);
}

TrainerState get_trainer(Reader& reader) {
  TrainerState trainer;
  trainer.mean = reader.floats("means");
  trainer.variance = reader.floats("variances");
  trainer.beta1_power = reader.get<double>("powers");
  trainer.beta2_power = reader.get<double>("powers");
  trainer.steps_done = reader.get<std::int64_t>("steps");
  trainer.epochs_done = reader.get<int>("epochs");
  trainer.epoch_loss = reader.get<double>("loss");
  trainer.epoch_weight = reader.get<double>("loss");
  trainer.best = get_epoch(reader);
  trainer.best_params = reader.floats("best parameters");
  return trainer;
}

void put_fingerprint(std::string& out, const Fingerprint& fingerprint) {
  put_text(out, fingerprint.version);
  put(out, static_cast<std::uint64_t>(fingerprint.options.size()));
  for (const auto& [name, value] : fingerprint.options) {
    put_text(out, name);
    put_text(out, value);
  }
  put(out, fingerprint.columns);
  put(out, fingerprint.train_rows);
  put(out, fingerprint.valid_rows);
}

Fingerprint get_fingerprint(Reader& reader) {
  Fingerprint fingerprint;
  fingerprint.version = reader.text("version of the library");
  const auto count = reader.get<std::uint64_t>("options");
  for (std::uint64_t i = 0; i < count; ++i) {
    auto& [name, value] = fingerprint.options.emplace_back();
    name = reader.text("options");
    value = reader.text("options");
  }
  fingerprint.columns = reader.get<std::uint64_t>("hashes");
  fingerprint.train_rows = reader.get<std::uint64_t>("hashes");
  fingerprint.valid_rows = reader.get<std::uint64_t>("hashes");
  return fingerprint;
}

}  // namespace

Fingerprint fingerprint_of(const TrainOptions& options, const Schema& schema, const Dataset& train,
                           const Dataset& valid) {
  Fingerprint fingerprint{.version = kVersion};
  const auto json = nlohmann::ordered_json::parse(to_json(options));
  for (const auto& [name, value] : json.items()) {
    if (name != "threads") fingerprint.options.emplace_back(name, value.dump());
  }
  ModelData columns;  // a model file without networks is the schema and nothing else
  columns.schema = schema;
  columns.training_json = "{}";
  fingerprint.columns = checksum(format_model(columns));
  fingerprint.train_rows = hash_of(train);
  fingerprint.valid_rows = hash_of(valid);
  return fingerprint;
}

std::string difference(const Fingerprint& was, const Fingerprint& is) {
  if (was.version != is.version)
    return fmt::format("version {} of the library wrote it, this is {}", was.version, is.version);
  if (was.options.size() != is.options.size()) return "the list of options differs";
  for (std::size_t i = 0; i < is.options.size(); ++i) {
    if (was.options[i] == is.options[i]) continue;
    return fmt::format("{} was {} and is {} now", is.options[i].first, was.options[i].second,
                       is.options[i].second);
  }
  if (was.columns != is.columns) return "the columns of the table, or their values, differ";
  if (was.train_rows != is.train_rows) return "the training rows differ";
  if (was.valid_rows != is.valid_rows) return "the validation rows differ";
  return {};
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
  std::string out(kMagic);
  put(out, kFormatVersion);
  put_fingerprint(out, checkpoint.fingerprint);
  put(out, static_cast<std::uint64_t>(checkpoint.finished.size()));
  for (std::size_t m = 0; m < checkpoint.finished.size(); ++m) {
    put_network(out, checkpoint.finished[m]);
    put_epoch(out, checkpoint.best[m]);
  }
  put_network(out, checkpoint.network);
  put_trainer(out, checkpoint.trainer);
  put(out, static_cast<std::uint64_t>(checkpoint.history.size()));
  for (const Epoch& epoch : checkpoint.history) put_epoch(out, epoch);
  put(out, checksum(out));
  return out;
}

Checkpoint parse_checkpoint(std::string_view bytes, const std::string& place) {
  Reader reader(bytes, place, "checkpoint");
  reader.open_frame(kMagic, kFormatVersion);
  Checkpoint checkpoint;
  checkpoint.fingerprint = get_fingerprint(reader);
  const auto finished = reader.get<std::uint64_t>("finished networks");
  for (std::uint64_t m = 0; m < finished; ++m) {
    checkpoint.finished.push_back(get_network(reader));
    checkpoint.best.push_back(get_epoch(reader));
  }
  checkpoint.network = get_network(reader);
  checkpoint.trainer = get_trainer(reader);
  const auto epochs = reader.get<std::uint64_t>("history");
  for (std::uint64_t e = 0; e < epochs; ++e) checkpoint.history.push_back(get_epoch(reader));
  if (reader.left() > 0) reader.fail(fmt::format("{} bytes too many", reader.left()));
  return checkpoint;
}

CheckpointFile::CheckpointFile(const TrainControl& control) : control_(control) {
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

std::optional<Checkpoint> CheckpointFile::read() const {
  std::error_code ignored;
  if (!wanted() || !fs::exists(path_, ignored)) return std::nullopt;
  return parse_checkpoint(read_file(path_).view(), path_);
}

bool CheckpointFile::due() const {
  const std::chrono::duration<double> passed = Clock::now() - written_;
  return wanted() && passed.count() >= control_.checkpoint_seconds;
}

void CheckpointFile::write(const Checkpoint& checkpoint) {
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
