// SPDX-License-Identifier: Apache-2.0
// Whole files: read in one view and written so that nobody ever sees half of one;
// and the bytes of files piece by piece, gzip undone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/descriptor.h"

namespace espalier {

// The bytes of a file. They are a mapping of the file where the system allows it, so nobody may
// shorten the file in place while they are in use; replacing or deleting it is harmless.
class FileBytes {
 public:
  explicit FileBytes(std::string bytes) : bytes_(std::move(bytes)) {}
  // Takes over a mapping made by mmap.
  FileBytes(const char* mapping, std::size_t size) : mapping_(mapping, Unmap{size}) {}

  std::string_view view() const noexcept {
    if (mapping_) return {mapping_.get(), mapping_.get_deleter().size};
    return bytes_;
  }

 private:
  struct Unmap {
    std::size_t size;
    void operator()(const char* mapping) const noexcept;
  };

  std::string bytes_;
  std::unique_ptr<const char, Unmap> mapping_;
};

// The bytes of a file from first to last, in memory that does not grow with it; gzip is undone.
class ByteSource {
 public:
  // "-" is standard input. Throws Error (file) as read_file does.
  explicit ByteSource(const std::string& path);
  ~ByteSource();
  ByteSource(ByteSource&&) noexcept;

  // Some more of them; an empty string at the end. Throws Error (file, data) if they cannot be read
  // or are no whole gzip.
  std::string next();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Reads a file; "-" is standard input. Throws Error (file) if it is missing, a directory or
// unreadable.
FileBytes read_file(const std::string& path);

// Writes a whole OutputFile. Throws Error (file).
void write_file_atomically(const std::string& path, std::string_view bytes);

// Adds bytes to the end of a file, which is made if it is not there. Throws Error (file).
void append_to_file(const std::string& path, std::string_view bytes);

// Deletes the temporary files and folders of processes that were killed while they wrote into
// `folder`. Those that are still in use stay, also of processes of other containers. What cannot be
// deleted does no harm and stays too.
void remove_stale_temporaries(const std::string& folder);

// A new folder under a temporary name, which is gone afterwards unless it got another name.
class TemporaryEntry {
 public:
  // Throws Error (file) if `folder` cannot be written.
  explicit TemporaryEntry(const std::string& folder);
  ~TemporaryEntry();
  TemporaryEntry(TemporaryEntry&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}
  TemporaryEntry& operator=(TemporaryEntry&&) = delete;

  std::string path() const { return path_.string(); }

  // Replaces whatever has that name, also while other processes do the same: the last one wins.
  // Files of the replaced folder that are open or mapped stay as they are. Throws Error (file).
  void rename_to(const std::string& name);

 private:
  std::filesystem::path path_;
  std::optional<Descriptor> lock_;
};

// A file of lines that only grows. Whatever ends the process, each line is whole or absent: the
// part of a line that an earlier process left at the end is no line, and the first append cuts it
// off. One process at a time has the file open.
class LineLog {
 public:
  // Opens the file, or makes it. Throws Error: argument if another process has it open, file if it
  // cannot be used.
  explicit LineLog(const std::string& path);
  ~LineLog();
  LineLog(const LineLog&) = delete;
  LineLog& operator=(const LineLog&) = delete;

  // Those that were there when it was opened.
  const std::vector<std::string>& lines() const { return lines_; }

  // What followed them then, without a line break. Whoever appends must know that it may go.
  const std::string& rest() const { return rest_; }

  // Writes a line, which has no line break of its own, and waits until the disk has it. Throws
  // Error (file), and then the file is as before; what could not be cut off the next append cuts.
  void append(std::string_view line);

 private:
  void cut_off_the_rest();

  std::string path_;
  int fd_;
  std::int64_t size_ = 0;  // of the whole lines
  bool is_whole_ = false;  // nothing follows them, and the name will last
  std::vector<std::string> lines_;
  std::string rest_;
};

}  // namespace espalier
