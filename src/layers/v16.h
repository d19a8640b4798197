// SPDX-License-Identifier: Apache-2.0
// Sixteen floats as one value: one AVX-512 register, two AVX2 registers or a plain array, with the
// same bits from each. Included once per instruction set by kernels.cc, hence no include guard.

#if defined(ESPALIER_V16_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ESPALIER_V16_H_
#undef ESPALIER_V16_H_
#else
#define ESPALIER_V16_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace espalier {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR
#define ESPALIER_EACH for (int i = 0; i < 16; ++i)
struct V16 {
  float v[16];
};
inline V16 load(const float* p) {
  V16 r;
  ESPALIER_EACH r.v[i] = p[i];
  return r;
}
inline void store(V16 a, float* p) { ESPALIER_EACH p[i] = a.v[i]; }
inline V16 set(float x) {
  V16 r;
  ESPALIER_EACH r.v[i] = x;
  return r;
}
inline V16 operator+(V16 a, V16 b) {
  ESPALIER_EACH a.v[i] += b.v[i];
  return a;
}
inline V16 operator-(V16 a, V16 b) {
  ESPALIER_EACH a.v[i] -= b.v[i];
  return a;
}
inline V16 operator*(V16 a, V16 b) {
  ESPALIER_EACH a.v[i] *= b.v[i];
  return a;
}
inline V16 operator/(V16 a, V16 b) {
  ESPALIER_EACH a.v[i] /= b.v[i];
  return a;
}
inline V16 fma(V16 a, V16 b, V16 c) {
  ESPALIER_EACH c.v[i] = std::fma(a.v[i], b.v[i], c.v[i]);
  return c;
}
inline V16 sqrt(V16 a) {
  ESPALIER_EACH a.v[i] = std::sqrt(a.v[i]);
  return a;
}
inline V16 clamp(V16 a, V16 lo, V16 hi) {
  ESPALIER_EACH a.v[i] = std::min(std::max(a.v[i], lo.v[i]), hi.v[i]);
  return a;
}
inline V16 floor_positive(V16 a) {
  ESPALIER_EACH a.v[i] = static_cast<float>(static_cast<std::int32_t>(a.v[i]));
  return a;
}
/// table[(int)index + offset]
inline V16 lookup(const float* table, V16 index, int offset) {
  ESPALIER_EACH index.v[i] = table[static_cast<std::int32_t>(index.v[i]) + offset];
  return index;
}
/// table[(int)index + lane * stride]
inline V16 lookup_lanes(const float* table, V16 index, int stride) {
  ESPALIER_EACH index.v[i] = table[static_cast<std::int32_t>(index.v[i]) + i * stride];
  return index;
}
#undef ESPALIER_EACH
#else
constexpr hn::CappedTag<float, 16> kFloats;
constexpr hn::RebindToSigned<hn::CappedTag<float, 16> > kInts;
constexpr int kWidth = static_cast<int>(hn::MaxLanes(kFloats));
#define ESPALIER_EACH for (int i = 0; i < 16 / kWidth; ++i)
struct V16 {
  hn::Vec<decltype(kFloats)> v[16 / kWidth];
};
HWY_INLINE V16 load(const float* p) {
  V16 r;
  ESPALIER_EACH r.v[i] = hn::LoadU(kFloats, p + i * kWidth);
  return r;
}
HWY_INLINE void store(V16 a, float* p) {
  ESPALIER_EACH hn::StoreU(a.v[i], kFloats, p + i * kWidth);
}
HWY_INLINE V16 set(float x) {
  V16 r;
  ESPALIER_EACH r.v[i] = hn::Set(kFloats, x);
  return r;
}
HWY_INLINE V16 operator+(V16 a, V16 b) {
  ESPALIER_EACH a.v[i] = hn::Add(a.v[i], b.v[i]);
  return a;
}
HWY_INLINE V16 operator-(V16 a, V16 b) {
  ESPALIER_EACH a.v[i] = hn::Sub(a.v[i], b.v[i]);
  return a;
}
HWY_INLINE V16 operator*(V16 a, V16 b) {
  ESPALIER_EACH a.v[i] = hn::Mul(a.v[i], b.v[i]);
  return a;
}
HWY_INLINE V16 operator/(V16 a, V16 b) {
  ESPALIER_EACH a.v[i] = hn::Div(a.v[i], b.v[i]);
  return a;
}
HWY_INLINE V16 fma(V16 a, V16 b, V16 c) {
  ESPALIER_EACH c.v[i] = hn::MulAdd(a.v[i], b.v[i], c.v[i]);
  return c;
}
HWY_INLINE V16 sqrt(V16 a) {
  ESPALIER_EACH a.v[i] = hn::Sqrt(a.v[i]);
  return a;
}
HWY_INLINE V16 clamp(V16 a, V16 lo, V16 hi) {
  ESPALIER_EACH a.v[i] = hn::Min(hn::Max(a.v[i], lo.v[i]), hi.v[i]);
  return a;
}
HWY_INLINE V16 floor_positive(V16 a) {
  ESPALIER_EACH a.v[i] = hn::ConvertTo(kFloats, hn::ConvertTo(kInts, a.v[i]));
  return a;
}
HWY_INLINE V16 lookup(const float* table, V16 index, int offset) {
  ESPALIER_EACH index.v[i] =
      hn::GatherIndex(kFloats, table + offset, hn::ConvertTo(kInts, index.v[i]));
  return index;
}
HWY_INLINE V16 lookup_lanes(const float* table, V16 index, int stride) {
  const auto lanes = hn::Mul(hn::Iota(kInts, 0), hn::Set(kInts, stride));
  ESPALIER_EACH index.v[i] = hn::GatherIndex(kFloats, table + i * kWidth * stride,
                                             hn::Add(hn::ConvertTo(kInts, index.v[i]), lanes));
  return index;
}
#undef ESPALIER_EACH
#endif

/// The sum of the lanes, halves first: the same order for every instruction set.
HWY_INLINE float sum(V16 a) {
  float lanes[16];
  store(a, lanes);
  for (int half = 8; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes[0];
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier
HWY_AFTER_NAMESPACE();

#endif
