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

#include "csv/category_index.h"
#include "csv/scanner.h"
#include "espalier/table.h"

namespace espalier {

// What a chunk has of a column, besides the cells. The codes of its cells index its words, also
// those that mean "missing", so that a cell is one look-up.
struct ColumnPart {
  CategoryIndex categories;
  bool met_text = false;     // in a number column, where it ends the reading
  bool was_rounded = false;  // a number that is not a float
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
  // decide. `missing` are the words that mean so beyond the usual ones, `not_missing` those that do
  // not whatever else says so.
  void want(const ColumnType* type, std::vector<std::string> missing,
            std::vector<std::string> not_missing);

  // Keeps the text of a number column too.
  void keep_text() { keeps_text_ = true; }

  // Before a walk: room for the cells of an unfinished column.
  void make_room(std::size_t num_rows);

  // Whether a number is all there is to a cell.
  bool wants_numbers() const { return role_ == Role::number && !keeps_text_; }

  // Sets a cell of a number column.
  void set_number(std::size_t row, Number number, ColumnPart& part) {
    if (is_missing(number.exact)) number = {kMissing, kMissing};
    column_.numbers[row] = number.rounded;
    part.was_rounded |= number.was_rounded();
    if (keeps_exact_) column_.exact[row] = number.exact;
  }

  // Reads a cell; false if it is a word where only a number will do.
  bool set(std::size_t row, const Cell& cell, ColumnPart& part) {
    if (role_ == Role::number) return set_number_or_missing(row, cell, part);
    if (role_ == Role::category) set_word(row, cell, part);
    return true;
  }

  // After a walk over some rows from the first on: what the next walk had better read.
  void guess(std::size_t num_rows, const ColumnPart& part);

  // After a walk over all rows: puts those of the chunks behind each other and gives their words
  // common codes. False if the column needs another walk: as categories if it has words, with
  // doubles if floats blur its numbers. `rows` and `parts` are those of the chunks, in order.
  bool finish(const std::vector<FilledRows>& rows, const std::vector<ColumnPart*>& parts);

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

  bool has_categories() const { return role_ == Role::category || keeps_text_; }
  void set_word(std::size_t row, const Cell& cell, ColumnPart& part) {
    column_.codes[row] = part.categories.index_of(cell.text);
  }
  bool set_number_or_missing(std::size_t row, const Cell& cell, ColumnPart& part);
  bool finish_numbers(const std::vector<FilledRows>& rows, const std::vector<ColumnPart*>& parts);
  void finish_words(const std::vector<FilledRows>& rows, const std::vector<ColumnPart*>& parts);

  bool is_missing(double number) const {
    const auto& list = missing_numbers_;
    return std::find(list.begin(), list.end(), number) != list.end();
  }
  bool is_missing(std::string_view text) const;
  bool is_not_missing(std::string_view text) const;

  Column column_;
  Role role_ = Role::done;
  bool is_wanted_ = false;
  bool type_is_given_ = false;
  bool keeps_text_ = false;   // in `codes`, besides numbers
  bool keeps_exact_ = false;  // in `exact`, besides numbers
  std::vector<double> missing_numbers_;
};

}  // namespace espalier
