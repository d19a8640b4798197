// SPDX-License-Identifier: Apache-2.0
// A file descriptor that closes itself, and its errors.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "espalier/error.h"

namespace espalier {

[[noreturn]] inline void throw_file_error(const char* action, const std::string& path, int code) {
  throw Error(ErrorKind::file,
              fmt::format("cannot {} {}: {}", action, path, std::generic_category().message(code)));
}

// Repeats a system call while signals interrupt it.
template <class Call>
auto retry(Call&& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags, mode_t mode = 0)
      : fd_(retry([&] { return ::open(path.c_str(), flags | O_CLOEXEC, mode); })) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }

  bool is_open() const { return fd_ >= 0; }
  int get() const { return fd_; }

  // Closes the file and returns whether the system kept the written bytes.
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

}  // namespace espalier
