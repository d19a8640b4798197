// SPDX-License-Identifier: Apache-2.0
// Makes system calls fail on purpose. Loaded into a program with LD_PRELOAD, it reads
//
//   ESPALIER_FAULT="FUNCTION FIRST LAST HOW FOLDER MARK"
//
// and spoils the calls FIRST to LAST (counted from 1) of FUNCTION on files below FOLDER. HOW is an
// errno to fail with, `short` to write only half, `touch` to give a file another time before it is
// opened, or `kill` to die by SIGKILL instead of the call.
// The file MARK is made when the first one is spoilt.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <sstream>
#include <string>

namespace {

struct Plan {
  std::string function, how, folder, mark;
  int first = 0, last = 0;

  Plan() {
    const char* const text = std::getenv("ESPALIER_FAULT");
    std::istringstream in(text == nullptr ? "" : text);
    in >> function >> first >> last >> how >> folder >> mark;
  }
};

const Plan& plan() {
  static const Plan plan;
  return plan;
}

template <class Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

std::string path_of(int fd) {
  char path[PATH_MAX];
  const ssize_t size =
      ::readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), path, sizeof path);
  return {path, size > 0 ? static_cast<std::size_t>(size) : 0};
}

std::string absolute(const char* path) {
  char folder[PATH_MAX];
  if (path[0] == '/' || ::getcwd(folder, sizeof folder) == nullptr) return path;
  return std::string(folder) + "/" + path;
}

// Whether this call is one to spoil.
bool chosen(const char* function, const std::string& path) {
  static std::atomic<int> calls = 0;
  if (plan().function != function || !path.starts_with(plan().folder)) return false;
  const int call = ++calls;
  if (call < plan().first || call > plan().last) return false;
  const long mark = ::syscall(SYS_open, plan().mark.c_str(), O_WRONLY | O_CREAT, 0600);
  ::syscall(SYS_close, mark);
  if (plan().how == "kill") ::kill(::getpid(), SIGKILL);
  return true;
}

int fail() {
  errno = std::atoi(plan().how.c_str());
  return -1;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (chosen("open", absolute(path))) {
    if (plan().how != "touch") return fail();
    constexpr timespec kTimes[2] = {{1, 0}, {1, 0}};
    ::utimensat(AT_FDCWD, path, kTimes, 0);
  }
  return real<int (*)(const char*, int, ...)>("open")(path, flags, mode);
}

ssize_t write(int fd, const void* bytes, std::size_t size) {
  const auto write = real<ssize_t (*)(int, const void*, std::size_t)>("write");
  if (!chosen("write", path_of(fd))) return write(fd, bytes, size);
  return plan().how == "short" ? write(fd, bytes, (size + 1) / 2) : fail();
}

int fsync(int fd) {
  return chosen("fsync", path_of(fd)) ? fail() : real<int (*)(int)>("fsync")(fd);
}

// As Linux does, a close that fails has closed all the same.
int close(int fd) {
  const bool spoilt = chosen("close", path_of(fd));
  const int result = real<int (*)(int)>("close")(fd);
  return spoilt ? fail() : result;
}

int fchmod(int fd, mode_t mode) {
  return chosen("fchmod", path_of(fd)) ? fail() : real<int (*)(int, mode_t)>("fchmod")(fd, mode);
}

int ftruncate(int fd, off_t size) noexcept {
  if (chosen("ftruncate", path_of(fd))) return fail();
  return real<int (*)(int, off_t)>("ftruncate")(fd, size);
}

int rename(const char* from, const char* to) noexcept {
  if (chosen("rename", absolute(to))) return fail();
  return real<int (*)(const char*, const char*)>("rename")(from, to);
}

}  // extern "C"
