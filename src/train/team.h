// SPDX-License-Identifier: Apache-2.0
// Who works on a training: the threads of this process and, if there are any, the other ranks.
//
// All ranks run the same program on the same numbers and divide what takes long: the shards of a
// gradient (train/gradient_sum.h) and the rows that are evaluated. So whatever decides where the
// program goes must be the same everywhere: clocks and requests to stop are not, and are agreed on.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/thread_pool.h"
#include "encode/dataset.h"
#include "espalier/ranks.h"
#include "model/model_data.h"

namespace espalier {

class Team {
 public:
  /// `threads` as ThreadPool takes them. Without `ranks`, which outlive it, this process is alone.
  explicit Team(int threads, Ranks* ranks = nullptr, std::stop_token stop = {});

  ThreadPool& pool() { return pool_; }
  Ranks* ranks() { return ranks_; }  // null if it is alone

  /// The first rank writes files.
  bool is_first() const { return ranks_ == nullptr || ranks_->rank() == 0; }

  /// Of one process: whether it is asked to stop; of several: whether one was when they last
  /// agreed.
  bool stop_requested() const;

  // All ranks call the functions below, in the same order.

  void agree_on_stop();

  /// What each rank says, in the order of ranks.
  std::vector<std::string> gather(std::string_view own);

  /// What the first rank says.
  std::string from_first(std::string_view own);

 private:
  ThreadPool pool_;
  Ranks* ranks_;
  std::stop_token stop_;
  bool agreed_to_stop_ = false;
};

/// As network_outputs of model/model_data.h, the rows divided.
std::vector<float> network_outputs(const Network& network, const Label& label, const Dataset& data,
                                   Team& team);

/// As member_outputs of serve/member_outputs.h, the rows divided.
std::vector<float> member_outputs(const ModelMember& member, const Schema& schema,
                                  const Dataset& data, Team& team);

}  // namespace espalier
