// SPDX-License-Identifier: Apache-2.0
// The words that settings are chosen from; what each does stands beside the setting in options.h.
#pragma once

#include <string_view>

#include "espalier/words.h"

namespace espalier {

enum class ClassWeight { none, balanced };
enum class MonotoneCalibrators { required, all };
enum class Keypoints { automatic, distinct, quantile, uniform };
enum class Initialization { automatic, data, paper };
enum class Schedule { automatic, averaged, cosine, constant };
enum class Projection { automatic, sweep, exact, admm };

template <>
struct Words<ClassWeight> {
  static constexpr std::string_view list[] = {"none", "balanced"};
};
template <>
struct Words<MonotoneCalibrators> {
  static constexpr std::string_view list[] = {"required", "all"};
};
template <>
struct Words<Keypoints> {
  static constexpr std::string_view list[] = {"auto", "distinct", "quantile", "uniform"};
};
template <>
struct Words<Initialization> {
  static constexpr std::string_view list[] = {"auto", "data", "paper"};
};
template <>
struct Words<Schedule> {
  static constexpr std::string_view list[] = {"auto", "averaged", "cosine", "constant"};
};
template <>
struct Words<Projection> {
  static constexpr std::string_view list[] = {"auto", "sweep", "exact", "admm"};
};

}  // namespace espalier
