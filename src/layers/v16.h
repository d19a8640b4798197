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
struct I16 {  // sixteen integers
  std::int32_t v[16];
};
inline V16 load(const float* p) {
  V16 r;
  ESPALIER_EACH r.v[i] = p[i];
  return r;
}
inline void store(V16 a, float* p) { ESPALIER_EACH p[i] = a.v[i]; }
/// The first n <= 16 lanes; the others are 0, and are not written.
inline V16 load(const float* p, std::size_t n) {
  V16 r;
  ESPALIER_EACH r.v[i] = static_cast<std::size_t>(i) < n ? p[i] : 0;
  return r;
}
inline void store(V16 a, float* p, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) p[i] = a.v[i];
}
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
/// The whole part, clamped to [0, last]; of NaN 0.
inline I16 whole_part(V16 a, int last) {
  I16 r;
  ESPALIER_EACH r.v[i] =
      a.v[i] > 0 ? static_cast<std::int32_t>(std::min(a.v[i], static_cast<float>(last))) : 0;
  return r;
}
inline V16 to_float(I16 a) {
  V16 r;
  ESPALIER_EACH r.v[i] = static_cast<float>(a.v[i]);
  return r;
}
/// table[index]
inline V16 lookup(const float* table, I16 index) {
  V16 r;
  ESPALIER_EACH r.v[i] = table[index.v[i]];
  return r;
}
/// a where lo <= x <= hi, else 0.
inline V16 keep_inside(V16 a, V16 x, V16 lo, V16 hi) {
  ESPALIER_EACH if (!(x.v[i] >= lo.v[i] && x.v[i] <= hi.v[i])) a.v[i] = 0;
  return a;
}
inline void store(I16 a, std::int32_t* p) { ESPALIER_EACH p[i] = a.v[i]; }
/// Bit i: a and b are equal, or a is greater, in lane i.
inline unsigned equal_bits(V16 a, V16 b) {
  unsigned bits = 0;
  ESPALIER_EACH bits |= a.v[i] == b.v[i] ? 1u << i : 0u;
  return bits;
}
inline unsigned greater_bits(V16 a, V16 b) {
  unsigned bits = 0;
  ESPALIER_EACH bits |= a.v[i] > b.v[i] ? 1u << i : 0u;
  return bits;
}
/// a0 b0 a1 b1 ...
inline void store_pairs(V16 a, V16 b, float* p) {
  ESPALIER_EACH {
    p[2 * i] = a.v[i];
    p[2 * i + 1] = b.v[i];
  }
}
/// The other way round.
inline void load_pairs(const float* p, V16& a, V16& b) {
  ESPALIER_EACH {
    a.v[i] = p[2 * i];
    b.v[i] = p[2 * i + 1];
  }
}
/// Lane i takes that of lane i ^ Bit; Bit is 1, 2, 4 or 8.
template <int Bit>
inline V16 exchange(V16 a) {
  V16 r;
  ESPALIER_EACH r.v[i] = a.v[i ^ Bit];
  return r;
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
struct I16 {
  hn::Vec<decltype(kInts)> v[16 / kWidth];
};
HWY_INLINE V16 load(const float* p) {
  V16 r;
  ESPALIER_EACH r.v[i] = hn::LoadU(kFloats, p + i * kWidth);
  return r;
}
HWY_INLINE void store(V16 a, float* p) {
  ESPALIER_EACH hn::StoreU(a.v[i], kFloats, p + i * kWidth);
}
HWY_INLINE auto first_lanes(std::size_t n, int i) {
  const auto begin = static_cast<std::size_t>(i * kWidth);
  return hn::FirstN(kFloats, n > begin ? n - begin : 0);
}
HWY_INLINE V16 load(const float* p, std::size_t n) {
  V16 r;
  ESPALIER_EACH r.v[i] = hn::MaskedLoad(first_lanes(n, i), kFloats, p + i * kWidth);
  return r;
}
HWY_INLINE void store(V16 a, float* p, std::size_t n) {
  ESPALIER_EACH hn::BlendedStore(a.v[i], first_lanes(n, i), kFloats, p + i * kWidth);
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
HWY_INLINE I16 whole_part(V16 a, int last) {
  I16 r;
#if HWY_TARGET == HWY_AVX3
  // Without Highway's care for numbers beyond 2^31, which are never looked up.
  r.v[0] = hn::Vec<decltype(kInts)>{_mm512_cvttps_epi32(a.v[0].raw)};
#else
  ESPALIER_EACH r.v[i] = hn::ConvertTo(kInts, a.v[i]);
#endif
  ESPALIER_EACH r.v[i] = hn::Min(hn::Max(r.v[i], hn::Zero(kInts)), hn::Set(kInts, last));
  return r;
}
HWY_INLINE V16 to_float(I16 a) {
  V16 r;
  ESPALIER_EACH r.v[i] = hn::ConvertTo(kFloats, a.v[i]);
  return r;
}
HWY_INLINE V16 lookup(const float* table, I16 index) {
  V16 r;
  ESPALIER_EACH r.v[i] = hn::GatherIndex(kFloats, table, index.v[i]);
  return r;
}
HWY_INLINE V16 keep_inside(V16 a, V16 x, V16 lo, V16 hi) {
  ESPALIER_EACH a.v[i] =
      hn::IfThenElseZero(hn::And(hn::Ge(x.v[i], lo.v[i]), hn::Le(x.v[i], hi.v[i])), a.v[i]);
  return a;
}
HWY_INLINE void store(I16 a, std::int32_t* p) {
  ESPALIER_EACH hn::StoreU(a.v[i], kInts, p + i * kWidth);
}
template <class Mask>
HWY_INLINE unsigned bits_of(Mask mask) {
  std::uint8_t bits[8] = {};
  hn::StoreMaskBits(kFloats, mask, bits);
  return static_cast<unsigned>(bits[0] | bits[1] << 8);
}
HWY_INLINE unsigned equal_bits(V16 a, V16 b) {
  unsigned bits = 0;
  ESPALIER_EACH bits |= bits_of(hn::Eq(a.v[i], b.v[i])) << (i * kWidth);
  return bits;
}
HWY_INLINE unsigned greater_bits(V16 a, V16 b) {
  unsigned bits = 0;
  ESPALIER_EACH bits |= bits_of(hn::Gt(a.v[i], b.v[i])) << (i * kWidth);
  return bits;
}
HWY_INLINE void store_pairs(V16 a, V16 b, float* p) {
  ESPALIER_EACH hn::StoreInterleaved2(a.v[i], b.v[i], kFloats, p + 2 * i * kWidth);
}
HWY_INLINE void load_pairs(const float* p, V16& a, V16& b) {
  ESPALIER_EACH hn::LoadInterleaved2(kFloats, p + 2 * i * kWidth, a.v[i], b.v[i]);
}
template <int Bit>
HWY_INLINE V16 exchange(V16 a) {
  V16 r;
  ESPALIER_EACH {
    if constexpr (Bit == 1) r.v[i] = hn::Shuffle2301(a.v[i]);
    if constexpr (Bit == 2) r.v[i] = hn::Shuffle1032(a.v[i]);
    if constexpr (Bit == 4) r.v[i] = hn::SwapAdjacentBlocks(a.v[i]);
    if constexpr (Bit == 8 && kWidth == 16) r.v[i] = hn::ConcatLowerUpper(kFloats, a.v[i], a.v[i]);
    if constexpr (Bit == 8 && kWidth == 8) r.v[i] = a.v[i ^ 1];
  }
  return r;
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

// Functions that unroll into one long one. Without registers, or under a sanitizer, that only takes
// long to compile.
#undef ESPALIER_UNROLLED
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || !defined(NDEBUG)
#define ESPALIER_UNROLLED HWY_NOINLINE
#else
#define ESPALIER_UNROLLED HWY_INLINE
#endif

/// The same for all lanes, known when compiled.
struct AllLanes {};
HWY_INLINE V16 load(const float* p, AllLanes) { return load(p); }
HWY_INLINE void store(V16 a, float* p, AllLanes) { store(a, p); }

/// Calls body(i, lanes) for i = 0, 16, ... below n, with the lanes that there are.
template <class Body>
HWY_INLINE void each_16(std::size_t n, const Body& body) {
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) body(i, AllLanes{});
  if (i < n) body(i, n - i);
}

/// A table of values at the keypoints 0 .. last: the value left of a segment k, and the step to
/// the value right of it.
class MemoryTable {
 public:
  HWY_INLINE MemoryTable(const float* values, int) : values_(values) {}
  HWY_INLINE V16 left(I16 k) const { return lookup(values_, k); }
  HWY_INLINE V16 step(I16 k) const { return lookup(values_ + 1, k) - lookup(values_, k); }

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
  HWY_INLINE V16 left(I16 k) const { return {{pick(left_, k)}}; }
  HWY_INLINE V16 step(I16 k) const { return {{pick(step_, k)}}; }

 private:
  static HWY_INLINE Row pick(const Row* halves, I16 k) {
    return Row{_mm512_permutex2var_ps(halves[0].raw, k.v[0].raw, halves[1].raw)};
  }

  Row left_[2], step_[2];
};
#else
constexpr int kRegisterSegments = 0;
using RegisterTable = MemoryTable;
#endif

/// Where rows lie in a table: the segment k, and t in it.
struct Place {
  I16 k;
  V16 t;
};
HWY_INLINE Place place(V16 position, int last) {
  const I16 k = whole_part(position, last - 1);
  return {k, position - to_float(k)};
}
/// The same for last + 1 keypoints evenly from lo on.
HWY_INLINE Place uniform_place(V16 x, V16 lo, V16 inverse_step, int last) {
  const V16 position = (x - lo) * inverse_step;
  return place(clamp(position, set(0), set(static_cast<float>(last))), last);
}

template <class Table>
HWY_INLINE V16 read_table(const Table& table, const Place& at) {
  return fma(at.t, table.step(at.k), table.left(at.k));
}

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
