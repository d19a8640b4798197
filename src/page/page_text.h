// SPDX-License-Identifier: Apache-2.0
// The files of the page as text. CMake generates the definitions, so that markup, style and scripts
// are ordinary files.
#pragma once

#include <span>
#include <string_view>

namespace espalier {

extern const std::string_view kPageMarkup;  // page.html, with {{names}} as placeholders
extern const std::string_view kPageStyle;   // page.css
extern const std::span<const std::string_view> kPageScripts;  // the .js files, in order
extern const std::string_view
    kPageStyleHash;  // SHA-256 of style and scripts, as hexadecimal digits
extern const std::string_view kPageScriptHash;

}  // namespace espalier
