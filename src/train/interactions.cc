// SPDX-License-Identifier: Apache-2.0
#include "train/interactions.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "core/text.h"
#include "csv/cell.h"
#include "encode/pairs.h"
#include "espalier/error.h"

namespace espalier {

namespace {

constexpr int kMaxBins = 1000;

[[noreturn]] void fail_interaction(std::string_view text, std::string_view wanted) {
  throw Error(ErrorKind::argument, fmt::format("interactions: '{}': {}", printable(text), wanted));
}

// What stands behind the last colon, if it is digits: "a*b:32" -> {"a*b", "32"}.
std::pair<std::string_view, std::string_view> cut_bins(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos || colon + 1 == text.size()) return {text, {}};
  const std::string_view bins = text.substr(colon + 1);
  const bool digits = std::ranges::all_of(bins, [](char c) { return c >= '0' && c <= '9'; });
  return digits ? std::pair(text.substr(0, colon), bins) : std::pair(text, std::string_view());
}

int read_bins(std::string_view text, std::string_view digits) {
  if (digits.empty()) return 0;
  int bins = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), bins);
  if (error != std::errc() || bins < 2 || bins > kMaxBins)
    fail_interaction(text, fmt::format("{} bins; wanted 2 to {}", digits, kMaxBins));
  return bins;
}

std::optional<std::size_t> find_feature(std::string_view name,
                                        const std::vector<Feature>& features) {
  const auto found = std::ranges::find(features, name, &Feature::name);
  if (found == features.end()) return std::nullopt;
  return static_cast<std::size_t>(found - features.begin());
}

// Names may hold stars themselves: the first star between two names is the one.
std::optional<PairRequest> find_pair(std::string_view names, const std::vector<Feature>& features) {
  for (std::size_t star = names.find('*'); star != names.npos; star = names.find('*', star + 1)) {
    const auto first = find_feature(names.substr(0, star), features);
    const auto second = find_feature(names.substr(star + 1), features);
    if (first && second) return PairRequest{*first, *second};
  }
  return std::nullopt;
}

[[noreturn]] void fail_unknown(std::string_view text, std::string_view names,
                               const std::vector<Feature>& features) {
  const std::size_t star = names.find('*');
  if (star == names.npos) {
    fail_interaction(
        text, "wanted two columns, 'first*second' or 'first*second:bins', or auto, or none alone");
  }
  std::string_view unknown = names.substr(0, star);
  if (find_feature(unknown, features)) unknown = names.substr(star + 1);
  const auto guess = nearest(unknown, features, &Feature::name);
  fail_interaction(
      text, fmt::format("'{}' is no column that the model reads{}", printable(unknown),
                        guess ? fmt::format("; did you mean '{}'?", printable(*guess)) : ""));
}

// Where a column has a direction, bins are the vertices of a grid.
void require_room(std::string_view text, const PairRequest& pair,
                  const std::vector<Feature>& features) {
  const bool is_free = features[pair.first].monotonicity == Monotonicity::none &&
                       features[pair.second].monotonicity == Monotonicity::none;
  if (is_free || pair.bins <= kMaxPairVertices) return;
  fail_interaction(text, fmt::format("{} bins; wanted 2 to {} where a column has a direction",
                                     pair.bins, kMaxPairVertices));
}

PairRequest read_pair(std::string_view text, const std::vector<Feature>& features) {
  // A whole text may be two names of which the second ends in a colon and digits.
  std::optional<PairRequest> pair = find_pair(text, features);
  const auto [names, digits] = cut_bins(text);
  if (!pair) {
    pair = find_pair(names, features);
    if (!pair) fail_unknown(text, names, features);
    pair->bins = read_bins(text, digits);
  }
  if (pair->first == pair->second) fail_interaction(text, "a column cannot be crossed with itself");
  require_room(text, *pair, features);
  return *pair;
}

bool is_word(const std::string& text) { return text == "auto" || text == "none"; }

}  // namespace

bool asks_for_interactions(const std::vector<std::string>& texts) {
  return texts.size() == 1 && texts.front() == "auto";
}

bool leaves_interactions_open(const std::vector<std::string>& texts) {
  return std::ranges::any_of(texts, [](const std::string& text) {
    return text != "none" && cut_bins(text).second.empty();
  });
}

std::vector<PairRequest> read_interactions(const std::vector<std::string>& texts,
                                           const std::vector<Feature>& features) {
  std::vector<PairRequest> pairs;
  for (const std::string& text : texts) {
    if (texts.size() == 1 && is_word(text)) return {};
    const PairRequest pair = read_pair(text, features);
    if (std::ranges::find(pairs, pair) != pairs.end()) fail_interaction(text, "it is there twice");
    pairs.push_back(pair);
  }
  return pairs;
}

std::vector<std::string> write_interactions(const std::vector<PairRequest>& pairs,
                                            const std::vector<Feature>& features) {
  std::vector<std::string> texts;
  for (const PairRequest& pair : pairs) {
    texts.push_back(
        fmt::format("{}*{}:{}", features[pair.first].name, features[pair.second].name, pair.bins));
  }
  if (texts.empty()) texts.emplace_back("none");
  return texts;
}

}  // namespace espalier
