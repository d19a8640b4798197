// SPDX-License-Identifier: Apache-2.0
// The files of the page as text; CMake makes it, so that markup, style and scripts are files that
// browsers, editors and people read.
#pragma once

#include <span>
#include <string_view>

namespace espalier {

extern const std::string_view kPageMarkup;  // page.html, with {{names}} for what is filled in
extern const std::string_view kPageStyle;   // page.css
extern const std::span<const std::string_view> kPageScripts;  // the .js files, in order
extern const std::string_view
    kPageStyleHash;  // SHA-256 of style and scripts, as hexadecimal digits
extern const std::string_view kPageScriptHash;

}  // namespace espalier
