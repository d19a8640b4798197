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
/// a where lo <= x <= hi, else 0.
inline V16 keep_inside(V16 a, V16 x, V16 lo, V16 hi) {
  ESPALIER_EACH if (!(x.v[i] >= lo.v[i] && x.v[i] <= hi.v[i])) a.v[i] = 0;
  return a;
}
/// Whole numbers.
inline void store_int(V16 a, std::int32_t* p) {
  ESPALIER_EACH p[i] = static_cast<std::int32_t>(a.v[i]);
}
/// a0 b0 a1 b1 ...
inline void store_pairs(V16 a, V16 b, float* p) {
  ESPALIER_EACH {
    p[2 * i] = a.v[i];
    p[2 * i + 1] = b.v[i];
  }
}
/// table[(int)index + lane * stride]
inline V16 lookup_lanes(const float* table, V16 index, int stride) {
  ESPALIER_EACH index.v[i] = table[static_cast<std::int32_t>(index.v[i]) + i * stride];
  return index;
}
/// out[j][i] = in[i][j], 16 x 16, with the strides of both.
inline void transpose(const float* in, std::ptrdiff_t in_stride, float* out,
                      std::ptrdiff_t out_stride) {
  for (int j = 0; j < 16; ++j) {
    ESPALIER_EACH out[j * out_stride + i] = in[i * in_stride + j];
  }
}
/// The sum of each row of rows[16][16], halves first.
inline V16 sum_rows(const float* rows) {
  V16 r;
  for (int row = 0; row < 16; ++row) {
    float lanes[16];
    ESPALIER_EACH lanes[i] = rows[16 * row + i];
    for (int half = 8; half > 0; half /= 2) {
      for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
    }
    r.v[row] = lanes[0];
  }
  return r;
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
HWY_INLINE V16 keep_inside(V16 a, V16 x, V16 lo, V16 hi) {
  ESPALIER_EACH a.v[i] =
      hn::IfThenElseZero(hn::And(hn::Ge(x.v[i], lo.v[i]), hn::Le(x.v[i], hi.v[i])), a.v[i]);
  return a;
}
HWY_INLINE void store_int(V16 a, std::int32_t* p) {
  ESPALIER_EACH hn::StoreU(hn::ConvertTo(kInts, a.v[i]), kInts, p + i * kWidth);
}
HWY_INLINE void store_pairs(V16 a, V16 b, float* p) {
  ESPALIER_EACH hn::StoreInterleaved2(a.v[i], b.v[i], kFloats, p + 2 * i * kWidth);
}
HWY_INLINE V16 lookup_lanes(const float* table, V16 index, int stride) {
  const auto lanes = hn::Mul(hn::Iota(kInts, 0), hn::Set(kInts, stride));
  ESPALIER_EACH index.v[i] = hn::GatherIndex(kFloats, table + i * kWidth * stride,
                                             hn::Add(hn::ConvertTo(kInts, index.v[i]), lanes));
  return index;
}

// One halving of the sums of rows: of two rows of partial sums to one, the first row's in the even
// places (blocks, pairs or lanes), the second row's in the odd ones.
using Row = hn::Vec<decltype(kFloats)>;
HWY_INLINE Row fold_blocks(Row a, Row b) {
  return hn::Add(hn::OddEvenBlocks(b, a), hn::SwapAdjacentBlocks(hn::OddEvenBlocks(a, b)));
}
HWY_INLINE Row fold_pairs(Row a, Row b) {
  const hn::Repartition<double, decltype(kFloats)> pairs;
  const auto x = hn::BitCast(pairs, a), y = hn::BitCast(pairs, b);
  return hn::Add(hn::BitCast(kFloats, hn::OddEven(y, x)),
                 hn::BitCast(kFloats, hn::Shuffle01(hn::OddEven(x, y))));
}
HWY_INLINE Row fold_lanes(Row a, Row b) {
  return hn::Add(hn::OddEven(b, a), hn::Shuffle2301(hn::OddEven(a, b)));
}
// The halves of a row as one register of the rows `row` and, where it is wide enough, row + 8.
HWY_INLINE Row fold_halves(const float* rows, int row) {
  const V16 a = load(rows + 16 * row);
  if constexpr (kWidth == 16) {
    const V16 b = load(rows + 16 * (row + 8));
    return hn::Add(hn::ConcatLowerLower(kFloats, b.v[0], a.v[0]),
                   hn::ConcatUpperUpper(kFloats, b.v[0], a.v[0]));
  } else {
    return hn::Add(a.v[0], a.v[16 / kWidth - 1]);
  }
}
HWY_INLINE V16 sum_rows(const float* rows) {
  V16 r;
  ESPALIER_EACH {
    const int first = i * kWidth;
    Row blocks[4];
    for (int k = 0; k < 4; ++k)
      blocks[k] = fold_blocks(fold_halves(rows, first + k), fold_halves(rows, first + k + 4));
    r.v[i] = fold_lanes(fold_pairs(blocks[0], blocks[2]), fold_pairs(blocks[1], blocks[3]));
  }
  return r;
}

// Exchanges places of two rows, so that the odd places of a and the even ones of b change sides.
HWY_INLINE void swap_lanes(Row& a, Row& b) {
  const Row first = hn::OddEven(hn::Shuffle2301(b), a);
  b = hn::OddEven(b, hn::Shuffle2301(a));
  a = first;
}
HWY_INLINE void swap_pairs(Row& a, Row& b) {
  const hn::Repartition<double, decltype(kFloats)> pairs;
  const auto x = hn::BitCast(pairs, a), y = hn::BitCast(pairs, b);
  a = hn::BitCast(kFloats, hn::OddEven(hn::Shuffle01(y), x));
  b = hn::BitCast(kFloats, hn::OddEven(y, hn::Shuffle01(x)));
}
HWY_INLINE void swap_blocks(Row& a, Row& b) {
  const Row first = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a);
  b = hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a));
  a = first;
}
HWY_INLINE void swap_halves(Row& a, Row& b) {
  const Row first = hn::ConcatLowerLower(kFloats, b, a);
  b = hn::ConcatUpperUpper(kFloats, b, a);
  a = first;
}
HWY_INLINE void transpose(const float* in, std::ptrdiff_t in_stride, float* out,
                          std::ptrdiff_t out_stride) {
  for (int top = 0; top < 16; top += kWidth) {
    for (int left = 0; left < 16; left += kWidth) {
      Row rows[kWidth];
      for (int i = 0; i < kWidth; ++i)
        rows[i] = hn::LoadU(kFloats, in + (top + i) * in_stride + left);
      for (int i = 0; i < kWidth; i += 2) swap_lanes(rows[i], rows[i + 1]);
      for (int i = 0; i < kWidth; ++i) {
        if ((i & 2) == 0) swap_pairs(rows[i], rows[i + 2]);
      }
      for (int i = 0; i < kWidth; ++i) {
        if ((i & 4) == 0) swap_blocks(rows[i], rows[i + 4]);
      }
      if constexpr (kWidth == 16) {
        for (int i = 0; i < 8; ++i) swap_halves(rows[i], rows[i + 8]);
      }
      for (int i = 0; i < kWidth; ++i)
        hn::StoreU(rows[i], kFloats, out + (left + i) * out_stride + top);
    }
  }
}
#undef ESPALIER_EACH
#endif

/// A table of values at the keypoints 0 .. last: the value left of a segment k, and the step to
/// the value right of it.
class MemoryTable {
 public:
  HWY_INLINE MemoryTable(const float* values, int) : values_(values) {}
  HWY_INLINE V16 left(V16 k) const { return lookup(values_, k, 0); }
  HWY_INLINE V16 step(V16 k) const { return lookup(values_, k, 1) - lookup(values_, k, 0); }

 private:
  const float* values_;
};

#if HWY_TARGET == HWY_AVX3
/// The same for up to kRegisterSegments segments, in four registers.
constexpr int kRegisterSegments = 32;
class RegisterTable {
 public:
  HWY_INLINE RegisterTable(const float* values, int last) {
    for (int half = 0; half < 2; ++half) {
      const int count = std::clamp(last - 16 * half, 0, 16);
      const auto some = hn::FirstN(kFloats, static_cast<std::size_t>(count));
      left_[half] = hn::MaskedLoad(some, kFloats, values + 16 * half);
      step_[half] = hn::Sub(hn::MaskedLoad(some, kFloats, values + 16 * half + 1), left_[half]);
    }
  }
  HWY_INLINE V16 left(V16 k) const { return {{pick(left_, k)}}; }
  HWY_INLINE V16 step(V16 k) const { return {{pick(step_, k)}}; }

 private:
  static HWY_INLINE Row pick(const Row* halves, V16 k) {
    const auto index = hn::ConvertTo(kInts, k.v[0]);
    const auto lane = hn::IndicesFromVec(kFloats, hn::And(index, hn::Set(kInts, 15)));
    const auto upper = hn::RebindMask(kFloats, hn::Gt(index, hn::Set(kInts, 15)));
    return hn::IfThenElse(upper, hn::TableLookupLanes(halves[1], lane),
                          hn::TableLookupLanes(halves[0], lane));
  }

  Row left_[2], step_[2];
};
#else
constexpr int kRegisterSegments = 0;
using RegisterTable = MemoryTable;
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
