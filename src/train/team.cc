// SPDX-License-Identifier: Apache-2.0
#include "train/team.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "serve/member_outputs.h"
#include "table/gather.h"

namespace espalier {

Team::Team(int threads, Ranks* ranks, std::stop_token stop)
    : pool_(threads),
      ranks_(ranks != nullptr && ranks->size() > 1 ? ranks : nullptr),
      stop_(std::move(stop)) {}

bool Team::stop_requested() const {
  return ranks_ == nullptr ? stop_.stop_requested() : agreed_to_stop_;
}

void Team::agree_on_stop() {
  if (ranks_ == nullptr) return;
  const char own = stop_.stop_requested() ? 1 : 0;
  std::vector<char> flags(static_cast<std::size_t>(ranks_->size()));
  std::vector<std::span<std::byte>> receive;
  for (char& flag : flags) receive.push_back(std::as_writable_bytes(std::span(&flag, 1)));
  tell_all(*ranks_, std::as_bytes(std::span(&own, 1)), receive);
  if (std::ranges::count(flags, 1) > 0) agreed_to_stop_ = true;
}

std::vector<std::string> Team::gather(std::string_view own) {
  return espalier::gather(ranks_, own);
}

std::string Team::from_first(std::string_view own) {
  return std::move(gather(is_first() ? own : std::string_view()).front());
}

namespace {

// Each rank computes some of the rows: outputs(begin, end).
template <class Outputs>
std::vector<float> divided(const Label& label, const Dataset& data, Team& team,
                           const Outputs& outputs) {
  if (team.ranks() == nullptr) return outputs(0, data.num_rows);
  const auto size = static_cast<std::size_t>(team.ranks()->size());
  const auto rank = static_cast<std::size_t>(team.ranks()->rank());
  const auto begin = [&](std::size_t q) { return data.num_rows * q / size; };
  const std::vector<float> own = outputs(begin(rank), begin(rank + 1));
  std::vector<float> all(data.num_rows * label.num_scores());
  std::vector<std::span<std::byte>> receive;
  for (std::size_t q = 0; q < size; ++q) {
    receive.push_back(std::as_writable_bytes(std::span(all).subspan(
        begin(q) * label.num_scores(), (begin(q + 1) - begin(q)) * label.num_scores())));
  }
  tell_all(*team.ranks(), std::as_bytes(std::span(own)), receive);
  return all;
}

}  // namespace

std::vector<float> network_outputs(const Network& network, const Label& label, const Dataset& data,
                                   Team& team) {
  return divided(label, data, team, [&](std::size_t begin, std::size_t end) {
    return network_outputs(network, label, data, begin, end, team.pool());
  });
}

std::vector<float> member_outputs(const ModelMember& member, const Schema& schema,
                                  const Dataset& data, Team& team) {
  return divided(schema.label, data, team, [&](std::size_t begin, std::size_t end) {
    return member_outputs(member, schema, data, begin, end, team.pool());
  });
}

}  // namespace espalier
