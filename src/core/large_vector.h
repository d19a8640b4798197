// SPDX-License-Identifier: Apache-2.0
// Arrays that may be larger than memory. They are vectors in memory as any other, but the large
// ones that a thread makes while it has a SpillTo are files in a folder, mapped:
//
//   const SpillTo spill("scratch");
//   LargeVector<float> cells(rows * columns);  // pages that the system may write back and drop
//
// The files have no name, so that nothing is left of them whatever ends the process.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace espalier {

class SpillTo {
 public:
  /// From now on, arrays of that many bytes and more that this thread makes. The folder must exist.
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
