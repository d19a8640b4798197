// SPDX-License-Identifier: Apache-2.0
// The state of a run between two steps, kept in a file so that a killed run can go on and still
// end with the same bits.
//
// The file is read only by the version that wrote it, for the same table and options, so its bytes
// are no promise. The wiring of the networks and the order of the rows are not in it: they follow
// from the seed.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encode/dataset.h"
#include "espalier/schema.h"
#include "espalier/train.h"
#include "model/network.h"
#include "train/prepare.h"
#include "train/settled_options.h"
#include "train/team.h"
#include "train/trainer.h"

namespace espalier {

/// What a run depends on: two runs with the same one give the same model.
struct Fingerprint {
  using Option = std::pair<std::string, std::string>;  // name, value as JSON

  std::string version;          // of the library
  std::vector<Option> options;  // settled
  std::uint64_t columns = 0;    // hashes
  std::uint64_t train_rows = 0;
  std::uint64_t valid_rows = 0;

  /// Names of options that training chose itself, by the rows. No file keeps them.
  std::vector<std::string> chosen = {};
};

/// All ranks that have the rows between them call it.
DataHashes data_hashes(const Prepared& prepared, Ranks* ranks);

/// Of settings and rows; all ranks that have the rows between them call it.
Fingerprint fingerprint_of(const SettledOptions& options, const Prepared& prepared, Ranks* ranks);

/// "epochs was 30 and is 40 now", "the training data differ", ...; empty if they are the same. Other
/// data are named as such, though they make training choose other options too.
std::string difference(const Fingerprint& was, const Fingerprint& is);

/// The same without the options that training chooses.
std::string difference_of_inputs(const Fingerprint& was, const Fingerprint& is);

struct NetworkState {
  std::string architecture;  // as built
  std::vector<float> params;
  std::vector<float> constants;
};

NetworkState state_of(const Network& network);

/// Puts a state into a network that was built from the same seed. Returns why it does not fit, or
/// an empty string.
std::string restore(const NetworkState& state, Network& network);

/// A member before the running one: with its best parameters, and the epoch that had them.
struct FinishedNetwork {
  NetworkState network;
  Epoch best;
};

struct Checkpoint {
  Fingerprint fingerprint;
  std::vector<FinishedNetwork> finished;
  NetworkState network;  // the running member
  TrainerState trainer;
  std::vector<Epoch> history;
};

/// Ranks that trained other rows or other options than the first would make a model of nothing: throws
/// Error (data).
void require_same_on_all_ranks(const Prepared& prepared, Team& team);

std::string format_checkpoint(const Checkpoint& checkpoint);

/// Throws Error (format) for bytes that format_checkpoint has not written; `place` stands for the
/// file in messages.
Checkpoint parse_checkpoint(std::string_view bytes, const std::string& place);

/// The file of a run's checkpoints, as TrainControl asks for it.
class CheckpointFile {
 public:
  /// Makes the folder if there is none. Throws Error: argument if a checkpoint is there and may not
  /// be resumed, file if the folder cannot be used. Of several ranks the first has the file.
  CheckpointFile(const TrainControl& control, bool is_first);

  bool wanted() const { return !path_.empty(); }
  bool wants_every_step() const { return wanted() && control_.checkpoint_seconds == 0; }
  const std::string& path() const { return path_; }

  /// What is to be resumed, on all ranks; nothing if there is none. Throws Error (file, format).
  std::optional<Checkpoint> read(Team& team) const;

  /// Throws Error (argument) about a checkpoint of another run if there is any difference.
  void require_no(const std::string& difference) const;

  /// Whether the time for the next one has come.
  bool due() const;

  /// Failing is no reason to lose the run: it warns, once, and the older checkpoint stays.
  void write(const Checkpoint& checkpoint);

 private:
  using Clock = std::chrono::steady_clock;

  const TrainControl& control_;
  const bool is_first_;
  std::string path_;  // empty: none wanted
  Clock::time_point written_ = Clock::now();
  bool warned_ = false;
};

}  // namespace espalier
