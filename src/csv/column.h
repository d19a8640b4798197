// SPDX-License-Identifier: Apache-2.0
// One column while a file is read. Reading takes one or more passes over the text. Each pass runs
// on several threads; each thread reads chunks of rows and has its own categories.
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

// The data of one chunk for a column, besides the values. Codes index the categories of the chunk.
// Texts that mean "missing" have codes too, so that each value needs one lookup only.
struct ColumnPart {
  CategoryIndex categories;
  bool met_text = false;     // a numeric column has text, which ends the pass
  bool was_rounded = false;  // a number is not exactly a float
};

// The rows that a chunk has read.
struct FilledRows {
  std::size_t first;
  std::size_t count;
};

class ColumnReader {
 public:
  explicit ColumnReader(std::string name) { column_.name = std::move(name); }

  // Reads the column into the table; other columns are skipped. A null `type` is inferred.
  // `missing` are values that mean "missing" in addition to the defaults; `not_missing` are values
  // that do not, and take precedence.
  void want(const ColumnType* type, std::vector<std::string> missing,
            std::vector<std::string> not_missing);

  // Keeps the text of a numeric column too.
  void keep_text() { keeps_text_ = true; }

  // Allocates the values of an unfinished column before a pass.
  void make_room(std::size_t num_rows);

  // Whether the column needs only the number of a field.
  bool wants_numbers() const { return role_ == Role::number && !keeps_text_; }

  // Sets a value of a numeric column.
  void set_number(std::size_t row, Number number, ColumnPart& part) {
    if (is_missing(number.exact)) number = {kMissing, kMissing};
    column_.numbers[row] = number.rounded;
    part.was_rounded |= number.was_rounded();
    if (keeps_exact_) column_.exact[row] = number.exact;
  }

  // Reads a field. Returns false for text in a column that must be numeric.
  bool set(std::size_t row, const Cell& cell, ColumnPart& part) {
    if (role_ == Role::number) return set_number_or_missing(row, cell, part);
    if (role_ == Role::category) set_word(row, cell, part);
    return true;
  }

  // Called after a pass over the first rows: decides what the next pass reads.
  void guess(std::size_t num_rows, const ColumnPart& part);

  // Called after a pass over all rows: merges the categories of the chunks into common codes.
  // Returns false if the column needs another pass: as a categorical column, or with doubles if
  // floats blur its numbers. `rows` and `parts` are those of the chunks, in order.
  bool finish(const std::vector<FilledRows>& rows, const std::vector<ColumnPart*>& parts);

  bool is_finished() const { return role_ == Role::done; }
  bool is_wanted() const { return is_wanted_; }
  const std::string& name() const { return column_.name; }
  Column take() { return std::move(column_); }

 private:
  // What a pass does with the column.
  enum class Role {
    done,  // skips it
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
  bool keeps_text_ = false;   // as codes, in addition to numbers
  bool keeps_exact_ = false;  // as doubles, in addition to numbers
  std::vector<double> missing_numbers_;
};

}  // namespace espalier
