// SPDX-License-Identifier: Apache-2.0
// Reads whole files, writes files atomically, and reads files piece by piece, with gzip
// decompression.
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

// The bytes of a file, memory-mapped if possible. The file must not be truncated while the bytes
// are in use; replacing or deleting it is harmless.
class FileBytes {
 public:
  explicit FileBytes(std::string bytes) : bytes_(std::move(bytes)) {}
  // Takes ownership of a mapping of mmap.
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

// Reads a file from start to end in constant memory and decompresses gzip.
class ByteSource {
 public:
  // "-" is standard input. Throws Error (file) as read_file does.
  explicit ByteSource(const std::string& path);
  ~ByteSource();
  ByteSource(ByteSource&&) noexcept;

  // The next bytes; an empty string at the end. Throws Error (file, data) if they cannot be read or
  // the gzip stream is damaged or incomplete.
  std::string next();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Reads a file; "-" is standard input. Throws Error (file) if it is absent, a directory or
// unreadable.
FileBytes read_file(const std::string& path);

// Writes a file through OutputFile. Throws Error (file).
void write_file_atomically(const std::string& path, std::string_view bytes);

// Appends bytes to a file, creating it if it is absent. Throws Error (file).
void append_to_file(const std::string& path, std::string_view bytes);

// Deletes temporary files and folders of processes that were killed while they wrote to `folder`.
// It keeps those in use, including those of processes in other containers, and ignores those that
// cannot be deleted.
void remove_stale_temporaries(const std::string& folder);

// A new folder with a temporary name. It is deleted at the end unless it was renamed.
class TemporaryEntry {
 public:
  // Throws Error (file) if `folder` is not writable.
  explicit TemporaryEntry(const std::string& folder);
  ~TemporaryEntry();
  TemporaryEntry(TemporaryEntry&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}
  TemporaryEntry& operator=(TemporaryEntry&&) = delete;

  std::string path() const { return path_.string(); }

  // Renames the folder and replaces an existing one, even if other processes do the same: the last
  // one wins. Open or mapped files of the replaced folder stay valid. Throws Error (file).
  void rename_to(const std::string& name);

 private:
  std::filesystem::path path_;
  std::optional<Descriptor> lock_;
};

// An append-only file of lines. After a crash each line is complete or absent: an incomplete line
// at the end is ignored, and the first append removes it. One process at a time can have the file
// open.
class LineLog {
 public:
  // Opens or creates the file. Throws Error: argument if another process has it open, file if it
  // cannot be used.
  explicit LineLog(const std::string& path);
  ~LineLog();
  LineLog(const LineLog&) = delete;
  LineLog& operator=(const LineLog&) = delete;

  // The lines that the file had when it was opened.
  const std::vector<std::string>& lines() const { return lines_; }

  // The incomplete line that followed them. The first append removes it.
  const std::string& rest() const { return rest_; }

  // Writes a line (without a line break) and syncs it to disk. On Error (file) the file is
  // unchanged; a partial line that could not be removed is removed by the next append.
  void append(std::string_view line);

 private:
  void cut_off_the_rest();

  std::string path_;
  int fd_;
  std::int64_t size_ = 0;  // of the complete lines
  bool is_whole_ = false;  // whether nothing follows them, and the name is synced
  std::vector<std::string> lines_;
  std::string rest_;
};

}  // namespace espalier
