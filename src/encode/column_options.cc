// SPDX-License-Identifier: Apache-2.0
#include "encode/column_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "core/text.h"
#include "csv/cell.h"
#include "encode/promises.h"
#include "encode/roles.h"
#include "espalier/csv.h"
#include "espalier/error.h"

namespace espalier {

namespace {

[[noreturn]] void fail_wish(std::string_view message) {
  throw Error(ErrorKind::argument, std::string(message));
}

// The column that an option names, which must be a possible feature.
const Column& require_feature(const std::string& name, std::string_view field, const Table& table,
                              const ColumnIndex& columns, const TrainOptions& options) {
  if (const Role role = role_of(name, options); role != Role::feature)
    fail_wish(fmt::format("{}: '{}' is the {}", field, printable(name), to_word(role)));
  if (const Column* column = columns.find(name)) return *column;
  const auto guess = nearest(name, table.columns, &Column::name);
  fail_wish(fmt::format("{}: {} has no column '{}'{}", field, table.name, printable(name),
                        guess ? fmt::format("; did you mean '{}'?", printable(*guess)) : ""));
}

using Promises = std::vector<Monotonicity>;

// "prime:income"; both class and column may contain colons.
struct ClassAndColumn {
  std::size_t of_class;
  std::string column;
};
ClassAndColumn read_class_and_column(const std::string& text, std::string_view field,
                                     const Table& table, const ColumnIndex& columns,
                                     const TrainOptions& options,
                                     const std::vector<std::string>& classes) {
  std::size_t colon = columns.find(text) == nullptr ? text.find(':') : text.npos;
  if (colon == text.npos) {
    require_feature(text, field, table, columns, options);
    fail_wish(fmt::format(
        "{0}: '{1}': the label '{2}' has {3} classes without an order, and none of them "
        "can say what is to rise; wanted a class before the column, '{4}:{1}', or an "
        "order of the classes (--grades '{4}<{5}<...')",
        field, printable(text), printable(options.label), classes.size(), printable(classes[0]),
        printable(classes[1])));
  }
  const std::size_t first = colon;
  for (; colon != text.npos; colon = text.find(':', colon + 1)) {
    const auto found = std::ranges::find(classes, text.substr(0, colon));
    if (found == classes.end()) continue;
    std::string column = text.substr(colon + 1);
    require_feature(column, field, table, columns, options);
    return {static_cast<std::size_t>(found - classes.begin()), std::move(column)};
  }
  const std::string category = text.substr(0, first);
  const auto guess = nearest<std::vector<std::string>, std::identity>(category, classes);
  fail_wish(fmt::format("{}: '{}': the label '{}' has no class '{}'{}", field, printable(text),
                        printable(options.label), printable(category),
                        guess ? fmt::format("; did you mean '{}'?", printable(*guess)) : ""));
}

Promises turned(Promises promises) {
  for (Monotonicity& promise : promises) promise = opposite(promise);
  return promises;
}

}  // namespace

std::vector<std::string> split_order(std::string_view text) {
  std::vector<std::string> categories;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('<', begin), text.size());
    categories.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return categories;
}

bool are_distinct(const std::vector<std::string>& categories) {
  std::set<std::string_view> distinct;
  for (const std::string& category : categories) distinct.insert(shortest_plain(category));
  return distinct.size() == categories.size() && !distinct.contains("");
}

Directions read_directions(const Table& table, const ColumnIndex& columns,
                           const TrainOptions& options) {
  Directions directions;
  const auto add = [&](const std::vector<std::string>& names, Monotonicity direction) {
    for (const std::string& name : names) {
      require_feature(name, to_word(direction), table, columns, options);
      if (directions.emplace(name, direction).first->second != direction)
        fail_wish(fmt::format("'{}' is both increasing and decreasing", printable(name)));
    }
  };
  add(options.increasing, Monotonicity::increasing);
  add(options.decreasing, Monotonicity::decreasing);
  return directions;
}

ClassDirections read_class_directions(const Table& table, const ColumnIndex& columns,
                                      const TrainOptions& options,
                                      const std::vector<std::string>& classes) {
  std::map<std::string, Promises> wanted;  // by column
  const auto add = [&](const std::vector<std::string>& texts, Monotonicity direction) {
    for (const std::string& text : texts) {
      const ClassAndColumn named =
          read_class_and_column(text, to_word(direction), table, columns, options, classes);
      Promises& own = wanted[named.column];
      own.resize(classes.size());
      if (own[named.of_class] == opposite(direction))
        fail_wish(fmt::format("'{}' is both increasing and decreasing", printable(text)));
      own[named.of_class] = direction;
    }
  };
  add(options.increasing, Monotonicity::increasing);
  add(options.decreasing, Monotonicity::decreasing);
  ClassDirections found;
  for (auto& [column, own] : wanted) {
    if (const std::string why = contradiction(classes, own); !why.empty())
      fail_wish(fmt::format("directions of '{}': {}", printable(column), why));
    const bool falls = *std::ranges::find_if(own, [](Monotonicity promise) {
      return promise != Monotonicity::none;
    }) == Monotonicity::decreasing;
    if (falls) own = turned(own);
    if (found.promises.empty()) found.promises = own;
    if (own != found.promises) {
      fail_wish(
          fmt::format("'{}' and '{}' have directions of different classes; wanted all columns with "
                      "directions of the same classes, as they are or all turned round",
                      printable(wanted.begin()->first), printable(column)));
    }
    found.columns[column] = falls ? Monotonicity::decreasing : Monotonicity::increasing;
  }
  return found;
}

// "size=S<M<L"
Orders read_orders(const Table& table, const ColumnIndex& columns, const TrainOptions& options) {
  Orders orders;
  for (const std::string& text : options.order) {
    const std::size_t equals = text.find('=');
    if (equals == text.npos)
      fail_wish(fmt::format("order: '{}': wanted column=low<...<high", printable(text)));
    const std::string name = text.substr(0, equals);
    const Column& column = require_feature(name, "order", table, columns, options);
    std::vector<std::string> categories = split_order(std::string_view(text).substr(equals + 1));
    if (categories.size() < 2 || !are_distinct(categories)) {
      fail_wish(fmt::format("order: '{}': wanted two or more different words, low<...<high",
                            printable(text)));
    }
    for (const std::string& category : categories) {
      if (!means_missing(category, column.missing, column.not_missing)) continue;
      fail_wish(fmt::format(
          "order: '{0}': '{1}' means a missing cell, which has no place in an order; "
          "if it is a word of this column, say so: --not-missing '{0}={1}' (not_missing in "
          "C++ and Python)",
          printable(name), printable(category)));
    }
    if (!orders.emplace(name, std::move(categories)).second)
      fail_wish(fmt::format("order: '{}' is given twice", printable(name)));
  }
  return orders;
}

}  // namespace espalier
