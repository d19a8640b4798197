// SPDX-License-Identifier: Apache-2.0
// The steps of a member as C++: calls of runtime.h, on two arrays that take turns.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "export/numbers.h"
#include "serve/program.h"

namespace espalier {

struct MemberText {
  std::string text;             // its tables of structs and the function member_M(encoded, sums)
  std::size_t stack_bytes = 0;  // of the two arrays
};

MemberText print_member(std::size_t member, const std::vector<Step>& steps, float weight,
                        Numbers& numbers);

}  // namespace espalier
