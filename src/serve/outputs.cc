// SPDX-License-Identifier: Apache-2.0
#include "espalier/outputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/default_floats.h"

namespace espalier {

namespace {

// The numbers of a label with several, row after row.
class Numbers {
 public:
  Numbers(const Label& label, std::span<const float> numbers)
      : width_(label.num_scores()), numbers_(numbers) {}

  std::size_t num_rows() const { return numbers_.size() / width_; }
  std::span<const float> operator[](std::size_t row) const {
    return numbers_.subspan(row * width_, width_);
  }

 private:
  std::size_t width_;
  std::span<const float> numbers_;
};

template <class Value>
Column number_column(std::string name, const Numbers& rows, const Value& value_of) {
  Column column{.name = std::move(name)};
  for (std::size_t r = 0; r < rows.num_rows(); ++r)
    column.numbers.push_back(static_cast<float>(value_of(rows[r])));
  return column;
}

template <class Code>
Column word_column(std::string name, const std::vector<std::string>& words, const Numbers& rows,
                   const Code& code_of) {
  Column column{.name = std::move(name), .type = ColumnType::category, .categories = words};
  for (std::size_t r = 0; r < rows.num_rows(); ++r)
    column.codes.push_back(static_cast<std::int32_t>(code_of(rows[r])));
  return column;
}

double probability_of_grade(std::span<const float> reached, std::size_t grade) {
  const double at_least = grade > 0 ? reached[grade - 1] : 1;
  return at_least - (grade < reached.size() ? reached[grade] : 0);
}

}  // namespace

std::size_t predicted_class(const Label& label, std::span<const float> predictions) {
  if (label.ordered) {
    return static_cast<std::size_t>(
        std::ranges::count_if(predictions, [](float p) { return p >= 0.5f; }));
  }
  return static_cast<std::size_t>(std::ranges::max_element(predictions) - predictions.begin());
}

// In the order of the levels, so that it never falls when they rise.
double expected_grade(std::span<const float> reached) {
  const DefaultFloats floats;
  double sum = 1;
  for (const float probability : reached) sum += probability;
  return sum;
}

std::vector<std::string> level_names(const Label& label) {
  return label.num_levels() > 1 ? output_names(label) : std::vector<std::string>();
}

std::vector<std::string> output_names(const Label& label, Output output) {
  if (label.num_scores() == 1) return {output == Output::score ? "score" : "prediction"};
  std::vector<std::string> names;
  for (std::size_t s = 0; s < label.num_scores(); ++s) {
    std::string name = label.ordered              ? "ge_" + label.classes[s + 1]
                       : label.has_many_classes() ? "p_" + label.classes[s]
                                                  : fmt::format("q{}", label.quantiles[s]);
    names.push_back(output == Output::score ? "score_" + name : std::move(name));
  }
  return names;
}

Table output_table(const Label& label, std::span<const float> numbers, Output output) {
  const DefaultFloats floats;
  const Numbers rows(label, numbers);
  Table table;
  table.num_rows = rows.num_rows();
  const bool grades = label.ordered && output == Output::prediction;
  if (grades || (label.has_many_classes() && output == Output::prediction)) {
    table.columns.push_back(word_column(grades ? "grade" : "class", label.classes, rows,
                                        [&](auto row) { return predicted_class(label, row); }));
  }
  if (grades) table.columns.push_back(number_column("expected", rows, expected_grade));
  const std::vector<std::string> names = output_names(label, output);
  for (std::size_t s = 0; s < names.size(); ++s)
    table.columns.push_back(number_column(names[s], rows, [s](auto row) { return row[s]; }));
  for (std::size_t grade = 0; grades && grade < label.classes.size(); ++grade) {
    table.columns.push_back(number_column("p_" + label.classes[grade], rows, [grade](auto reached) {
      return probability_of_grade(reached, grade);
    }));
  }
  return table;
}

}  // namespace espalier
