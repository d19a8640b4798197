// SPDX-License-Identifier: Apache-2.0
#include "tables.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "arrow.h"
#include "espalier/csv.h"
#include "espalier/disk_table.h"
#include "espalier/error.h"
#include "espalier/simulate.h"
#include "numpy.h"
#include "words.h"

namespace nb = nanobind;

namespace espalier {
namespace {

using Codes = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::device::cpu, nb::c_contig>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;

// Keeps a Python object alive from code that does not hold the GIL.
std::shared_ptr<void> keep(nb::object object) {
  return std::shared_ptr<void>(object.release().ptr(), [](void* p) {
    const nb::gil_scoped_acquire gil;
    Py_DECREF(static_cast<PyObject*>(p));
  });
}

void require_rows(const std::string& name, std::size_t rows, Table& table) {
  if (table.columns.empty()) table.num_rows = rows;
  if (table.num_rows == rows) return;
  throw Error(ErrorKind::data, table.name + ": column '" + name + "' has " + std::to_string(rows) +
                                   " rows, the others have " + std::to_string(table.num_rows));
}

// `codes` index `words`; negative ones are missing. Words that no row has are left out, equal ones
// become one.
void add_words(BorrowingTable& to, const std::string& name, const std::vector<std::string>& words,
               const Codes& codes) {
  require_rows(name, codes.shape(0), to.table);
  Column column = to.new_column(name);
  column.type = ColumnType::category;
  constexpr std::int32_t kUnknown = -2;
  std::vector<std::int32_t> known(words.size(), kUnknown);
  std::unordered_map<std::string, std::int32_t> index;
  column.codes.reserve(codes.shape(0));
  for (std::size_t i = 0; i < codes.shape(0); ++i) {
    const std::int32_t from = codes(i);
    std::int32_t code = kMissingCode;
    if (from >= 0) {
      std::int32_t& place = known.at(static_cast<std::size_t>(from));
      const std::string& word = words[static_cast<std::size_t>(from)];
      if (place == kUnknown && means_missing(word, column.missing, column.not_missing))
        place = kMissingCode;
      if (place == kUnknown) {
        const auto next = static_cast<std::int32_t>(column.categories.size());
        const auto [found, is_new] = index.try_emplace(word, next);
        if (is_new) column.categories.push_back(word);
        place = found->second;
      }
      code = place;
    }
    column.codes.push_back(code);
  }
  to.table.columns.push_back(std::move(column));
}

// The column that a matrix of doubles has as floats; as doubles too where those blur it.
void keep_exact(const Matrix<double>& x, std::size_t from, Column& column) {
  bool was_rounded = false;
  for (std::size_t r = 0; r < x.shape(0) && !was_rounded; ++r) {
    const double exact = x(r, from), rounded = column.numbers[r];
    was_rounded = exact < rounded || exact > rounded;
  }
  if (!was_rounded || !floats_blur(column.numbers)) return;
  for (std::size_t r = 0; r < x.shape(0); ++r)
    column.exact.push_back(std::isnan(column.numbers[r]) ? NAN : x(r, from));
}

// Sets the cells that mean missing by their number.
template <class T>
void drop_missing(const Matrix<T>& x, std::size_t from, Column& column) {
  const MissingNumbers<T> missing(column);
  for (std::size_t r = 0; r < x.shape(0) && !missing.empty(); ++r) {
    if (missing.contains(x(r, from))) column.numbers[r] = NAN;
  }
}

// One column per column of the matrix: borrowed where it is float32 in one piece, else copied in
// blocks of rows that stay in cache.
template <class T>
void add_matrix(BorrowingTable& to, const std::vector<std::string>& names, const Matrix<T>& x) {
  constexpr std::size_t kBlock = 64;
  const std::size_t rows = x.shape(0), first = to.table.columns.size();
  for (const std::string& name : names) {
    require_rows(name, rows, to.table);
    to.table.columns.push_back(to.new_column(name));
  }
  const auto is_whole = [](const Column& column) { return MissingNumbers<T>(column).empty(); };
  if constexpr (std::is_same_v<T, float>) {
    if (x.stride(0) == 1 &&
        std::ranges::all_of(std::span(to.table.columns).subspan(first), is_whole)) {
      for (std::size_t c = 0; c < names.size(); ++c)
        to.table.columns[first + c].borrowed = {&x(0, c), rows};
      to.owners.push_back(keep(nb::cast(x)));
      return;
    }
  }
  const nb::gil_scoped_release unlocked;
  for (std::size_t c = 0; c < names.size(); ++c) to.table.columns[first + c].numbers.resize(rows);
  for (std::size_t begin = 0; begin < rows; begin += kBlock) {
    const std::size_t end = std::min(rows, begin + kBlock);
    for (std::size_t c = 0; c < names.size(); ++c) {
      float* column = to.table.columns[first + c].numbers.data();
      for (std::size_t r = begin; r < end; ++r) column[r] = static_cast<float>(x(r, c));
    }
  }
  for (std::size_t c = 0; c < names.size(); ++c) drop_missing(x, c, to.table.columns[first + c]);
  if constexpr (std::is_same_v<T, double>) {
    for (std::size_t c = 0; c < names.size(); ++c) keep_exact(x, c, to.table.columns[first + c]);
  }
}

void add_arrow(BorrowingTable& to, nb::capsule stream,
               const std::function<bool(const std::string&, std::size_t)>& is_category) {
  if (stream.name() == nullptr || std::string_view(stream.name()) != "arrow_array_stream")
    throw nb::type_error("__arrow_c_stream__ gave no Arrow stream");
  read_arrow(*static_cast<ArrowArrayStream*>(stream.data()), is_category, to);
}

std::vector<std::string> names_of(const BorrowingTable& from) {
  std::vector<std::string> names;
  for (const Column& column : from.table.columns) names.push_back(column.name);
  return names;
}

void rename(BorrowingTable& table, const std::vector<std::string>& names) {
  std::vector<Column>& columns = table.table.columns;
  for (std::size_t c = 0; c < std::min(columns.size(), names.size()); ++c) {
    if (columns[c].name == names[c]) continue;
    if (auto order = table.orders.extract(columns[c].name)) {
      order.key() = names[c];
      table.orders.insert(std::move(order));
    }
    columns[c].name = names[c];
  }
}

// At most `count` rows, evenly spread; nothing of it is borrowed.
BorrowingTable thinned(const BorrowingTable& from, std::size_t count) {
  const Table& table = from.table;
  BorrowingTable result{.table = {.name = table.name}};
  result.table.num_rows = std::min(count, table.num_rows);
  for (const Column& column : table.columns) {
    Column thin{.name = column.name, .type = column.type, .categories = column.categories};
    for (std::size_t i = 0; i < result.table.num_rows; ++i) {
      const std::size_t row = i * table.num_rows / result.table.num_rows;
      if (column.type == ColumnType::number) {
        thin.numbers.push_back(column.values()[row]);
      } else {
        thin.codes.push_back(column.category_codes()[row]);
      }
    }
    result.table.columns.push_back(std::move(thin));
  }
  return result;
}

Column& column_of(BorrowingTable& from, const std::string& name) {
  for (Column& column : from.table.columns) {
    if (column.name == name) return column;
  }
  throw Error(ErrorKind::argument, from.table.name + ": there is no column '" + name + "'");
}

void drop(BorrowingTable& from, const std::string& name) {
  std::erase_if(from.table.columns, [&](const Column& column) { return column.name == name; });
}

bool has_missing(BorrowingTable& from, const std::string& name) {
  const Column& column = column_of(from, name);
  if (column.type == ColumnType::category)
    return std::ranges::count(column.category_codes(), kMissingCode) > 0;
  return std::ranges::any_of(column.values(), [](float value) { return std::isnan(value); });
}

// The distinct values of a column, sorted: words, or numbers, of which nothing if they are more
// than `limit`.
nb::object distinct(BorrowingTable& from, const std::string& name, std::size_t limit) {
  const Column& column = column_of(from, name);
  if (column.type == ColumnType::category) {
    std::vector<std::string> words = column.categories;
    std::ranges::sort(words);
    return nb::cast(words);
  }
  std::set<double> values;
  for (std::size_t row = 0; row < column.values().size() && values.size() <= limit; ++row) {
    if (const double value = column.number(row); !std::isnan(value)) values.insert(value);
  }
  if (values.size() > limit) return nb::none();
  return nb::cast(std::vector<double>(values.begin(), values.end()));
}

// Of the words that do not mean "missing" in a column only those that it has, sorted: a table of
// pieces did not know them before it was read.
void settle_not_missing(BorrowingTable& from, const std::string& name) {
  Column& column = column_of(from, name);
  const std::set<std::string> words(column.categories.begin(), column.categories.end());
  std::erase_if(column.not_missing, [&](const std::string& word) { return !words.contains(word); });
  std::ranges::sort(column.not_missing);
}

// A table on disk that an earlier fit kept, or None.
std::optional<BorrowingTable> find_table(const std::string& name, const nb::bytes& folder,
                                         const nb::bytes& source) {
  const std::string path(folder.c_str(), folder.size()), wanted(source.c_str(), source.size());
  const nb::gil_scoped_release unlocked;
  std::optional<Table> found = find_disk_table(name, path, wanted);
  if (!found) return std::nullopt;
  return BorrowingTable{.table = *std::move(found)};
}

void define_writer(nb::module_& m) {
  nb::class_<DiskTableWriter>(m, "TableWriter")
      .def("__init__",
           [](DiskTableWriter* self, std::string name, const nb::bytes& folder, bool keeps,
              const nb::bytes& source) {
             new (self) DiskTableWriter(std::move(name), {{folder.c_str(), folder.size()}, keeps},
                                        {source.c_str(), source.size()});
           })
      .def("add",
           [](DiskTableWriter& self, const BorrowingTable& piece) {
             const nb::gil_scoped_release unlocked;
             self.add(piece.table);
           })
      .def("finish", [](DiskTableWriter& self) {
        const nb::gil_scoped_release unlocked;
        return BorrowingTable{.table = self.finish()};
      });
  m.def("find_table", &find_table);
}

// The first column with an infinite number, or nothing.
std::optional<std::string> infinite_column(const BorrowingTable& from) {
  const nb::gil_scoped_release unlocked;
  for (const Column& column : from.table.columns) {
    for (const float value : column.values()) {
      if (std::isinf(value)) return column.name;
    }
  }
  return std::nullopt;
}

nb::dict to_dict(const Table& table) {
  nb::dict columns;
  for (const Column& column : table.columns) {
    if (column.type == ColumnType::number) {
      columns[column.name.c_str()] = to_numpy(column.numbers, {table.num_rows});
      continue;
    }
    nb::list cells;
    for (const std::int32_t code : column.codes) {
      if (code == kMissingCode) {
        cells.append(nb::none());
      } else {
        cells.append(column.categories[static_cast<std::size_t>(code)]);
      }
    }
    columns[column.name.c_str()] = cells;
  }
  return columns;
}

// What the value of a field is, in words.
template <class T>
std::string kind_of() {
  if constexpr (std::is_same_v<T, bool>) return "True or False";
  if constexpr (std::is_enum_v<T>) {
    std::string words;
    for (const std::string_view word : Words<T>::list)
      words += (words.empty() ? "one of " : ", ") + std::string(word);
    return words;
  }
  if constexpr (std::is_floating_point_v<T>) return "a number";
  return std::is_unsigned_v<T> ? "a whole number, 0 or more" : "a whole number";
}

template <class T>
void set_field(const Field& field, const nb::object& wanted, T& value) {
  if constexpr (std::is_enum_v<T>) {
    std::string word;
    const auto found = nb::try_cast(wanted, word) ? from_word<T>(word) : std::nullopt;
    if (found) {
      value = *found;
      return;
    }
  } else {
    if (nb::try_cast(wanted, value)) return;
  }
  throw Error(ErrorKind::argument, std::string("simulate: ") + field.name + ": " +
                                       nb::repr(wanted).c_str() + " is not " + kind_of<T>());
}

nb::dict simulate_loans(const nb::kwargs& wanted) {
  SimulateOptions options;
  std::set<std::string> unknown;
  for (const auto& [key, value] : wanted) unknown.insert(nb::cast<std::string>(key));
  std::string names;
  visit_fields(options, [&](const Field& field, auto& value) {
    if (unknown.erase(field.name) > 0) set_field(field, wanted[field.name], value);
    names += (names.empty() ? "" : ", ") + std::string(field.name);
  });
  if (!unknown.empty()) {
    throw nb::type_error(
        ("simulate: there is no option '" + *unknown.begin() + "'; the options are " + names)
            .c_str());
  }
  return to_dict(simulate(options));
}

// A Python number takes the first of these types that holds it.
template <class... Types>
void define_number_word(nb::module_& m) {
  (m.def("number_word", [](Types value) { return number_text(value); }), ...);
}

}  // namespace

void define_tables(nb::module_& m) {
  nb::class_<BorrowingTable>(m, "Table")
      .def("__init__",
           [](BorrowingTable* self, std::string name) {
             new (self) BorrowingTable{.table = {.name = std::move(name)}};
           })
      .def_prop_ro("num_rows", [](const BorrowingTable& self) { return self.table.num_rows; })
      .def_prop_rw("names", &names_of, &rename)
      .def_rw("orders", &BorrowingTable::orders)
      .def_rw("missing", &BorrowingTable::missing)
      .def_rw("not_missing", &BorrowingTable::not_missing)
      .def("read_as_numbers",
           [](BorrowingTable& self, const std::vector<std::string>& names) {
             for (const std::string& name : names) read_as_numbers(self.table, name);
           })
      .def("add_words", &add_words)
      .def("add_order",
           [](BorrowingTable& self, const std::string& column, std::vector<std::string> words) {
             self.orders[column] = std::move(words);
           })
      .def("add_matrix", &add_matrix<float>, nb::arg(), nb::arg().noconvert())
      .def("add_matrix", &add_matrix<double>, nb::arg(), nb::arg().noconvert())
      .def("add_arrow", &add_arrow)
      .def("thinned", &thinned)
      .def("drop", &drop)
      .def("has_missing", &has_missing)
      .def("distinct", &distinct)
      .def("settle_not_missing", &settle_not_missing)
      .def("infinite_column", &infinite_column);
  define_writer(m);
  m.def("means_missing", [](const std::string& cell) { return means_missing(cell); });
  m.def("means_missing", [](const std::string& cell, const std::vector<std::string>& missing,
                            const std::vector<std::string>& not_missing) {
    return means_missing(cell, missing, not_missing);
  });
  m.def("missing_numbers", &missing_numbers);
  m.def("simulate", &simulate_loans);
  define_number_word<bool, std::int64_t, std::uint64_t, double>(m);
}

}  // namespace espalier
