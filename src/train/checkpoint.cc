// SPDX-License-Identifier: Apache-2.0
#include "train/checkpoint.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/file.h"
#include "espalier/error.h"
#include "train/state_bytes.h"

namespace espalier {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "ESPCHECK";
constexpr std::uint32_t kFormatVersion = 3;

std::string file_in(const std::string& folder) {
  return (fs::path(folder) / "checkpoint").string();
}

}  // namespace

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

template <Is<Choice> T, class Visitor>
void visit_fields(T& choice, Visitor& visit) {
  visit(choice.setting, "choices");
  visit(choice.value, "choices");
  visit(choice.why, "choices");
  visit.list(choice.alternatives, "choices");
  visit(choice.improvement, "choices");
  visit(choice.error, "choices");
  visit(choice.rows, "choices");
}

template <Is<MemberState> T, class Visitor>
void visit_fields(T& member, Visitor& visit) {
  visit(member.stage, "members");
  visit(member.bytes, "members");
}

template <Is<Checkpoint> T, class Visitor>
void visit_fields(T& checkpoint, Visitor& visit) {
  visit_fields(checkpoint.fingerprint, visit);
  visit(checkpoint.architecture, "architecture");
  visit.list(checkpoint.choices, "choices");
  visit.list(checkpoint.members, "members");
}

std::string format_checkpoint(const Checkpoint& checkpoint) {
  StateWriter writer{std::string(kMagic)};
  writer(kFormatVersion, "version");
  visit_fields(checkpoint, writer);
  put(writer.out, checksum(writer.out));
  return std::move(writer.out);
}

Checkpoint parse_checkpoint(std::string_view bytes, const std::string& place) {
  Reader reader(bytes, place, "checkpoint");
  reader.open_frame(kMagic, kFormatVersion);
  StateReader loader(reader);
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

void require_same_on_all_ranks(const Problem& p, const DataHashes& hashes, Team& team) {
  if (team.ranks() == nullptr) return;
  const std::vector<std::string> all =
      team.gather(format_checkpoint({.fingerprint = fingerprint_of(p.options, p, hashes)}));
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

bool CheckpointFile::due(Clock::time_point last) const {
  const std::chrono::duration<double> passed = Clock::now() - last;
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
