// SPDX-License-Identifier: Apache-2.0
// From trees that split on bins to trees that split on features. A split between two bins of a
// number gets a threshold between the values that training rows have in them. A category that no
// training row had goes where most rows go.
#pragma once

#include "boost/forest.h"
#include "model/forest.h"

namespace espalier {

/// The features of the schema are those of the dataset on which the forest was grown.
DecisionForest decision_forest(const Forest& forest, const Schema& schema);

}  // namespace espalier
