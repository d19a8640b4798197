// SPDX-License-Identifier: Apache-2.0
// What a pair of columns does: the score over the grid of its bins where every other column is
// typical, and how far that is from a sum of one curve for each column.
#pragma once

#include <string>
#include <vector>

#include "espalier/predictor.h"
#include "espalier/schema.h"

namespace espalier {

struct Surface {
  /// One cell for each bin, as a table has it: a number in the middle of the bin, or a word; of a
  /// missing cell empty. Of a pair with a monotone column one for each vertex.
  std::vector<std::string> first;
  std::vector<std::string> second;
  std::vector<float> scores;  // [bins of first][bins of second], the first of several
  /// The deviation, over the training weight, of the score from the nearest sum of both columns;
  /// over the vertices alike where a column is monotone.
  double strength = 0;
};

Surface surface_of(const Predictor& predictor, const Pair& pair);

}  // namespace espalier
