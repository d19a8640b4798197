// SPDX-License-Identifier: Apache-2.0
// What every explanation asks of its options. All throw Error (argument).
#pragma once

#include <cstddef>

namespace espalier {

class Model;

void check_range(const char* option, int value, int least, int most);
void check_game(int exact_columns, int permutations);

/// One cell for each feature.
void check_baseline(const Model& model, std::size_t cells);

}  // namespace espalier
