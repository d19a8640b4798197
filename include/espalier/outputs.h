// SPDX-License-Identifier: Apache-2.0
// The names of the numbers of a prediction, and predictions as a table.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "espalier/model.h"
#include "espalier/table.h"

namespace espalier {

/// The names of the numbers that Model::predict returns per row: "prediction", "q0.1" for a
/// quantile, "ge_good" for at least a grade, "p_red" for a class. Names of scores begin with
/// "score".
std::vector<std::string> output_names(const Label& label, Output output = Output::prediction);

/// The names of the levels, which never cross; empty for a label without levels.
std::vector<std::string> level_names(const Label& label);

/// The most probable class of a row, or the largest grade whose probability of being reached is at
/// least 1/2. The grade is monotonic too.
std::size_t predicted_class(const Label& label, std::span<const float> predictions);

/// The expected grade, counted from 1: 1 plus the probabilities of reaching each higher grade.
double expected_grade(std::span<const float> reached);

/// The table that `espalier predict` prints: a column for each number. Predictions have more
/// columns. For grades, `grade` (the predicted_class) and `expected` (the expected_grade) come
/// first, and the probability of each single grade, such as `p_good`, comes last; the latter is not
/// monotonic. For classes, `class` (the predicted_class) comes first.
Table output_table(const Label& label, std::span<const float> numbers,
                   Output output = Output::prediction);

}  // namespace espalier
