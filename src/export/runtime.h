// SPDX-License-Identifier: Apache-2.0
// The arithmetic of exported headers: the formulas of serve/program.h in C++17 and nothing but the
// standard library. header.cc copies what stands between the two marked lines into every header,
// within its namespace; CMake makes a string of this file.
//
// Compilers fuse a * b + c into one rounding where they may. Sums of products that must round once
// are written as std::fma; a product that must round by itself goes through rounded() or settle().
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

namespace espalier::exported {

// begin of the copied part
#if defined(__GNUC__)
#define ESPALIER_EXPORT_INLINE inline __attribute__((always_inline))
#else
#define ESPALIER_EXPORT_INLINE inline
#endif

// Hides from the compiler where x comes from, so that it cannot fuse a product with a later sum.
ESPALIER_EXPORT_INLINE double rounded(double x) noexcept {
#if defined(__GNUC__) && defined(__SSE2__)
  __asm__("" : "+x"(x));
#elif defined(__GNUC__) && defined(__aarch64__)
  __asm__("" : "+w"(x));
#else
  volatile double kept = x;
  x = kept;
#endif
  return x;
}

// The same for numbers in memory: they are computed before, and read again after.
ESPALIER_EXPORT_INLINE void settle(float* x, std::size_t size) noexcept {
#if defined(__GNUC__)
  static_cast<void>(size);
  __asm__ volatile("" : : "r"(x) : "memory");
#else
  for (std::size_t i = 0; i < size; ++i) {
    volatile float kept = x[i];
    x[i] = kept;
  }
#endif
}

// How a cell of a row is encoded: a number among its keypoints, or a category by its code.
struct Cell {
  const float* keypoints;  // null: a category
  std::int32_t size;       // keypoints, or words
  bool reversed;           // counted from the other end
  float missing;           // what a missing cell becomes
};

// The cell of a word: no code is missing.
ESPALIER_EXPORT_INLINE float cell_of(std::int32_t code) noexcept {
  return code < 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(code);
}

ESPALIER_EXPORT_INLINE float encode(const Cell& cell, float x) noexcept {
  if (std::isnan(x)) return cell.missing;
  if (cell.keypoints == nullptr) {
    const auto unseen = static_cast<float>(cell.size);
    return x >= 0 && x < unseen ? x : unseen;
  }
  const std::int32_t last = cell.size - 1;
  x = std::min(std::max(x, cell.keypoints[0]), cell.keypoints[last]);
  const float* const above = std::upper_bound(cell.keypoints, cell.keypoints + last, x);
  constexpr double kLeastGap = 0x1p-149;  // between floats, so that nothing is divided by 0
  const double lo = above[-1], hi = above[0];
  const double t = (x - lo) / std::max(hi - lo, kLeastGap);
  const double position = static_cast<double>(above - cell.keypoints - 1) + t;
  return static_cast<float>(cell.reversed ? last - position : position);
}

// A whole number made of two encoded cells: their cell in a grid of bins, or its code.
struct PairCell {
  std::size_t first;
  std::size_t second;
  const float* first_edges;  // bins begin at them
  std::int32_t first_size;
  const float* second_edges;
  std::int32_t second_size;
  const std::int32_t* codes;  // [first_size + 1][second_size + 1], null: the cell itself
};

ESPALIER_EXPORT_INLINE float encode(const PairCell& pair, const float* encoded) noexcept {
  const auto bin = [](const float* edges, std::int32_t size, float x) {
    return std::upper_bound(edges, edges + size, x) - edges;
  };
  const auto i = bin(pair.first_edges, pair.first_size, encoded[pair.first]);
  const auto j = bin(pair.second_edges, pair.second_size, encoded[pair.second]);
  const auto cell = i * (pair.second_size + 1) + j;
  return pair.codes == nullptr ? static_cast<float>(cell) : static_cast<float>(pair.codes[cell]);
}

// Back from [1, 2] to the units of a table.
ESPALIER_EXPORT_INLINE float way_back(float range, float low, float y) noexcept {
  return std::fma(range, y - 1, low);
}

// u within [0, last].
ESPALIER_EXPORT_INLINE float read_table(const float* table, std::int32_t last, float u) noexcept {
  const std::int32_t k = std::min(static_cast<std::int32_t>(u), last - 1);
  return std::fma(u - static_cast<float>(k), table[k + 1] - table[k], table[k]);
}

// A first calibrator.
struct CellTable {
  const float* table;      // null: the cell passes
  std::int32_t keypoints;  // 0: a category or a grid
  float low;
  float range;
  std::int32_t rows;  // of a grid: table[rows][columns]
  std::int32_t columns;
  std::int32_t steps;
};

// A table over two cells, whose places x holds.
ESPALIER_EXPORT_INLINE float read_grid(const CellTable& cell, std::int32_t x) noexcept {
  const std::int32_t width = (cell.columns - 1) * cell.steps + 1;
  const std::int32_t p = x / width, q = x % width;
  const std::int32_t k = std::min(p / cell.steps, cell.rows - 2);
  const std::int32_t l = std::min(q / cell.steps, cell.columns - 2);
  const float step = 1 / static_cast<float>(cell.steps);
  const float t = static_cast<float>(p - k * cell.steps) * step;
  const float u = static_cast<float>(q - l * cell.steps) * step;
  const float* const low = cell.table + k * cell.columns + l;
  const float* const high = low + cell.columns;
  const float a = std::fma(u, low[1] - low[0], low[0]);
  const float b = std::fma(u, high[1] - high[0], high[0]);
  return std::fma(t, b - a, a);
}

ESPALIER_EXPORT_INLINE float through(const CellTable& cell, float x) noexcept {
  if (cell.table == nullptr) return x;
  float y;
  if (cell.rows > 0) {
    y = read_grid(cell, static_cast<std::int32_t>(x));
  } else if (cell.keypoints == 0) {
    y = cell.table[static_cast<std::size_t>(x)];
  } else {
    y = x < 0 ? cell.table[cell.keypoints] : read_table(cell.table, cell.keypoints - 1, x);
  }
  return way_back(cell.range, cell.low, y);
}

// numbers: lo, inverse_step, low, range of each unit, then tables[unit][keypoints].
template <std::size_t Units, std::int32_t Keypoints>
ESPALIER_EXPORT_INLINE void calibrate(const float* __restrict numbers, const float* __restrict in,
                                      float* __restrict out) noexcept {
  constexpr std::int32_t kLast = Keypoints - 1;
  for (std::size_t i = 0; i < Units; ++i) out[i] = (in[i] - numbers[i]) * numbers[Units + i];
  settle(out, Units);
  const float* low = numbers + 2 * Units;
  const float* range = numbers + 3 * Units;
  const float* tables = numbers + 4 * Units;
  for (std::size_t i = 0; i < Units; ++i) {
    const float u = std::min(std::max(out[i], 0.0f), static_cast<float>(kLast));
    out[i] = way_back(range[i], low[i], read_table(tables + i * Keypoints, kLast, u));
  }
}

// Weights that the code on a wire picks: rows[code][width].
ESPALIER_EXPORT_INLINE void add_picked(const float* __restrict rows, std::size_t width, float code,
                                       float* __restrict out) noexcept {
  const float* row = rows + static_cast<std::size_t>(code) * width;
  for (std::size_t i = 0; i < width; ++i) out[i] += row[i];
}

// Numbers on wires that reach the same outputs. weights: [number][Size], of which these Lanes.
template <std::size_t Size, std::size_t Lanes, std::size_t Count>
ESPALIER_EXPORT_INLINE void add_lanes(const std::uint32_t (&wires)[Count],
                                      const float* __restrict weights, const float* __restrict in,
                                      float* __restrict out) noexcept {
  float sums[Lanes];
  for (std::size_t l = 0; l < Lanes; ++l) sums[l] = out[l];
  for (std::size_t n = 0; n < Count; ++n) {
    const float x = in[wires[n]];
    for (std::size_t l = 0; l < Lanes; ++l) sums[l] = std::fma(weights[n * Size + l], x, sums[l]);
  }
  for (std::size_t l = 0; l < Lanes; ++l) out[l] = sums[l];
}

template <std::size_t Size, std::size_t Count>
ESPALIER_EXPORT_INLINE void add_numbers(const std::uint32_t (&wires)[Count],
                                        const float* __restrict weights, const float* __restrict in,
                                        float* __restrict out) noexcept {
  constexpr std::size_t kLanes = 16;
  constexpr std::size_t kRest = Size % kLanes;
  for (std::size_t i = 0; i < Size / kLanes; ++i)
    add_lanes<Size, kLanes>(wires, weights + i * kLanes, in, out + i * kLanes);
  if constexpr (kRest != 0)
    add_lanes<Size, kRest>(wires, weights + (Size - kRest), in, out + (Size - kRest));
}

// Multilinear lattices side by side. numbers: tables[2^Size][Lanes], low and range of each lane;
// in: [Lanes][Size]. Folded input by input, in pieces of 2^6 vertices; half[i] is the first half of
// what is folded along input kPiece + i, once it is known.
template <std::size_t Size, std::size_t Lanes>
ESPALIER_EXPORT_INLINE void lattices(const float* __restrict numbers, const float* __restrict in,
                                     float* __restrict out) noexcept {
  constexpr std::size_t kPiece = Size < 6 ? Size : 6;
  float x[Size][Lanes];
  for (std::size_t d = 0; d < Size; ++d) {
    for (std::size_t l = 0; l < Lanes; ++l)
      x[d][l] = std::min(std::max(in[l * Size + d], 0.0f), 1.0f);
  }
  float tree[std::size_t{1} << kPiece][Lanes];
  float half[Size - kPiece + 1][Lanes];
  for (std::size_t piece = 0; piece < std::size_t{1} << (Size - kPiece); ++piece) {
    const float* const leaves = numbers + (piece << kPiece) * Lanes;
    for (std::size_t v = 0; v < (std::size_t{1} << kPiece) / 2; ++v) {
      const float* const a = leaves + 2 * v * Lanes;
      const float* const b = a + Lanes;
      for (std::size_t l = 0; l < Lanes; ++l) tree[v][l] = std::fma(x[0][l], b[l] - a[l], a[l]);
    }
    for (std::size_t d = 1; d < kPiece; ++d) {
      for (std::size_t v = 0; v < (std::size_t{1} << kPiece) >> (d + 1); ++v) {
        for (std::size_t l = 0; l < Lanes; ++l) {
          const float a = tree[2 * v][l], b = tree[2 * v + 1][l];
          tree[v][l] = std::fma(x[d][l], b - a, a);
        }
      }
    }
    std::size_t d = kPiece;
    for (std::size_t rest = piece; rest % 2 == 1 && d < Size; rest /= 2, ++d) {
      for (std::size_t l = 0; l < Lanes; ++l) {
        const float a = half[d - kPiece][l];
        tree[0][l] = std::fma(x[d][l], tree[0][l] - a, a);
      }
    }
    for (std::size_t l = 0; l < Lanes; ++l) half[d - kPiece][l] = tree[0][l];
  }
  const float* const low = numbers + (std::size_t{1} << Size) * Lanes;
  const float* const range = low + Lanes;
  for (std::size_t l = 0; l < Lanes; ++l) out[l] = way_back(range[l], low[l], tree[0][l]);
}

// One simplex lattice. numbers: table[2^Size], low, range.
template <std::size_t Size>
ESPALIER_EXPORT_INLINE float simplex(const float* numbers, const float* in) noexcept {
  float x[Size];
  std::size_t order[Size];  // from the largest x on
  for (std::size_t d = 0; d < Size; ++d) {
    x[d] = (1 + std::min(std::max(in[d], 0.0f), 1.0f)) - 1;
    std::size_t at = d;
    for (; at > 0 && x[order[at - 1]] < x[d]; --at) order[at] = order[at - 1];
    order[at] = d;
  }
  double sum = numbers[0];
  std::size_t vertex = 0;
  for (const std::size_t d : order) {
    const std::size_t next = vertex + (std::size_t{1} << d);
    sum += static_cast<double>(x[d]) * (static_cast<double>(numbers[next]) - numbers[vertex]);
    vertex = next;
  }
  const float* const back = numbers + (std::size_t{1} << Size);
  return way_back(back[1], back[0], static_cast<float>(sum));
}

template <std::size_t Outputs>
ESPALIER_EXPORT_INLINE void gather(const std::uint32_t (&wires)[Outputs], const float* in,
                                   float* __restrict out) noexcept {
  for (std::size_t i = 0; i < Outputs; ++i) out[i] = in[wires[i]];
}

ESPALIER_EXPORT_INLINE float sum_of(const float* in, std::size_t size) noexcept {
  float sum = 0;
  for (std::size_t i = 0; i < size; ++i) sum += in[i];
  return sum;
}

ESPALIER_EXPORT_INLINE float min_max(const float* in, std::size_t groups,
                                     std::size_t size) noexcept {
  float most = *std::min_element(in, in + size);
  for (std::size_t g = 1; g < groups; ++g)
    most = std::max(most, *std::min_element(in + g * size, in + (g + 1) * size));
  return most;
}

ESPALIER_EXPORT_INLINE void relu(const float* in, std::size_t size, float* out) noexcept {
  for (std::size_t i = 0; i < size; ++i) out[i] = std::max(in[i], 0.0f);
}

// What follows from an answer: a question, or the leaf -1 - next.
struct Question {
  std::int32_t wire;
  float above;
  std::int32_t next[2];
};

template <std::size_t Trees>
ESPALIER_EXPORT_INLINE void trees(const Question* questions, const std::int32_t (&roots)[Trees],
                                  const float* leaves, const float* in,
                                  float* __restrict out) noexcept {
  for (std::size_t g = 0; g < Trees; ++g) {
    std::int32_t at = roots[g];
    while (at >= 0) {
      const Question& question = questions[at];
      at = question.next[in[question.wire] > question.above ? 1 : 0];
    }
    out[g] = leaves[-1 - at];
  }
}

// A forest by masks. Every leaf has a bit; a line is the mask of the leaves of one block of trees
// that a row can reach if its cell of some column has some rank. The AND of a row's lines leaves
// one bit in each tree.
struct ForestColumn {
  std::uint32_t input;
  std::uint32_t entry;  // of `line_of`: that of rank 0
  std::uint32_t
      first;  // of `firsts`: the rank of a missing value, then the least from each keypoint on
  std::uint32_t cuts;  // of `cuts`
  std::int32_t most;   // cuts between two keypoints; -1: a category, whose rank is its code
};

struct ForestBlock {
  std::uint32_t line;
  std::uint32_t tree;
  std::uint32_t num_trees;
  std::uint32_t leaf;
};

struct ForestMasks {
  const std::uint32_t* firsts;
  const float* cuts;
  const std::uint16_t* line_of;  // [rank of a column][block], counted from the block's first line
  const std::uint32_t* lines;    // [line][kForestWords]
  const std::uint8_t* pairs;     // of words, for each tree; null: trees have one word
  const float* leaves;           // 32 for a word; 64 for a pair, then 0
};

constexpr std::size_t kForestWords = 32;

// The number of the lowest bit, 64 if there is none.
ESPALIER_EXPORT_INLINE std::uint32_t lowest_bit(std::uint64_t bits) noexcept {
#if defined(__GNUC__)
  return bits == 0 ? 64u : static_cast<std::uint32_t>(__builtin_ctzll(bits));
#else
  std::uint32_t place = 0;
  while (place < 64 && (bits >> place & 1) == 0) ++place;
  return place;
#endif
}

ESPALIER_EXPORT_INLINE std::uint32_t entry_of(const ForestColumn& column, const ForestMasks& masks,
                                              std::uint32_t num_blocks, float x) noexcept {
  if (column.most < 0) return column.entry + static_cast<std::uint32_t>(x) * num_blocks;
  const auto from = static_cast<std::uint32_t>(static_cast<std::int32_t>(x) + 1);
  std::uint32_t rank = masks.firsts[column.first + from];
  const float* const next = masks.cuts + column.cuts + rank;
  for (std::int32_t i = 0; i < column.most; ++i) rank += next[i] <= x ? 1u : 0u;
  return column.entry + rank * num_blocks;
}

// words[kForestWords] = the AND of lines + entries[0], entries[1], ...
ESPALIER_EXPORT_INLINE void and_lines(const std::uint32_t* lines, const std::uint16_t* line_of,
                                      const std::uint32_t* entries, std::size_t num_columns,
                                      std::uint32_t* words) noexcept {
#if defined(__GNUC__)
  typedef std::uint32_t Part __attribute__((vector_size(32)));
#else
  using Part = std::uint32_t;
#endif
  constexpr std::size_t kParts = kForestWords * sizeof(std::uint32_t) / sizeof(Part);
  Part own[kParts];
  std::memcpy(own, lines + std::size_t{line_of[entries[0]]} * kForestWords, sizeof own);
  for (std::size_t c = 1; c < num_columns; ++c) {
    Part other[kParts];
    std::memcpy(other, lines + std::size_t{line_of[entries[c]]} * kForestWords, sizeof other);
    for (std::size_t i = 0; i < kParts; ++i) own[i] &= other[i];
  }
  std::memcpy(words, own, sizeof own);
}

template <std::size_t Columns, std::size_t Blocks>
ESPALIER_EXPORT_INLINE float masked_forest(const ForestColumn (&columns)[Columns],
                                           const ForestBlock (&blocks)[Blocks],
                                           const ForestMasks& masks, const float* in) noexcept {
  std::uint32_t entries[Columns];
  for (std::size_t c = 0; c < Columns; ++c)
    entries[c] = entry_of(columns[c], masks, Blocks, in[columns[c].input]);
  float sum = 0;
  for (std::size_t b = 0; b < Blocks; ++b) {
    const ForestBlock& block = blocks[b];
    alignas(64) std::uint32_t words[kForestWords];
    and_lines(masks.lines + std::size_t{block.line} * kForestWords, masks.line_of + b, entries,
              Columns, words);
    const float* leaves = masks.leaves + block.leaf;
    if (masks.pairs == nullptr) {
      for (std::size_t t = 0; t < block.num_trees; ++t, leaves += 32)
        sum += leaves[lowest_bit(words[t])];
      continue;
    }
    std::size_t word = 0;
    for (std::size_t t = 0; t < block.num_trees; ++t) {
      float value = 0;
      const std::size_t end = word + 2 * std::size_t{masks.pairs[block.tree + t]};
      for (; word < end; word += 2, leaves += 65)
        value += leaves[lowest_bit(std::uint64_t{words[word + 1]} << 32 | words[word])];
      sum += value;
    }
  }
  return sum;
}

// A forest of more leaves, split by split. Missing values are below 0.
struct Split {
  std::uint32_t input;
  std::int32_t set;  // of a category: its first word; else -1
  float threshold;   // those at or above it go right
  bool missing_right;
  std::int32_t next[2];  // left and right: a split of the tree, or the leaf -1 - next
};

// sizes: splits of each tree.
template <std::size_t Trees>
ESPALIER_EXPORT_INLINE float walked_forest(const Split* splits, const std::uint32_t (&sizes)[Trees],
                                           const std::uint32_t* sets, const float* leaves,
                                           const float* in) noexcept {
  float sum = 0;
  for (std::size_t g = 0; g < Trees; ++g) {
    std::int32_t at = sizes[g] > 0 ? 0 : -1;
    while (at >= 0) {
      const Split& split = splits[at];
      const float x = in[split.input];
      bool right = x < 0 ? split.missing_right : x >= split.threshold;
      if (split.set >= 0) {
        const auto code = static_cast<std::uint32_t>(x);
        right = (sets[static_cast<std::uint32_t>(split.set) + code / 32] >> code % 32 & 1) != 0;
      }
      at = split.next[right ? 1 : 0];
    }
    sum += leaves[-1 - at];
    splits += sizes[g];
    leaves += sizes[g] + 1;
  }
  return sum;
}

// 2^exponent, -1022 <= exponent <= 1023.
inline double power_of_two(int exponent) noexcept {
  const std::uint64_t bits = static_cast<std::uint64_t>(exponent + 1023) << 52;
  double power;
  std::memcpy(&power, &bits, sizeof power);
  return power;
}

// e^x, the same bits on every machine: x = k ln 2 + r, and 1 + r + r^2 (1/2 + r/6 + ...).
inline double portable_exp(double x) noexcept {
  constexpr double kShift = 0x1.8p52;  // leaves no bits for a fraction
  constexpr double kSeries[] = {1.0 / 2,       1.0 / 6,        1.0 / 24,        1.0 / 120,
                                1.0 / 720,     1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
                                1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
  if (x > 710) return std::numeric_limits<double>::infinity();
  if (x < -746) return 0;
  const double k = (rounded(x * 0x1.71547652b82fep+0) + kShift) - kShift;
  const double high = x - rounded(k * 0x1.62e42fefap-1);
  const double low = rounded(k * 0x1.cf79abc9e3b3ap-40);
  const double r = high - low;
  const double lost_of_r = (high - r) - low;
  const double one_plus_r = 1.0 + r;
  const double lost_of_sum = (1.0 - one_plus_r) + r;
  double series = kSeries[11];
  for (int i = 10; i >= 0; --i) series = rounded(series * r) + kSeries[i];
  const double rest = rounded(rounded(r * r) * series) + (lost_of_sum + lost_of_r);
  const int whole = static_cast<int>(k);
  const int half = whole / 2;
  return (one_plus_r + rest) * power_of_two(half) * power_of_two(whole - half);
}

inline float sigmoid(float score) noexcept {
  return static_cast<float>(1 / (1 + portable_exp(-static_cast<double>(score))));
}

// At most the largest float.
inline float to_float(double value) noexcept {
  constexpr double kLargest = std::numeric_limits<float>::max();
  return static_cast<float>(std::min(std::max(value, -kLargest), kLargest));
}

inline float score_of(double offset, double scale, double mean, double row_offset) noexcept {
  return to_float(offset + rounded(scale * mean) + row_offset);
}

// What any float counts as that stands for the offset or the exposure of a row.
inline double usable_offset(float offset) noexcept {
  return std::isnan(offset) ? 0 : static_cast<double>(to_float(offset));
}

inline float usable_exposure(float exposure) noexcept {
  if (std::isnan(exposure)) return 1;
  return exposure > 0 ? to_float(exposure) : 0;
}

inline float exponential(float score, float unit, float exposure) noexcept {
  constexpr float kLargest = std::numeric_limits<float>::max();
  const float rate = std::min(to_float(portable_exp(score)) * unit, kLargest);
  return std::min(rate * usable_exposure(exposure), kLargest);
}

inline void softmax(float* scores, std::size_t size) noexcept {
  const double largest = *std::max_element(scores, scores + size);
  double sum = 0;
  for (std::size_t c = 0; c < size; ++c) sum += portable_exp(scores[c] - largest);
  for (std::size_t c = 0; c < size; ++c)
    scores[c] = static_cast<float>(portable_exp(scores[c] - largest) / sum);
}

// The same number, so that each operation rounds what never falls, or never rises.
inline void promised_softmax(float* scores, std::size_t size) noexcept {
  float own[100];  // as many classes as there may be
  std::copy_n(scores, size, own);
  for (std::size_t c = 0; c < size; ++c) {
    double others = 0;
    for (std::size_t j = 0; j < size; ++j) {
      const double ahead =
          std::max(-1000.0, std::min(static_cast<double>(own[j]) - own[c], 1000.0));
      if (j != c) others += portable_exp(static_cast<float>(ahead));
    }
    scores[c] = static_cast<float>(1 / (1 + others));
  }
}

// A word and its code; -1 is missing.
struct Word {
  std::string_view text;
  std::int32_t code;
};

// The code of a text; `otherwise` if it is none of these, which are sorted.
template <std::size_t Size>
inline std::int32_t exactly(const Word (&words)[Size], std::string_view text,
                            std::int32_t otherwise) noexcept {
  const Word* const found = std::lower_bound(
      words, words + Size, text,
      [](const Word& word, std::string_view wanted) { return word.text < wanted; });
  return found != words + Size && found->text == text ? found->code : otherwise;
}

// 1 for 1.0 and 1.00, 0.5 for 0.50; any other text as it is.
inline std::string_view shortest_plain(std::string_view text) noexcept {
  const std::string_view digits = text.substr(text.substr(0, 1) == "-" ? 1 : 0);
  const std::size_t point = digits.find('.');
  const bool is_plain = digits.find_first_not_of(".0123456789") == digits.npos && point != 0 &&
                        point != digits.npos && digits.find('.', point + 1) == digits.npos &&
                        (digits[0] != '0' || point == 1);
  if (!is_plain) return text;
  std::size_t size = text.find_last_not_of('0') + 1;
  if (text[size - 1] == '.') --size;
  const std::string_view shortest = text.substr(0, size);
  return shortest == "-0" ? shortest.substr(1) : shortest;
}

// The code of a word; words that are the same plain number are one word.
template <std::size_t Size>
inline std::int32_t code_of(const Word (&words)[Size], std::string_view text,
                            std::int32_t otherwise) noexcept {
  return exactly(words, text, exactly(words, shortest_plain(text), otherwise));
}

// "", ?, NA, N/A, NaN and null, in letters of any case.
inline bool means_missing(std::string_view text) noexcept {
  constexpr std::string_view kWords[] = {"", "?", "na", "n/a", "nan", "null"};
  return std::any_of(std::begin(kWords), std::end(kWords), [&](std::string_view word) {
    return std::equal(text.begin(), text.end(), word.begin(), word.end(), [](char a, char b) {
      return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
    });
  });
}
// end of the copied part

}  // namespace espalier::exported
