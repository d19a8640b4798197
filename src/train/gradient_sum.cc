// SPDX-License-Identifier: Apache-2.0
#include "train/gradient_sum.h"

#include <algorithm>
#include <array>
#include <bit>

#include "layers/tile.h"
#include "train/adam.h"
#include "train/pairwise_sum.h"

namespace espalier {

namespace {

constexpr std::size_t kHead = sizeof(LossSum) / sizeof(float);

using Head = std::array<float, kHead>;  // the bytes of a LossSum

LossSum head_of(std::span<const float> message) {
  Head head;
  std::copy_n(message.begin(), kHead, head.begin());
  return std::bit_cast<LossSum>(head);
}

void set_head(const LossSum& loss, std::span<float> message) {
  std::ranges::copy(std::bit_cast<Head>(loss), message.begin());
}

void add_to(std::span<float> left, std::span<const float> right) {
  for (std::size_t i = 0; i < left.size(); ++i) left[i] += right[i];
}

// Adds the gradients of a branch into its first, and zeroes the others.
void add_branch(std::span<std::vector<float>> gradients) {
  if (gradients.size() == 1) return;
  const std::size_t left = left_branch(gradients.size());
  add_branch(gradients.first(left));
  add_branch(gradients.subspan(left));
  add_to(gradients.front(), gradients[left]);
  std::ranges::fill(gradients[left], 0.0f);
}

}  // namespace

int num_shards_of(int batch_size) { return std::clamp(batch_size / kTile, 1, kMaxShards); }

ShardRange shards_of(int rank, int num_ranks, int num_shards) {
  return {rank * num_shards / num_ranks, (rank + 1) * num_shards / num_ranks};
}

ShardRange own_shards(const Ranks* ranks, int num_shards) {
  return ranks == nullptr ? ShardRange{0, num_shards}
                          : shards_of(ranks->rank(), ranks->size(), num_shards);
}

GradientSum::GradientSum(Ranks& ranks, int num_shards, std::size_t num_params)
    : ranks_(ranks),
      num_shards_(num_shards),
      own_(shards_of(ranks.rank(), ranks.size(), num_shards)),
      total_(num_params) {
  find_branches(0, num_shards);
  received_.resize(branches_.size() * (kHead + width_of(ranks.rank())));
  sent_.resize(branches_of(ranks.rank()) *
               (kHead * static_cast<std::size_t>(ranks.size()) + num_params));
}

// Goes down the tree until a rank has all shards of a branch.
void GradientSum::find_branches(int first, int size) {
  for (int rank = 0; rank < ranks_.size(); ++rank) {
    const ShardRange shards = shards_of(rank, ranks_.size(), num_shards_);
    if (shards.first <= first && first + size <= shards.last) {
      branches_.push_back({first, size, rank});
      return;
    }
  }
  const auto left = static_cast<int>(left_branch(static_cast<std::size_t>(size)));
  find_branches(first, left);
  find_branches(first + left, size - left);
}

std::size_t GradientSum::branches_of(int rank) const {
  return static_cast<std::size_t>(std::ranges::count(branches_, rank, &Branch::rank));
}

// The parameters that a rank adds.
std::size_t GradientSum::begin_of(int rank) const {
  return total_.size() * static_cast<std::size_t>(rank) / static_cast<std::size_t>(ranks_.size());
}

// A branch that was received.
std::span<float> GradientSum::message(std::size_t branch) {
  const std::size_t size = kHead + width_of(ranks_.rank());
  return std::span(received_).subspan(branch * size, size);
}

void GradientSum::pack(std::span<std::vector<float>> gradients, std::span<const LossSum> losses) {
  for (const Branch& branch : branches_) {
    if (branch.rank != ranks_.rank()) continue;
    const auto at = static_cast<std::size_t>(branch.first - own_.first);
    add_branch(gradients.subspan(at, static_cast<std::size_t>(branch.size)));
  }
  auto out = sent_.begin();
  for (int rank = 0; rank < ranks_.size(); ++rank) {
    for (const Branch& branch : branches_) {
      if (branch.rank != ranks_.rank()) continue;
      const auto at = static_cast<std::size_t>(branch.first - own_.first);
      set_head(pairwise_sum(losses.subspan(at, static_cast<std::size_t>(branch.size))),
               {out, out + kHead});
      const std::span<const float> part =
          std::span(gradients[at]).subspan(begin_of(rank), width_of(rank));
      out = std::ranges::copy(part, out + kHead).out;
    }
  }
  for (std::vector<float>& gradient : gradients) std::ranges::fill(gradient, 0.0f);
}

// Adds the branches below one of the tree into the first of them; returns which that is.
std::size_t GradientSum::add_branches(int first, int size) {
  const auto found = std::ranges::find_if(
      branches_, [&](const Branch& b) { return b.first == first && b.size == size; });
  if (found != branches_.end()) return static_cast<std::size_t>(found - branches_.begin());
  const auto left = static_cast<int>(left_branch(static_cast<std::size_t>(size)));
  const std::size_t sum = add_branches(first, left);
  const std::size_t other = add_branches(first + left, size - left);
  LossSum loss = head_of(message(sum));
  loss += head_of(message(other));
  set_head(loss, message(sum));
  add_to(message(sum).subspan(kHead), message(other).subspan(kHead));
  return sum;
}

LossSum GradientSum::add(std::span<std::vector<float>> gradients, std::span<const LossSum> losses) {
  pack(gradients, losses);
  const int size = ranks_.size();
  std::vector<std::span<const std::byte>> send;
  std::vector<std::span<std::byte>> receive;
  std::span<const float> to_send = sent_;
  std::span<float> to_receive = received_;
  for (int rank = 0; rank < size; ++rank) {
    const std::size_t out = branches_of(ranks_.rank()) * (kHead + width_of(rank));
    const std::size_t in = branches_of(rank) * (kHead + width_of(ranks_.rank()));
    send.push_back(std::as_bytes(to_send.first(out)));
    receive.push_back(std::as_writable_bytes(to_receive.first(in)));
    to_send = to_send.subspan(out);
    to_receive = to_receive.subspan(in);
  }
  ranks_.exchange(send, receive);
  const std::span<float> sum = message(add_branches(0, num_shards_));
  for (int rank = 0; rank < size; ++rank) {
    send[static_cast<std::size_t>(rank)] = std::as_bytes(sum.subspan(kHead));
    receive[static_cast<std::size_t>(rank)] =
        std::as_writable_bytes(std::span(total_).subspan(begin_of(rank), width_of(rank)));
  }
  ranks_.exchange(send, receive);
  return head_of(sum);
}

}  // namespace espalier
