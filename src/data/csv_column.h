// SPDX-License-Identifier: Apache-2.0
// One column of a file while its cells are read, walk by walk over the text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "data/csv_cell.h"
#include "data/csv_scanner.h"
#include "espalier/table.h"

namespace espalier {

class ColumnReader {
 public:
  explicit ColumnReader(std::string name) { column_.name = std::move(name); }

  // Takes the column into the table; else its cells are passed over. `type` is null where the cells
  // decide. `missing` are the words that mean so beyond the usual ones.
  void want(const ColumnType* type, std::vector<std::string> missing) {
    is_wanted_ = true;
    type_is_given_ = type != nullptr;
    role_ = type_is_given_ && *type == ColumnType::category ? Role::category : Role::number;
    for (const std::string& word : missing) {
      float number;
      if (parse_number(trim(word), number)) missing_numbers_.push_back(number);
    }
    column_.missing = std::move(missing);
  }

  // Reads a cell; false if it is a word where only a number will do.
  bool add(const Cell& cell) {
    if (role_ == Role::number) return add_number(cell);
    if (role_ == Role::category) add_word(cell);
    return true;
  }

  // Before a walk: forgets the cells of an unfinished column.
  void restart() {
    if (role_ == Role::done) return;
    if (role_ == Role::turned) role_ = Role::category;
    column_.numbers.clear();
    column_.words.clear();
    column_.codes.clear();
    codes_.clear();
  }

  // After a walk over all rows; false if the column needs another one.
  bool finish() {
    if (role_ == Role::turned) return false;
    if (role_ == Role::category) column_.type = ColumnType::category;
    role_ = Role::done;
    return true;
  }

  bool is_wanted() const { return is_wanted_; }
  const std::string& name() const { return column_.name; }
  Column take() { return std::move(column_); }

 private:
  // What a walk does with the column.
  enum class Role {
    done,  // passes it over
    number,
    category,
    turned,  // passes it over since it met a word; the next walk reads a category column
  };

  struct WordHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view word) const {
      return std::hash<std::string_view>()(word);
    }
  };

  bool add_number(const Cell& cell) {
    constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
    const std::string_view text = cell.quoted ? trim(cell.text) : cell.text;
    float number;
    if (parse_number(text, number)) {
      column_.numbers.push_back(is_missing(number) ? kMissing : number);
    } else if (is_missing(text)) {
      column_.numbers.push_back(kMissing);
    } else if (type_is_given_) {
      return false;
    } else {
      role_ = Role::turned;
      column_.numbers = {};
    }
    return true;
  }

  void add_word(const Cell& cell) {
    auto found = codes_.find(cell.text);
    if (found == codes_.end()) found = codes_.emplace(cell.text, new_code(cell.text)).first;
    column_.codes.push_back(found->second);
  }

  // Words that mean "missing" have a code as the others do, so that a cell is one look-up.
  std::int32_t new_code(std::string_view word) {
    if (is_missing(trim(word))) return kMissingCode;
    column_.words.emplace_back(word);
    return static_cast<std::int32_t>(column_.words.size() - 1);
  }

  bool is_missing(float number) const {
    const auto& list = missing_numbers_;
    return std::find(list.begin(), list.end(), number) != list.end();
  }

  bool is_missing(std::string_view text) const {
    const auto& list = column_.missing;
    return is_usual_missing(text) || std::find(list.begin(), list.end(), text) != list.end();
  }

  Column column_;
  Role role_ = Role::done;
  bool is_wanted_ = false;
  bool type_is_given_ = false;
  std::vector<float> missing_numbers_;
  std::unordered_map<std::string, std::int32_t, WordHash, std::equal_to<>> codes_;
};

}  // namespace espalier
