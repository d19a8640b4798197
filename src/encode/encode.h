// SPDX-License-Identifier: Apache-2.0
// From the cells of a table to the numbers a network reads, one per feature:
//
//   number, ordered   the position among the feature's keypoints, k + t for a value that lies a
//                     share t of the way from keypoint k to k + 1, clipped to [0, K - 1]; counted
//                     from the other end for a decreasing feature, so that every monotone input of
//                     a network rises; kMissingPosition for a missing cell if training had any,
//                     else that of `typical`
//   category          the index of its word; the number of words if it was not seen in training
//
// and behind the features one for each pair of them: its code, see pairs.h
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "encode/dataset.h"
#include "espalier/schema.h"
#include "espalier/table.h"
#include "table/rank_rows.h"

namespace espalier {

/// The position of a missing cell of a feature that learns an output for missing.
inline constexpr float kMissingPosition = -1;

/// The words that stand for themselves, without the last one where that is all the rare ones; the
/// index behind them is that of an unseen word.
std::size_t num_own_categories(const Feature& feature);

/// The words of an ordered or a category feature, which must outlive it, by what they say: words
/// that are the same plain number are one word.
class FeatureCategories {
 public:
  explicit FeatureCategories(const Feature& feature);

  /// The index of a word, or nothing for one that the feature does not have.
  std::optional<std::size_t> find(std::string_view category) const;

 private:
  std::unordered_map<std::string_view, std::size_t> index_;
};

/// The columns of a table, which must outlive it, by name.
class ColumnIndex {
 public:
  explicit ColumnIndex(const Table& table);

  /// Throw Error (data) that names the nearest column there is; the last one also if the column has
  /// words. find gives null.
  const Column* find(std::string_view name) const;
  const Column& require(const std::string& name) const;
  const Column& require_numbers(const std::string& name) const;

 private:
  const Table& table_;
  std::unordered_map<std::string_view, const Column*> index_;
};

/// All rows of a table.
Rows all_rows(const Table& table);

/// The features of some rows. Throws Error (data) if a column is absent or of another type.
Dataset encode_features(const Schema& schema, const Table& table, const Rows& rows);

/// The features of all rows as a Predictor reads them: numbers as they are, words as their codes.
/// encode_cell makes the cells of encode_features of these.
Dataset read_features(const Schema& schema, const Table& table);

/// Features and the columns beside them for several lists of rows, each in ascending order;
/// features of those rows that the share has. The cells of the table are freed as they are encoded,
/// block of rows by block, so that little is ever held in both forms.
std::vector<Dataset> encode_and_free(const Schema& schema, Table table, const RankRows& share,
                                     const std::vector<const Rows*>& lists);

/// The position of a value, not NaN, among keypoints; counted from the other end if `turned`. It
/// never falls (turned: never rises) when the value rises, not by one bit.
float position_among(std::span<const float> keypoints, float value, bool reversed) noexcept;

/// The position of a value among a number feature's keypoints, as above.
float encode_number(const Feature& feature, float value);

/// One cell of a row of numbers and codes: a number or the code of an ordered word as its position,
/// the code of a category as itself; NaN is missing, any other code unseen.
float encode_cell(const Feature& feature, float cell);

/// One column as ColumnIndex has it.
const Column& require_column(const Table& table, const std::string& name);
const Column& require_numbers(const Table& table, const std::string& name);

/// Throws Error (data) with the table and the column before the message.
[[noreturn]] void fail_column(const Table& table, const std::string& column,
                              std::string_view message);

/// The word of a cell, whatever the column's type; empty for a missing one.
std::string text_at(const Column& column, std::size_t row);

/// The fewest digits that read back as the same number of that column.
std::string number_text(const Column& column, double value);

}  // namespace espalier
