// SPDX-License-Identifier: Apache-2.0
#include "constraints/chain.h"

#include <algorithm>
#include <array>
#include <vector>

namespace espalier {
namespace {

// Neighbors with a common value, their mean.
struct Block {
  double sum;  // of weight times value
  double weight;
  double mean;
  std::size_t count;
};

constexpr std::size_t kBlocksOnStack = 256;

// Each value starts a block. A block merges with the previous one while that one's mean is not
// lower. The means of the remaining blocks are strictly increasing, so rounding to float keeps
// their order.
template <class T, class Weights>
void pool(std::span<T> values, const Weights& weights, std::span<Block> blocks) {
  std::size_t num_blocks = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    Block block = {weights[i] * values[i], weights[i], values[i], 1};
    while (num_blocks > 0 && blocks[num_blocks - 1].mean >= block.mean) {
      const Block& before = blocks[--num_blocks];
      block.sum += before.sum;
      block.weight += before.weight;
      block.count += before.count;
      block.mean = block.sum / block.weight;
    }
    blocks[num_blocks++] = block;
  }
  auto out = values.begin();
  for (const Block& block : blocks.first(num_blocks)) {
    out = std::fill_n(out, block.count, static_cast<T>(block.mean));
  }
}

template <class T, class Weights>
void project(std::span<T> values, const Weights& weights) {
  if (std::is_sorted(values.begin(), values.end())) return;
  if (values.size() <= kBlocksOnStack) {
    std::array<Block, kBlocksOnStack> blocks;
    pool(values, weights, std::span(blocks));
  } else {
    std::vector<Block> blocks(values.size());
    pool(values, weights, std::span(blocks));
  }
}

}  // namespace

void project_chain(std::span<float> values, const ChainWeights& weights) {
  project(values, weights);
}

void project_chain(std::span<double> values, std::span<const double> weights) {
  project(values, weights);
}

}  // namespace espalier
