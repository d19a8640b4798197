// SPDX-License-Identifier: Apache-2.0
#include "core/large_vector.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "core/descriptor.h"

namespace espalier {
namespace {

// Stored before the array: the number of mapped bytes, 0 for heap memory.
constexpr std::size_t kHeader = 64;
constexpr std::align_val_t kAlignment{kHeader};

thread_local const SpillTo* current = nullptr;

// An open file without a name.
Descriptor nameless_file(const std::string& folder) {
#ifdef O_TMPFILE
  Descriptor file(folder, O_TMPFILE | O_RDWR, 0600);
  if (file.is_open()) return file;
#endif
  std::string path = folder + "/.espalier-scratch-XXXXXX";
  const int fd = ::mkstemp(path.data());
  if (fd < 0) throw_file_error("write", folder, errno);
  Descriptor named(path, O_RDWR);
  ::close(fd);
  ::unlink(path.c_str());
  return named;
}

// Allocates disk space now: running out of it later would kill the process.
void* map_file(const std::string& folder, std::size_t bytes) {
  const Descriptor file = nameless_file(folder);
  const int code = ::posix_fallocate(file.get(), 0, static_cast<off_t>(bytes));
  if (code != 0) throw_file_error("write scratch files to", folder, code);
  void* const mapping = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (mapping == MAP_FAILED) throw_file_error("map scratch files of", folder, errno);
  return mapping;
}

}  // namespace

SpillTo::SpillTo(std::string folder, std::size_t least_bytes)
    : folder_(std::move(folder)), least_bytes_(least_bytes), outer_(std::exchange(current, this)) {}

SpillTo::~SpillTo() { current = outer_; }

void* allocate_large(std::size_t bytes) {
  const bool spills = current != nullptr && bytes >= current->least_bytes_;
  const std::uint64_t mapped = spills ? bytes + kHeader : 0;
  char* const memory = static_cast<char*>(spills ? map_file(current->folder_, bytes + kHeader)
                                                 : ::operator new(bytes + kHeader, kAlignment));
  std::memcpy(memory, &mapped, sizeof mapped);
  return memory + kHeader;
}

void free_large(void* array) noexcept {
  char* const memory = static_cast<char*>(array) - kHeader;
  std::uint64_t mapped;
  std::memcpy(&mapped, memory, sizeof mapped);
  if (mapped > 0) {
    ::munmap(memory, mapped);
  } else {
    ::operator delete(memory, kAlignment);
  }
}

}  // namespace espalier
