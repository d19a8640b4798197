// SPDX-License-Identifier: Apache-2.0
// One setting that a search draws, a field of TrainOptions or of Shape, and what it is drawn from:
//
//   learning_rate=0.003:0.1       evenly between two numbers
//   learning_rate=0.003:0.1:log   evenly in its logarithm
//   keypoints=distinct:quantile   one of some words
//
// A colon within brackets separates nothing: architecture=dln:cal(9,0:1) lin(1).
#pragma once

#include <string>
#include <vector>

#include "core/random.h"
#include "espalier/fields.h"
#include "espalier/json.h"

namespace espalier {

/// A setting that can be searched.
struct Searchable {
  Field field;
  bool is_number;
  bool whole;
  std::vector<std::string> words;  // those there are but `automatic`; empty: any
};

/// Throws Error (argument) about what is to be searched.
[[noreturn]] void fail_search(const std::string& message);

/// Throws Error (argument) that names the nearest one.
const Searchable& find_searchable(const std::string& name);

/// A setting and what it is drawn from.
struct Dimension {
  std::string name;
  double low = 0, high = 0;
  bool logarithmic = false;
  bool whole = false;
  std::vector<std::string> words = {};  // instead of numbers
  bool always = false;                  // else only now and then: the other trials keep the base
};

/// Reads the grammar above. Throws Error (argument) that names what is wrong with the setting, its
/// range or its words.
Dimension parse_dimension(const std::string& text);
std::string to_string(const Dimension& dimension);

/// As JSON, whole where the setting is.
Json number_of(const Dimension& dimension, double value);
Json draw_from(const Dimension& dimension, Random& random);

/// Three digits say as much as a draw can mean.
double few_digits(double value);

}  // namespace espalier
