// SPDX-License-Identifier: Apache-2.0
#include "train/needed_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "boost/forest.h"
#include "boost/tree_grower.h"
#include "core/random.h"
#include "espalier/error.h"
#include "layers/trees.h"
#include "model/builder.h"
#include "model/model_data.h"
#include "model/network.h"
#include "objective/loss.h"
#include "train/gradient_sum.h"

namespace espalier {
namespace {

constexpr std::uint64_t kMegabyte = std::uint64_t{1} << 20;

// Of one network while it is trained. Groups that are still to be searched for take as much as
// others.
std::uint64_t memory_of(Architecture architecture, const Problem& p) {
  LayerSpec& first = architecture.layers.front();
  if (first.wiring == Wiring::crystals) first.wiring = Wiring::random;
  const Network network(architecture, input_wires(p.schema), p.options->monotone_calibrators,
                        Random(1), {}, score_wires(p.schema.label));
  const Network::Scratch scratch(network);
  const std::size_t tiles = scratch.tiles.size() + scratch.grads.size() + scratch.layers.size();
  const auto shards = static_cast<std::uint64_t>(num_shards_of(p.options->batch_size));
  const auto members = static_cast<std::uint64_t>(p.options->ensemble);
  return sizeof(float) * (network.params().size() * (shards + 12 + members) + shards * tiles);
}

std::uint64_t whole_megabytes(std::uint64_t bytes) {
  return (bytes + kMegabyte - 1) / kMegabyte * kMegabyte;
}

std::string as_megabytes(std::uint64_t bytes) {
  return bytes % kMegabyte == 0 ? fmt::format("{} MB", bytes / kMegabyte)
                                : fmt::format("{:.2f} MB", static_cast<double>(bytes) /
                                                               static_cast<double>(kMegabyte));
}

}  // namespace

std::uint64_t memory_of_categories(const Table& table) {
  constexpr std::uint64_t kCopies = 3, kBesideText = 64;
  std::uint64_t bytes = 0;
  for (const Column& column : table.columns) {
    for (const std::string& category : column.categories) bytes += kBesideText + category.size();
  }
  return kCopies * bytes;
}

NeededMemory needed_memory(const Problem& p, std::uint64_t categories, int threads) {
  NeededMemory needed{.network = memory_of(p.architecture, p), .categories = categories};
  const Label& label = p.schema.label;
  const std::uint64_t row = 128 + 12 * static_cast<std::uint64_t>(label.num_scores());
  const auto members = static_cast<std::uint64_t>(
      p.validation == Validation::split_off ? p.options->ensemble.value() : 1);
  needed.validation = members * row * p.valid.num_rows;
  constexpr std::uint64_t kSampled = 1'000'000, kBytesSampled = 16;
  needed.rest = 24 * kMegabyte + kMegabyte * static_cast<std::uint64_t>(threads) +
                kBytesSampled * std::min<std::uint64_t>(kSampled, p.train.num_rows);
  // Each leaf of a tree has a histogram of each column, 255 bins of 16 bytes, and each thread may
  // add up one more. A forest has leaves
  // and questions, as an architecture, as text and as they are run, orders between leaves, and for
  // each question about words a table of answers, kept three times. When it is run, a thread has
  // four tiles of all it reads.
  if (p.options->trees > 0) {
    const auto trees = static_cast<std::uint64_t>(p.options->trees);
    const auto leaves = static_cast<std::uint64_t>(p.options->tree_leaves);
    const std::uint64_t columns = p.schema.features.size() + (label.num_levels() > 1 ? 1 : 0);
    std::uint64_t max_categories = 0;
    for (const Feature& feature : p.schema.features)
      max_categories = std::max<std::uint64_t>(max_categories, feature.shares.size());
    const std::uint64_t questions = std::min<std::uint64_t>(trees * leaves, kMaxForestParameters);
    const std::uint64_t readings = max_categories > 0 ? questions : 3 * columns;
    needed.rest += 255 * 16 * columns * (leaves + static_cast<std::uint64_t>(threads));
    needed.rest += static_cast<std::uint64_t>(threads) * 4 * sizeof(float) * kTile *
                   std::min(readings + trees, std::uint64_t{kMaxWires});
    if (!has_hessian(label))  // quantiles of leaves are those of copies
      needed.rest += sizeof(Residual) * p.train.num_rows * label.num_levels();
    constexpr std::uint64_t kBytesOfALeaf = 100, kCopies = 3;
    const std::uint64_t orders =
        std::min<std::uint64_t>(trees * leaf_pairs(leaves), kMaxLeafPairs) * sizeof(Order);
    const std::uint64_t tables =
        std::min<std::uint64_t>(questions * max_categories, kMaxForestParameters);
    needed.network += static_cast<std::uint64_t>(p.options->ensemble) *
                      (kBytesOfALeaf * questions + orders + kCopies * sizeof(float) * tables);
  }
  // Windows of a quarter of these, four bytes a row.
  if (p.train.num_rows >= p.many_rows) needed.rest += p.many_rows;
  for (std::uint64_t* part :
       {&needed.network, &needed.validation, &needed.categories, &needed.rest})
    *part = whole_megabytes(*part);
  return needed;
}

void require_memory(const NeededMemory& needed, std::uint64_t most) {
  if (needed.total() <= most) return;
  throw Error(
      ErrorKind::argument,
      fmt::format("memory: {} are allowed, but training takes up to {} even from disk: {} "
                  "for the network, {} for the validation rows, {} for words, {} for the "
                  "rest; allow {}",
                  as_megabytes(most), as_megabytes(needed.total()), as_megabytes(needed.network),
                  as_megabytes(needed.validation), as_megabytes(needed.categories),
                  as_megabytes(needed.rest), as_megabytes(needed.total())));
}

}  // namespace espalier
