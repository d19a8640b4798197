// SPDX-License-Identifier: Apache-2.0
// k-fold cross-validation: each row is judged once, by a model that has not seen it.
#pragma once

#include <vector>

#include "core/random.h"
#include "espalier/schema.h"
#include "espalier/table.h"

namespace espalier {

struct Fold {
  Table train;
  Table valid;
};

/// Folds of the labelled rows, with about the same labels in each. Throws Error (argument) if there
/// are more folds than rows.
std::vector<Fold> make_folds(const Table& table, const Label& label, int count, Random random);

}  // namespace espalier
