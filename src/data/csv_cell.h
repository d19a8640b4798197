// SPDX-License-Identifier: Apache-2.0
// What a cell of text means: a number, a missing value or a word.
#pragma once

#include <string>
#include <string_view>

namespace espalier {

// Without the spaces and tabs around it.
std::string_view trim(std::string_view text);

// Sets `value` to the float nearest to a decimal number such as 7, -.5, +1e5 or inf (any case, also
// infinity); false if the text is anything else. Beyond the range of float it is an infinity or
// zero. The text must be trimmed.
bool parse_number(std::string_view text, float& value);

// Whether a trimmed cell is empty, ?, or in any case NA, N/A, NaN or null.
bool is_usual_missing(std::string_view text);

// A cell for messages: at most about 40 characters, control characters escaped.
std::string printable(std::string_view text);

}  // namespace espalier
