// SPDX-License-Identifier: Apache-2.0
#include "core/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "core/descriptor.h"
#include "core/gzip.h"
#include "espalier/error.h"
#include "espalier/output_file.h"

namespace espalier {
namespace {

std::string read_all(int fd, const std::string& path) {
  std::string bytes;
  std::size_t size = 0;
  for (;;) {
    if (size == bytes.size()) bytes.resize(std::max<std::size_t>(1 << 16, 2 * size));
    const ssize_t got = retry([&] { return ::read(fd, bytes.data() + size, bytes.size() - size); });
    if (got < 0) throw_file_error("read", path, errno);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  bytes.resize(size);
  return bytes;
}

void write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t done = retry([&] { return ::write(fd, bytes.data(), bytes.size()); });
    if (done < 0) throw_file_error("write", path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
}

// Temporary files have names .espalier-PROCESS-ATTEMPT.tmp.
constexpr std::string_view kTemporaryPrefix = ".espalier-";
constexpr std::string_view kTemporarySuffix = ".tmp";

// The process that created a temporary file; 0 for other names.
pid_t maker_of(std::string_view name) {
  if (!name.starts_with(kTemporaryPrefix) || !name.ends_with(kTemporarySuffix)) return 0;
  pid_t maker = 0;
  std::from_chars(name.data() + kTemporaryPrefix.size(), name.data() + name.size(), maker);
  return std::max(maker, 0);
}

bool is_running(pid_t process) {
  return process != ::getpid() && (::kill(process, 0) == 0 || errno != ESRCH);
}

// Removes a temporary entry if its process has ended. Process numbers identify only the processes
// of this container; processes of other containers hold a lock instead. A process that has created
// an entry and not locked it yet waits for this lock and then finds that the entry is gone.
void remove_if_stale(const std::filesystem::path& path, pid_t maker) {
  if (is_running(maker)) return;
  const Descriptor entry(path, O_RDONLY | O_NONBLOCK);
  if (!entry.is_open() || ::flock(entry.get(), LOCK_EX | LOCK_NB) != 0) return;
  struct stat locked, there;
  if (::fstat(entry.get(), &locked) != 0 || ::stat(path.c_str(), &there) != 0) return;
  if (locked.st_dev != there.st_dev || locked.st_ino != there.st_ino) return;  // replaced meanwhile
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

// A number that no temporary entry of this process has had. Otherwise a thread could delete the new
// entry when it means the old one.
int next_temporary() {
  static std::atomic<int> next = 0;
  return next++;
}

// Locks a new temporary entry. Returns false if another process took it for a stale entry and
// deleted it. File systems without locks are accepted.
bool hold(const Descriptor& entry) {
  struct stat status;
  retry([&] { return ::flock(entry.get(), LOCK_SH); });
  return ::fstat(entry.get(), &status) != 0 || status.st_nlink > 0;
}

std::filesystem::path folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

// Makes a new name survive a power failure, if the file system supports it.
void sync_folder(const std::filesystem::path& folder) {
  const Descriptor descriptor(folder, O_RDONLY | O_DIRECTORY);
  if (descriptor.is_open()) ::fsync(descriptor.get());
}

// A new file in `folder`, open for writing, and its path.
std::pair<Descriptor, std::string> make_temporary(const std::filesystem::path& folder) {
  // Not mkstemp: only open() sets permissions according to the umask.
  while (true) {
    const std::string path = folder / fmt::format("{}{}-{}{}", kTemporaryPrefix, ::getpid(),
                                                  next_temporary(), kTemporarySuffix);
    Descriptor file(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (!file.is_open() && errno != EEXIST) return {std::move(file), path};
    if (file.is_open() && hold(file)) return {std::move(file), path};
  }
}

}  // namespace

void FileBytes::Unmap::operator()(const char* mapping) const noexcept {
  ::munmap(const_cast<char*>(mapping), size);
}

FileBytes read_file(const std::string& path) {
  if (path == "-") return FileBytes(read_all(STDIN_FILENO, "standard input"));
  const Descriptor file(path, O_RDONLY);
  struct stat status;
  if (!file.is_open() || ::fstat(file.get(), &status) != 0) throw_file_error("read", path, errno);
  if (S_ISDIR(status.st_mode)) throw_file_error("read", path, EISDIR);
  // Files in /proc have size 0 but content, so they are read in the slow way.
  if (S_ISREG(status.st_mode) && status.st_size > 0) {
    const auto size = static_cast<std::size_t>(status.st_size);
    void* mapping = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (mapping != MAP_FAILED) return FileBytes(static_cast<const char*>(mapping), size);
  }
  return FileBytes(read_all(file.get(), path));
}

struct ByteSource::State {
  std::string name;
  std::optional<Descriptor> file;  // none: standard input
  std::string room;
  std::unique_ptr<Inflater> inflater = nullptr;  // null: not gzip
  bool began = false;

  std::string_view read() {
    const int fd = file ? file->get() : STDIN_FILENO;
    const ssize_t got = retry([&] { return ::read(fd, room.data(), room.size()); });
    if (got < 0) throw_file_error("read", name, errno);
    return {room.data(), static_cast<std::size_t>(got)};
  }
};

ByteSource::ByteSource(const std::string& path) {
  std::optional<Descriptor> file;
  if (path != "-") {
    file.emplace(path, O_RDONLY);
    struct stat status;
    if (!file->is_open() || ::fstat(file->get(), &status) != 0)
      throw_file_error("read", path, errno);
    if (S_ISDIR(status.st_mode)) throw_file_error("read", path, EISDIR);
  }
  state_.reset(new State{.name = path == "-" ? "standard input" : path,
                         .file = std::move(file),
                         .room = std::string(std::size_t{1} << 18, '\0')});
}

ByteSource::~ByteSource() = default;
ByteSource::ByteSource(ByteSource&&) noexcept = default;

std::string ByteSource::next() {
  State& state = *state_;
  std::string bytes;
  while (bytes.empty()) {
    std::string_view got = state.read();
    if (!state.began) {
      bytes = got;
      while (bytes.size() < 2 && !(got = state.read()).empty()) bytes += got;  // a slow pipe
      state.began = true;
      if (!is_gzip(bytes)) return bytes;
      state.inflater = std::make_unique<Inflater>(state.name);
      state.inflater->undo(std::exchange(bytes, {}), bytes);
    } else if (!state.inflater) {
      return std::string(got);
    } else if (got.empty()) {
      state.inflater->finish();
      break;
    } else {
      state.inflater->undo(got, bytes);
    }
  }
  return bytes;
}

struct OutputFile::State {
  std::string target;
  std::string temporary;
  Descriptor file;
  std::atomic<bool> is_temporary;  // under the temporary name; else the target is written directly
};

OutputFile::OutputFile(const std::string& path) {
  struct stat status;
  const bool exists = ::stat(path.c_str(), &status) == 0;
  std::error_code failure;
  const std::string target =
      exists ? std::filesystem::canonical(path, failure).string() : path;  // keeps symbolic links
  if (exists && (!S_ISREG(status.st_mode) || failure)) {
    state_.reset(new State{path, "", Descriptor(path, O_WRONLY), false});
    if (!state_->file.is_open()) throw_file_error("write", path, errno);
    return;
  }
  if (exists && ::access(target.c_str(), W_OK) != 0) throw_file_error("write", path, errno);
  auto [file, temporary] = make_temporary(folder_of(target));
  if (!file.is_open()) throw_file_error("write", path, errno);
  state_.reset(new State{target, temporary, std::move(file), true});
  if (exists && ::fchmod(state_->file.get(), status.st_mode & 07777) != 0) {
    const int code = errno;
    discard();
    throw_file_error("write", path, code);
  }
}

OutputFile::~OutputFile() { discard(); }

void OutputFile::write(std::string_view bytes) {
  write_all(state_->file.get(), bytes, state_->target);
}

void OutputFile::close() {
  State& state = *state_;
  const bool is_synced =
      !state.is_temporary || retry([&] { return ::fsync(state.file.get()); }) == 0;
  if (!is_synced || !state.file.close()) throw_file_error("write", state.target, errno);
  if (!state.is_temporary) return;
  if (::rename(state.temporary.c_str(), state.target.c_str()) != 0) {
    throw_file_error("write", state.target, errno);
  }
  state.is_temporary = false;
  sync_folder(folder_of(state.target));
}

void OutputFile::discard() noexcept {
  if (state_->is_temporary.exchange(false)) ::unlink(state_->temporary.c_str());
}

void write_file_atomically(const std::string& path, std::string_view bytes) {
  OutputFile file(path);
  file.write(bytes);
  file.close();
}

void append_to_file(const std::string& path, std::string_view bytes) {
  Descriptor file(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (!file.is_open()) throw_file_error("write", path, errno);
  write_all(file.get(), bytes, path);
  if (!file.close()) throw_file_error("write", path, errno);
}

void remove_stale_temporaries(const std::string& folder) {
  std::error_code failure;
  std::vector<std::filesystem::path> entries;
  for (std::filesystem::directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    entries.push_back(entry->path());
  }
  for (const std::filesystem::path& path : entries) {
    if (const pid_t maker = maker_of(path.filename().native()); maker > 0)
      remove_if_stale(path, maker);
  }
}

TemporaryEntry::TemporaryEntry(const std::string& folder) {
  while (true) {
    path_ = std::filesystem::path(folder) / fmt::format("{}{}-t{}{}", kTemporaryPrefix, ::getpid(),
                                                        next_temporary(), kTemporarySuffix);
    if (::mkdir(path_.c_str(), 0777) == 0) {
      lock_.emplace(path_.string(), O_RDONLY | O_DIRECTORY);
      if (!lock_->is_open() && errno != ENOENT) {  // else another process took it for a stale entry
        const int failure = errno;
        ::rmdir(path_.c_str());
        throw_file_error("write", std::exchange(path_, {}).string(), failure);
      }
      if (lock_->is_open() && hold(*lock_)) return;
    } else if (errno != EEXIST) {
      throw_file_error("write", std::exchange(path_, {}).string(), errno);
    }
  }
}

TemporaryEntry::~TemporaryEntry() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

// A rename replaces only an empty folder. An existing folder is therefore first moved into a
// temporary one. If another process is faster, its folder is moved in turn.
void TemporaryEntry::rename_to(const std::string& name) {
  while (::rename(path_.c_str(), name.c_str()) != 0) {
    if (errno == ENOTDIR && ::unlink(name.c_str()) == 0) continue;
    if (errno != ENOTEMPTY && errno != EEXIST) throw_file_error("write", name, errno);
    const TemporaryEntry old(path_.parent_path().string());
    if (::rename(name.c_str(), old.path().c_str()) != 0 && errno != ENOENT)
      throw_file_error("write", name, errno);
  }
  path_.clear();
}

LineLog::LineLog(const std::string& path)
    : path_(path), fd_(retry([&] {
        return ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
      })) {
  if (fd_ < 0) throw_file_error("write", path_, errno);
  try {
    struct stat status;
    if (::fstat(fd_, &status) != 0) throw_file_error("read", path_, errno);
    if (!S_ISREG(status.st_mode))
      throw Error(ErrorKind::file, fmt::format("{}: not a plain file", path_));
    if (retry([&] { return ::flock(fd_, LOCK_EX | LOCK_NB); }) != 0) {
      if (errno != EWOULDBLOCK) throw_file_error("lock", path_, errno);
      throw Error(ErrorKind::argument, fmt::format("{}: another process is using it", path_));
    }
    const std::string text = read_all(fd_, path_);
    for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != text.npos; begin = end + 1) {
      lines_.push_back(text.substr(begin, end - begin));
      size_ = static_cast<std::int64_t>(end + 1);
    }
    rest_ = text.substr(static_cast<std::size_t>(size_));
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

LineLog::~LineLog() { ::close(fd_); }

void LineLog::cut_off_the_rest() {
  if (retry([&] { return ::ftruncate(fd_, size_); }) != 0)
    throw_file_error("shorten", path_, errno);
}

void LineLog::append(std::string_view line) {
  if (!is_whole_) {
    cut_off_the_rest();
    sync_folder(folder_of(path_));
  }
  is_whole_ = false;
  try {
    write_all(fd_, std::string(line) + '\n', path_);
    if (retry([&] { return ::fsync(fd_); }) != 0) throw_file_error("write", path_, errno);
  } catch (const Error&) {
    cut_off_the_rest();
    throw;
  }
  size_ += static_cast<std::int64_t>(line.size()) + 1;
  is_whole_ = true;
}

}  // namespace espalier
