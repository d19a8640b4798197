// SPDX-License-Identifier: Apache-2.0
#include "encode/schema_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>
#include <unordered_map>

#include "core/bytes.h"
#include "core/text.h"
#include "csv/category_index.h"
#include "csv/cell.h"
#include "encode/column_options.h"
#include "encode/encode.h"
#include "encode/roles.h"
#include "encode/row_sample.h"
#include "encode/whole_weights.h"
#include "espalier/error.h"

namespace espalier {

namespace {

// More rows than this are thinned out evenly before their values are sorted for keypoints.
constexpr std::size_t kMaxKeypointRows = 1'000'000;

[[noreturn]] void fail(std::string_view message) {
  throw Error(ErrorKind::argument, std::string(message));
}

// Names and categories are stored in the header of the model file.
void require_utf8(const Table& table, const Column& column) {
  constexpr const char* kWanted = "is not UTF-8; convert the file first, for example with iconv";
  if (!is_utf8(column.name))
    throw Error(ErrorKind::data, fmt::format("{}: a column name {}", table.name, kWanted));
  for (const auto* categories : {&column.categories, &column.missing, &column.not_missing}) {
    if (std::all_of(categories->begin(), categories->end(), is_utf8)) continue;
    throw Error(ErrorKind::data, fmt::format("{}: column '{}': a word {}", table.name,
                                             printable(column.name), kWanted));
  }
}

// The rank of each value in the order of a feature's categories; NaN for a missing one.
class OrderedCells {
 public:
  OrderedCells(const Feature& feature, const Column& column)
      : categories_(feature), column_(column) {
    for (const std::string& category : column.categories) by_code_.push_back(place(category));
  }

  float operator[](std::size_t row) const {
    if (column_.type == ColumnType::number) return place(text_at(column_, row));
    const std::int32_t code = column_.category_codes()[row];
    return code == kMissingCode ? NAN : by_code_[static_cast<std::size_t>(code)];
  }

 private:
  float place(const std::string& category) const {
    const auto found = categories_.find(category);
    return found ? static_cast<float>(*found) : NAN;
  }

  FeatureCategories categories_;
  const Column& column_;
  std::vector<float> by_code_;
};

// The training rows of this process, and where their values are.
struct OwnRows {
  std::span<const std::uint64_t> rows;
  std::uint64_t first;  // the first row of the columns

  template <class Visit>
  void visit(const Visit& visit) const {
    for (const std::uint64_t row : rows) visit(static_cast<std::size_t>(row - first));
  }
};

OwnRows own_rows(const RankRows& share, RowRange range, const Rows& rows) {
  const RowRange places = places_of(range, rows);
  return {std::span(rows).subspan(places.begin, places.size()), share.first};
}

void fill_ordered(const Column& column, const OwnRows& rows,
                  const std::vector<std::string>& categories, const Table& table,
                  Feature& feature) {
  feature.kind = FeatureKind::ordered;
  feature.categories = categories;
  const OrderedCells cells(feature, column);
  rows.visit([&](std::size_t row) {
    if (!std::isnan(cells[row])) return;
    const std::string category = text_at(column, row);
    if (category.empty()) return;
    throw Error(ErrorKind::data,
                fmt::format("{}: column '{}': row {}: '{}' is not in its order {}", table.name,
                            printable(column.name), rows.first + row + 1, printable(category),
                            printable(fmt::format("{}", fmt::join(categories, "<")))));
  });
}

// The weight of categories in the training rows; negative for a category that is in none of them.
// same[code] is the category of a code; the last category stands for missing values.
std::vector<double> weigh_categories(const Column& column, const RankRows& share, const Rows& rows,
                                     const LargeVector<float>& weights,
                                     const std::vector<std::size_t>& same,
                                     std::size_t num_categories) {
  const std::span<const std::int32_t> codes = column.category_codes();
  const WholeWeights whole(weights);
  std::vector<std::int64_t> own(num_categories, -1);
  const auto add = [](std::int64_t& sum, std::int64_t more) {
    if (more >= 0) sum = std::max<std::int64_t>(sum, 0) + more;
  };
  const RowRange places = places_of(share.rows, rows);
  for (std::uint64_t i = places.begin; i < places.end; ++i) {
    const std::int32_t code = codes[rows[i] - share.first];
    add(own[code == kMissingCode ? num_categories - 1 : same[static_cast<std::size_t>(code)]],
        whole[i]);
  }
  std::vector<std::int64_t> sums(num_categories, -1);
  for (const std::string& bytes : share.gather(raw_bytes(std::span<const std::int64_t>(own)))) {
    const std::vector<std::int64_t> gathered = numbers_of<std::int64_t>(bytes);
    for (std::size_t category = 0; category < num_categories; ++category)
      add(sums[category], gathered[category]);
  }
  std::vector<double> totals;
  for (const std::int64_t sum : sums) totals.push_back(sum < 0 ? -1 : whole.in_weight(sum));
  return totals;
}

// The categories of the training rows by decreasing weight; the rarest are pooled beyond
// max_categories.
void fill_category(const Column& column, const RankRows& share, const Rows& rows,
                   const LargeVector<float>& weights, int max_categories, Feature& feature) {
  feature.kind = FeatureKind::category;
  CategoryIndex index;            // 1 and 1.0 are one category
  std::vector<std::size_t> same;  // by code
  for (const std::string& each : column.categories)
    same.push_back(static_cast<std::size_t>(index.index_of(shortest_plain(each))));
  const std::vector<std::string> categories = index.take_categories();
  const std::vector<double> totals =
      weigh_categories(column, share, rows, weights, same, categories.size() + 1);
  const double total = weights.empty() ? static_cast<double>(rows.size())
                                       : std::accumulate(weights.begin(), weights.end(), 0.0);
  const auto category = [&](std::size_t c) {
    return c < categories.size() ? categories[c] : std::string();
  };
  std::vector<std::size_t> order;
  for (std::size_t c = 0; c < totals.size(); ++c) {
    if (totals[c] >= 0) order.push_back(c);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return totals[a] != totals[b] ? totals[a] > totals[b] : category(a) < category(b);
  });
  const auto limit = static_cast<std::size_t>(max_categories);
  feature.pools_rare = order.size() > limit;
  double rare = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (feature.pools_rare && i + 1 >= limit) {
      rare += totals[order[i]];
      continue;
    }
    feature.categories.push_back(category(order[i]));
    feature.shares.push_back(static_cast<float>(totals[order[i]] / total));
  }
  if (feature.pools_rare) {
    feature.categories.emplace_back("(rare)");
    feature.shares.push_back(static_cast<float>(rare / total));
  }
}

// What a column contains in the training rows: nothing, a single value, or more.
struct Content {
  bool any_value = false;
  bool any_missing = false;
  bool varies = false;
  bool is_blurred = false;  // different numbers are equal as floats
  std::int32_t first_code = 0;
  float first_number = 0;
  double first_double = 0;

  void add(const Content& other) {
    any_missing |= other.any_missing;
    varies |= other.varies;
    is_blurred |= other.is_blurred;
    if (!other.any_value) return;
    if (any_value) {
      varies |= first_number != other.first_number || first_code != other.first_code;
      is_blurred |= first_number == other.first_number && first_double != other.first_double;
    } else {
      first_code = other.first_code;
      first_number = other.first_number;
      first_double = other.first_double;
    }
    any_value = true;
  }
};

// The number of values to look at; numbers that are close together have few distinct floats.
constexpr std::size_t kMaxLookedAt = std::size_t{1} << 20;

bool has_blurred_numbers(const Column& column, const OwnRows& rows) {
  const std::span<const double> doubles = column.doubles();
  std::unordered_map<float, double> first;
  for (const std::uint64_t each : rows.rows) {
    const std::size_t row = each - rows.first;
    const float rounded = column.values()[row];
    if (std::isnan(rounded)) continue;
    if (first.size() >= kMaxLookedAt) break;
    if (first.emplace(rounded, doubles[row]).first->second != doubles[row]) return true;
  }
  return false;
}

Content own_content_of(const Column& column, const OwnRows& rows) {
  Content content;
  const bool is_number = column.type == ColumnType::number;
  const std::span<const std::int32_t> codes = column.category_codes();
  for (const std::uint64_t each : rows.rows) {
    const std::size_t row = each - rows.first;
    const float number = is_number ? column.values()[row] : 0;
    const std::int32_t code = is_number ? 0 : codes[row];
    if (std::isnan(number) || code == kMissingCode) {
      content.any_missing = true;
      continue;
    }
    if (!content.any_value) {
      content.first_code = code;
      content.first_number = number;
      content.first_double = is_number ? column.number(row) : 0;
    }
    if (number != content.first_number || code != content.first_code) content.varies = true;
    content.any_value = true;
    if (content.varies && content.any_missing) break;
  }
  content.is_blurred = !column.doubles().empty() && has_blurred_numbers(column, rows);
  return content;
}

// The contents in all processes, compared by the first value of each. Blurring only causes a
// warning.
Content content_of(const Column& column, const RankRows& share, const OwnRows& rows) {
  const Content own = own_content_of(column, rows);
  Content content;
  for (const std::string& bytes : share.gather(raw_bytes(std::span(&own, 1))))
    content.add(numbers_of<Content>(bytes).front());
  return content;
}

std::string_view why_ignored(const Content& content) {
  if (!content.any_value) return "all its cells are missing";
  return content.is_blurred
             ? "its numbers differ by less than 32-bit floats can tell; subtract a constant to "
               "tell them apart"
             : "it has the same value in every training row";
}

// The finite values of the training rows of a numeric or ordered feature, sorted.
std::vector<float> sorted_values(const Feature& feature, const Column& column,
                                 const RankRows& share, const Rows& rows) {
  std::vector<float> own;
  const RowRange places = places_of(share.rows, rows);
  const auto add_all = [&](const auto& cells) {
    visit_sample(rows.size(), kMaxKeypointRows, [&](std::size_t place) {
      if (place < places.begin || place >= places.end) return;
      const float value = cells[rows[place] - share.first];
      if (std::isfinite(value)) own.push_back(value);
    });
  };
  if (feature.kind == FeatureKind::ordered) {
    add_all(OrderedCells(feature, column));
  } else {
    add_all(column.values());
  }
  std::vector<float> values;
  for (const std::string& bytes : share.gather(raw_bytes(std::span<const float>(own))))
    std::ranges::copy(numbers_of<float>(bytes), std::back_inserter(values));
  std::sort(values.begin(), values.end());
  return values;
}

std::vector<float> evenly_among(const std::vector<float>& sorted, int count) {
  std::vector<float> picked;
  const std::size_t n = sorted.size(), k = static_cast<std::size_t>(count);
  for (std::size_t i = 0; i < k; ++i)
    picked.push_back(sorted[(2 * i * (n - 1) + (k - 1)) / (2 * (k - 1))]);
  return picked;
}

std::vector<float> uniformly_over(double lo, double hi, int count) {
  std::vector<float> picked;
  for (int i = 0; i < count; ++i)
    picked.push_back(static_cast<float>(lo + (hi - lo) * i / (count - 1)));
  return picked;
}

std::vector<float> choose_keypoints(const KeypointPlan& plan, const std::vector<float>& sorted) {
  if (plan.range) return uniformly_over(plan.range->lo, plan.range->hi, plan.count);
  const float lo = sorted.front(), hi = sorted.back();
  if (lo == hi)
    return {lo, std::nextafter(lo + std::abs(lo) + 1, std::numeric_limits<float>::infinity())};
  if (plan.mode == Keypoints::uniform) return uniformly_over(lo, hi, plan.count);
  std::vector<float> values;
  std::ranges::unique_copy(sorted, std::back_inserter(values));
  if (values.size() <= static_cast<std::size_t>(plan.count)) return values;
  return evenly_among(
      plan.mode == Keypoints::quantile ? sorted : values,
      plan.continuous_count > 0 ? std::min(plan.continuous_count, plan.count) : plan.count);
}

}  // namespace

std::vector<Feature> build_features(const Table& table, const TrainOptions& options,
                                    const Rows& rows, const Warning& warn) {
  return build_features(table, whole_table(table.num_rows), options,
                        read_directions(table, ColumnIndex(table), options), rows, warn);
}

std::vector<Feature> build_features(const Table& table, const RankRows& share,
                                    const TrainOptions& options, const Directions& directions,
                                    const Rows& rows, const Warning& warn) {
  const ColumnIndex columns(table);
  const OwnRows own = own_rows(share, share.rows, rows);
  const Orders orders = read_orders(table, columns, options);
  LargeVector<float> weights;
  for (const auto& [role, name] : side_columns(options)) {
    if (role == Role::weight) weights = encode_side_column(role, name, table, rows);
  }
  std::vector<Feature> features;
  for (const Column& column : table.columns) {
    require_utf8(table, column);
    if (role_of(column.name, options) != Role::feature) continue;
    Feature feature{
        .name = column.name, .missing = column.missing, .not_missing = column.not_missing};
    const auto direction = directions.find(column.name);
    if (direction != directions.end()) feature.monotonicity = direction->second;
    const auto order = orders.find(column.name);
    if (column.type == ColumnType::category && order == orders.end() &&
        direction != directions.end()) {
      fail(
          fmt::format("{0}: '{1}' is a category without an order; wanted a number, or --order "
                      "'{1}=low<...<high'",
                      to_word(feature.monotonicity), printable(column.name)));
    }
    const Content content = content_of(column, share, own);
    if (!content.varies && !(content.any_value && content.any_missing)) {
      warn(fmt::format("column '{}' is ignored: {}", printable(column.name), why_ignored(content)));
      continue;
    }
    if (content.is_blurred) {
      warn(
          fmt::format("column '{}': some of its numbers differ by less than 32-bit floats can "
                      "tell and count as the same; subtract a constant to tell them apart",
                      printable(column.name)));
    }
    if (order != orders.end()) {
      fill_ordered(column, own, order->second, table, feature);
    } else if (column.type == ColumnType::category) {
      fill_category(column, share, rows, weights, options.max_categories, feature);
    }
    if (feature.kind != FeatureKind::category) feature.learns_missing = content.any_missing;
    features.push_back(std::move(feature));
  }
  if (features.empty())
    throw Error(ErrorKind::data, fmt::format("{}: no column is left to predict from", table.name));
  return features;
}

void fit_keypoints(const KeypointPlan& plan, const Table& table, const RankRows& share,
                   const Rows& rows, std::vector<Feature>& features) {
  const ColumnIndex columns(table);
  for (Feature& feature : features) {
    if (feature.kind == FeatureKind::category) continue;
    const std::vector<float> values =
        sorted_values(feature, columns.require(feature.name), share, rows);
    if (values.empty()) {
      throw Error(ErrorKind::data, fmt::format("{}: column '{}' has no finite value", table.name,
                                               printable(feature.name)));
    }
    feature.typical = values[(values.size() - 1) / 2];
    feature.learns_missing = feature.learns_missing && plan.learn_missing;
    feature.keypoints =
        feature.kind == FeatureKind::ordered
            ? uniformly_over(0, static_cast<double>(feature.categories.size() - 1),
                             plan.learn_missing ? static_cast<int>(feature.categories.size()) : 2)
            : choose_keypoints(plan, values);
    // Quantiles repeat where many rows have the same value, and uniform steps may be too small for
    // floats.
    auto& points = feature.keypoints;
    points.erase(std::unique(points.begin(), points.end()), points.end());
  }
}

}  // namespace espalier
