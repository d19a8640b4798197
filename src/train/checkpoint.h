// SPDX-License-Identifier: Apache-2.0
// The state of a run, kept in a file so that a killed run can go on and still end with the same
// bits: its choices, finished members, and states of members that are being fitted. As each member
// is fitted by itself, the states need not be of the same moment.
//
// The file is read only by the version that wrote it, for the same table and options, so its bytes
// are no promise.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/train.h"
#include "train/fingerprint.h"
#include "train/team.h"

namespace espalier {

/// How far the fit of a member is.
struct MemberState {
  enum Stage : std::uint8_t { waiting, running, finished };

  std::uint8_t stage = waiting;
  std::string bytes = {};  // of a running fit its state, of a finished one the member
};

struct Checkpoint {
  Fingerprint fingerprint;
  std::string architecture = {};  // with all wires listed
  std::vector<Choice> choices = {};
  std::vector<MemberState> members = {};
};

/// Ranks that trained other rows or other options than the first would make a model of nothing:
/// throws Error (data).
void require_same_on_all_ranks(const Problem& problem, const DataHashes& hashes, Team& team);

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

  using Clock = std::chrono::steady_clock;

  /// Whether the time for the next state has come, after the one of that time. Of any thread.
  bool due(Clock::time_point last) const;

  /// Writes no more, because a run that was stopped in a search has nothing to resume.
  void keep_nothing() { path_.clear(); }

  /// Failing is no reason to lose the run: it warns, once, and the older checkpoint stays.
  void write(const Checkpoint& checkpoint);

 private:
  const TrainControl& control_;
  const bool is_first_;
  std::string path_;  // empty: none wanted
  bool warned_ = false;
};

}  // namespace espalier
