// SPDX-License-Identifier: Apache-2.0
#include "page/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "encode/encode.h"
#include "page/quality.h"
#include "page/text.h"

namespace espalier {

namespace {

constexpr std::size_t kMaxGroups = 20;
constexpr std::size_t kMaxValues = 12;  // of a number that is not cut
constexpr std::size_t kCuts = 5;
constexpr BootstrapPlan kPlan = {.resamples = 100, .most_rows = 2000};

struct Group {
  std::string name;
  Rows indices;  // of the evaluated rows
};

// By category, the most frequent first; ties in alphabetical order.
std::vector<Group> group_categories(const ScoredTable& all, const Column& column) {
  std::map<std::string, Rows> by_category;
  for (std::size_t i = 0; i < all.size(); ++i)
    by_category[text_at(column, all.rows[i])].push_back(i);
  std::vector<Group> groups;
  Group missing{.name = "(missing)"}, others{.name = "(all others)"};
  for (auto& [category, indices] : by_category) {
    if (category.empty()) {
      missing.indices = std::move(indices);
    } else {
      groups.push_back({category, std::move(indices)});
    }
  }
  std::ranges::stable_sort(groups, std::ranges::greater(),
                           [](const Group& group) { return group.indices.size(); });
  for (std::size_t g = kMaxGroups; g < groups.size(); ++g)
    others.indices.insert(others.indices.end(), groups[g].indices.begin(), groups[g].indices.end());
  groups.resize(std::min(groups.size(), kMaxGroups));
  std::ranges::sort(others.indices);
  if (!others.indices.empty()) groups.push_back(std::move(others));
  if (!missing.indices.empty()) groups.push_back(std::move(missing));
  return groups;
}

// Groups of a number: its values if there are few, else ranges.
std::vector<Group> group_numbers(const ScoredTable& all, const Column& column) {
  std::vector<double> values;
  for (const std::uint64_t row : all.rows) {
    if (const double value = column.number(row); !std::isnan(value)) values.push_back(value);
  }
  std::ranges::sort(values);
  std::vector<double> distinct = values;
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  const bool is_cut = distinct.size() > kMaxValues;
  std::vector<double> begins;  // starts of ranges, or single values
  if (is_cut) {
    for (std::size_t c = 0; c < kCuts; ++c) begins.push_back(values[c * values.size() / kCuts]);
    begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
  } else {
    begins = distinct;
  }
  std::vector<Group> groups;
  for (std::size_t g = 0; g < begins.size(); ++g) {
    if (!is_cut) {
      groups.push_back({fmt::format("{:.6g}", begins[g]), {}});
    } else if (g + 1 < begins.size()) {
      groups.push_back({fmt::format("{:.6g} to below {:.6g}", begins[g], begins[g + 1]), {}});
    } else {
      groups.push_back({fmt::format("{:.6g} to {:.6g}", begins[g], values.back()), {}});
    }
  }
  Group missing{.name = "(missing)"};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double value = column.number(all.rows[i]);
    const auto after = std::upper_bound(begins.begin(), begins.end(), value) - begins.begin();
    Group& own = std::isnan(value) ? missing : groups[static_cast<std::size_t>(after - 1)];
    own.indices.push_back(i);
  }
  if (!missing.indices.empty()) groups.push_back(std::move(missing));
  return groups;
}

Json group_json(const std::string& name, const ScoredTable& rows, const Random& random,
                ThreadPool& pool) {
  Mean predicted, seen;
  std::vector<Comparison> compared;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    compared.push_back(compare(rows, i));
    predicted.add(compared.back().predicted, compared.back().weight);
    seen.add(compared.back().seen, compared.back().weight);
  }
  const MeanOf what = mean_compared(rows.label);
  const Interval interval = seen.interval(what);
  return {{"name", name},
          {"rows", rows.size()},
          {"predicted", rounded(predicted.value())},
          {"seen", rounded(seen.value())},
          {"low", rounded(interval.low)},
          {"high", rounded(interval.high)},
          {"calibration", calibration_json(std::move(compared), kCuts, what)},
          {"metrics", json_of(estimate_metrics(rows, kPlan, random, pool))}};
}

}  // namespace

Json groups_json(const ScoredTable& all, const Table& table, const std::string& name,
                 const Random& random, ThreadPool& pool) {
  const Column& column = require_column(table, name);
  const std::vector<Group> groups = column.type == ColumnType::number
                                        ? group_numbers(all, column)
                                        : group_categories(all, column);
  Json list = Json::array();
  for (std::size_t g = 0; g < groups.size(); ++g)
    list.push_back(
        group_json(groups[g].name, subset(all, groups[g].indices), random.split(g), pool));
  return {{"column", name}, {"resamples", kPlan.resamples}, {"list", list}};
}

}  // namespace espalier
