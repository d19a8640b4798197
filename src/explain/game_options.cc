// SPDX-License-Identifier: Apache-2.0
#include "explain/game_options.h"

#include <fmt/format.h>

#include "espalier/error.h"
#include "espalier/model.h"

namespace espalier {

void check_range(const char* option, int value, int least, int most) {
  if (value >= least && value <= most) return;
  throw Error(ErrorKind::argument, fmt::format("{}: {} is not a whole number from {} to {}", option,
                                               value, least, most));
}

void check_game(int exact_columns, int permutations) {
  constexpr int kMaxExact = 20, kLeastOrders = 4, kMaxOrders = 1'000'000;
  check_range("exact_columns", exact_columns, 0, kMaxExact);
  if (permutations != 0) check_range("permutations", permutations, kLeastOrders, kMaxOrders);
}

void check_baseline(const Model& model, std::size_t cells) {
  const std::size_t features = model.schema().features.size();
  if (cells == features) return;
  throw Error(ErrorKind::argument, fmt::format("baseline: {} cells; wanted one for each of {} "
                                               "features",
                                               cells, features));
}

}  // namespace espalier
