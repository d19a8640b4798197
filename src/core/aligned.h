// SPDX-License-Identifier: Apache-2.0
// Vectors aligned to cache lines, so that no vector load crosses two lines.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace espalier {

inline constexpr std::size_t kCacheLine = 64;

template <class T>
struct AlignedAllocator {
  using value_type = T;

  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) {}

  T* allocate(std::size_t n) {
    return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{kCacheLine}));
  }
  void deallocate(T* p, std::size_t) { ::operator delete (p, std::align_val_t{kCacheLine}); }

  template <class U>
  bool operator==(const AlignedAllocator<U>&) const {
    return true;
  }
};

/// n rounded up to the floats of whole cache lines.
template <class Int>
constexpr Int padded(Int n) {
  return (n + 15) / 16 * 16;
}

using AlignedFloats = std::vector<float, AlignedAllocator<float>>;

}  // namespace espalier
