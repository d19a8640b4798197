// SPDX-License-Identifier: Apache-2.0
// The gradients of the shards of a batch, added over ranks as pairwise_sum adds them.
//
// Rank r of P has the shards [r S / P, (r+1) S / P) of S. It adds those that are branches of the
// tree by itself: of eight shards, three ranks have 0-2, 3-5 and 6-7, and so the branches (01)(2),
// (3)(45) and (67). Of these each rank gets its part of the parameters, adds them along the rest of
// the tree,
//
//   ((01) + ((2) + (3))) + ((45) + (67))
//
// and sends the sums to all. With one branch a rank, a power of two of them, a rank sends 2 (P-1)/P
// of the gradient, whatever P is, and the bits are those of one process.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "espalier/ranks.h"
#include "objective/loss.h"

namespace espalier {

struct ShardRange {
  int first = 0;
  int last = 0;  // behind it

  int size() const { return last - first; }
};

/// How many shards a batch has.
int num_shards_of(int batch_size);

/// The shards of a rank; there may be none.
ShardRange shards_of(int rank, int num_ranks, int num_shards);

/// The shards of this process: all of them without ranks.
ShardRange own_shards(const Ranks* ranks, int num_shards);

class GradientSum {
 public:
  /// `ranks` outlives it.
  GradientSum(Ranks& ranks, int num_shards, std::size_t num_params);

  /// Adds the gradients and losses of the shards of all ranks; `gradients` and `losses` are of
  /// those of this one, and the gradients are zero afterwards. All ranks call it.
  LossSum add(std::span<std::vector<float>> gradients, std::span<const LossSum> losses);

  /// What the last call of add came to, one number a parameter.
  std::vector<float>& total() { return total_; }

 private:
  // A branch of the tree whose shards one rank has.
  struct Branch {
    int first;  // shard
    int size;
    int rank;
  };

  void find_branches(int first, int size);
  std::size_t branches_of(int rank) const;
  std::size_t begin_of(int rank) const;
  std::size_t width_of(int rank) const { return begin_of(rank + 1) - begin_of(rank); }
  void pack(std::span<std::vector<float>> gradients, std::span<const LossSum> losses);
  std::size_t add_branches(int first, int size);
  std::span<float> message(std::size_t branch);

  Ranks& ranks_;
  const int num_shards_;
  const ShardRange own_;
  std::vector<Branch> branches_;  // by their first shard, and so by rank
  std::vector<float> total_;
  // A message is a branch: its loss, then its gradient of the part of a rank. [rank][own branch]
  // and [branch].
  std::vector<float> sent_, received_;
};

}  // namespace espalier
