// SPDX-License-Identifier: Apache-2.0
// Arrays that may be larger than memory. Small arrays are ordinary memory. While a thread has a
// SpillTo, its large arrays are memory-mapped files in a folder:
//
//   const SpillTo spill("scratch");
//   LargeVector<float> cells(rows * columns);  // pages that the system may write back and drop
//
// The files have no name, so nothing remains however the process ends.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace espalier {

class SpillTo {
 public:
  /// Applies to arrays of at least this many bytes that this thread creates. The folder must exist.
  explicit SpillTo(std::string folder, std::size_t least_bytes = std::size_t{1} << 20);
  ~SpillTo();
  SpillTo(const SpillTo&) = delete;
  SpillTo& operator=(const SpillTo&) = delete;

 private:
  friend void* allocate_large(std::size_t bytes);

  const std::string folder_;
  const std::size_t least_bytes_;
  const SpillTo* const outer_;
};

/// Aligned to 64 bytes. Throws std::bad_alloc, or Error (file) if the disk is full.
void* allocate_large(std::size_t bytes);
void free_large(void* memory) noexcept;

template <class T>
struct LargeAllocator {
  using value_type = T;

  LargeAllocator() = default;
  template <class U>
  LargeAllocator(const LargeAllocator<U>&) noexcept {}

  T* allocate(std::size_t count) { return static_cast<T*>(allocate_large(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t) noexcept { free_large(memory); }

  friend bool operator==(const LargeAllocator&, const LargeAllocator&) { return true; }
};

template <class T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

}  // namespace espalier
