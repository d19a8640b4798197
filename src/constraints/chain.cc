// SPDX-License-Identifier: Apache-2.0
#include "constraints/chain.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "constraints/box.h"

namespace espalier {
namespace {

// Neighbours that share one value, their mean.
struct Block {
  double sum;
  double mean;
  std::size_t count;
};

constexpr std::size_t kBlocksOnStack = 256;

// Each value starts a block; while the block before has a mean as high, the two merge. The means of
// the blocks that are left rise strictly, so rounding them to float keeps their order.
void pool(std::span<float> values, std::span<Block> blocks) {
  std::size_t num_blocks = 0;
  for (const float value : values) {
    Block block = {value, value, 1};
    while (num_blocks > 0 && blocks[num_blocks - 1].mean >= block.mean) {
      const Block& before = blocks[--num_blocks];
      block.sum += before.sum;
      block.count += before.count;
      block.mean = block.sum / static_cast<double>(block.count);
    }
    blocks[num_blocks++] = block;
  }
  auto out = values.begin();
  for (const Block& block : blocks.first(num_blocks)) {
    out = std::fill_n(out, block.count, static_cast<float>(block.mean));
  }
}

}  // namespace

void project_chain(std::span<float> values) {
  if (std::is_sorted(values.begin(), values.end())) return;
  if (values.size() <= kBlocksOnStack) {
    std::array<Block, kBlocksOnStack> blocks;
    pool(values, blocks);
  } else {
    std::vector<Block> blocks(values.size());
    pool(values, blocks);
  }
}

void project_chain(std::span<float> values, float lo, float hi) {
  project_chain(values);
  clip(values, lo, hi);
}

}  // namespace espalier
