// SPDX-License-Identifier: Apache-2.0
// One column of a file while its cells are read, walk by walk over the text. A walk is done by
// chunks of rows, on several threads: each writes to rows of its own and keeps words of its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/csv_scanner.h"
#include "data/word_index.h"
#include "espalier/table.h"

namespace espalier {

// What a chunk has of a column, besides the cells. The codes of its cells index its words, also
// those that mean "missing", so that a cell is one look-up.
struct ColumnPart {
  WordIndex words;
  bool met_word = false;  // in a number column, where it ends the reading
};

// The rows that a chunk has filled.
struct FilledRows {
  std::size_t first;
  std::size_t count;
};

class ColumnReader {
 public:
  explicit ColumnReader(std::string name) { column_.name = std::move(name); }

  // Takes the column into the table; else its cells are passed over. `type` is null where the cells
  // decide. `missing` are the words that mean so beyond the usual ones.
  void want(const ColumnType* type, std::vector<std::string> missing);

  // Before a walk: room for the cells of an unfinished column.
  void make_room(std::size_t num_rows);

  bool wants_numbers() const { return role_ == Role::number; }

  // Sets a cell of a column that wants numbers.
  void set_number(std::size_t row, float number) {
    column_.numbers[row] = is_missing(number) ? kMissing : number;
  }

  // Reads a cell; false if it is a word where only a number will do.
  bool set(std::size_t row, const Cell& cell, ColumnPart& part) {
    if (role_ == Role::number) return set_number_or_missing(row, cell, part);
    if (role_ == Role::category) column_.codes[row] = part.words.index_of(cell.text);
    return true;
  }

  // After a walk: a column with words is one of categories, which the next walk reads.
  void turn() { role_ = Role::category; }

  // After a walk that has read all of the column: puts the rows of the chunks behind each other and
  // gives their words common codes. `rows` and `parts` are those of the chunks, in order.
  void finish(const std::vector<FilledRows>& rows, const std::vector<ColumnPart*>& parts);

  bool is_finished() const { return role_ == Role::done; }
  bool is_wanted() const { return is_wanted_; }
  const std::string& name() const { return column_.name; }
  Column take() { return std::move(column_); }

 private:
  // What a walk does with the column.
  enum class Role {
    done,  // passes it over
    number,
    category,
  };

  static constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

  bool set_number_or_missing(std::size_t row, const Cell& cell, ColumnPart& part);
  void finish_words(const std::vector<FilledRows>& rows, const std::vector<ColumnPart*>& parts);

  bool is_missing(float number) const {
    const auto& list = missing_numbers_;
    return std::find(list.begin(), list.end(), number) != list.end();
  }
  bool is_missing(std::string_view text) const;

  Column column_;
  Role role_ = Role::done;
  bool is_wanted_ = false;
  bool type_is_given_ = false;
  std::vector<float> missing_numbers_;
};

}  // namespace espalier
