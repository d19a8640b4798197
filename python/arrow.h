// SPDX-License-Identifier: Apache-2.0
// Tables through the Arrow C stream interface: what polars, pyarrow, DuckDB and others hand over by
// __arrow_c_stream__. The structs are those of the specification, so that no Arrow is linked.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "espalier/column_types.h"
#include "espalier/table.h"

extern "C" {

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

}  // extern "C"

namespace espalier {

/// A table and what keeps the memory alive that its columns borrow.
struct BorrowingTable {
  Table table;
  std::vector<std::shared_ptr<void>> owners;
  std::map<std::string, std::vector<std::string>> orders;       ///< of ordered columns, low to high
  std::map<std::string, std::vector<std::string>> missing;      ///< by column, see CsvOptions
  std::map<std::string, std::vector<std::string>> not_missing;  ///< the same

  /// A column without cells, with its words for missing.
  Column new_column(const std::string& name) const {
    const auto categories_of = [&](const auto& words) {
      const auto found = words.find(name);
      return found == words.end() ? std::vector<std::string>() : found->second;
    };
    Column column{.name = name};
    column.missing = categories_of(missing);
    column.not_missing = categories_of(not_missing);
    return column;
  }
};

/// The numbers that mean "missing" in a column, as numbers of type T.
template <class T>
class MissingNumbers {
 public:
  explicit MissingNumbers(const Column& column) {
    for (const double number : missing_numbers(column.missing))
      numbers_.push_back(static_cast<T>(number));
  }
  bool empty() const { return numbers_.empty(); }
  bool contains(T value) const { return std::ranges::find(numbers_, value) != numbers_.end(); }

 private:
  std::vector<T> numbers_;
};

/// Reads all batches of a stream into the columns of a table. Numbers and booleans become number
/// columns, strings and dictionaries category columns; so do the numbers for which
/// is_category(name, index) holds. A float32 column in one piece without nulls is borrowed. Throws
/// Error (data) for any other type.
void read_arrow(ArrowArrayStream& stream,
                const std::function<bool(const std::string&, std::size_t)>& is_category,
                BorrowingTable& into);

}  // namespace espalier
