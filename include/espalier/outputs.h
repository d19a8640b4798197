// SPDX-License-Identifier: Apache-2.0
// What the numbers of a prediction are called, and the table that users read.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "espalier/model.h"
#include "espalier/table.h"

namespace espalier {

/// The names of the numbers that Model::predict gives for each row: "prediction", or "q0.1" for a
/// quantile, "ge_good" for reaching a grade, "p_red" for a class. Those of scores begin with
/// "score".
std::vector<std::string> output_names(const Label& label, Output output = Output::prediction);

/// The names of the levels, which never cross; empty for a label without levels.
std::vector<std::string> level_names(const Label& label);

/// Of the predictions of a row: the most probable class, or the largest grade that is reached with
/// probability 1/2, which never falls.
std::size_t predicted_class(const Label& label, std::span<const float> predictions);

/// Of grades: 1 for the lowest one plus the probabilities of reaching each of the others.
double expected_grade(std::span<const float> reached);

/// What `espalier predict` prints of the numbers of some rows: a column for each of them. Before
/// them, predictions have: of grades `grade`, the predicted_class, and `expected`, the
/// expected_grade; of classes `class`, the predicted one. Behind them, of grades, `p_good`: the
/// probability of each grade alone, which is not promised to rise or fall with anything.
Table output_table(const Label& label, std::span<const float> numbers,
                   Output output = Output::prediction);

}  // namespace espalier
