// SPDX-License-Identifier: Apache-2.0
// From names and words of a table, which may be anything, to C++: identifiers, string literals and
// comments that nothing can leave.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// An identifier for a name. Letters, digits and single underscores stay; what is no letter of
/// ASCII becomes u and its code point; any other character parts two pieces, which are joined by an
/// underscore. A name without small letters gets them, since capitals are for macros; one that
/// begins with a digit or has nothing left gets an x in front; a keyword or a known macro an
/// underscore behind.
///
///   "age (years)"  age_years      "Größe"  Gr_u00f6_u00df_e      "class"  class_
///   "AGE"          age            "2nd"    x2nd                  ""       x
std::string identifier_of(std::string_view name);

/// Whether a text can be the name of a namespace, as it stands.
bool is_plain_identifier(std::string_view text);

/// A literal with the same bytes, in ASCII, quotes included.
std::string literal_of(std::string_view text);

/// The text in quotes for a comment of one line. What could end a comment or deceive its reader
/// (control characters, backslashes, stars, question marks, marks that turn the direction of
/// writing) is written as <U+005C>.
std::string comment_of(std::string_view text);

/// Identifiers of one scope. A second use of the same one gets _2 behind, a third _3.
class Scope {
 public:
  explicit Scope(std::set<std::string> taken = {}) : taken_(std::move(taken)) {}

  /// An identifier for a name that is free also with each of these endings; all are then taken.
  std::string take(std::string_view name, const std::vector<std::string>& endings = {});

 private:
  std::set<std::string> taken_;
};

}  // namespace espalier
