// SPDX-License-Identifier: Apache-2.0
#include "encode/promises.h"

#include <fmt/format.h>

#include <algorithm>

#include "csv/cell.h"

namespace espalier {

namespace {

// The classes with a direction: "'a', 'b'".
std::string named(const std::vector<std::string>& classes,
                  const std::vector<Monotonicity>& promises, Monotonicity direction) {
  std::string text;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    if (promises[c] != direction) continue;
    text += fmt::format("{}'{}'", text.empty() ? "" : ", ", printable(classes[c]));
  }
  return text;
}

}  // namespace

Monotonicity promise_of(const Schema& schema, std::size_t score, const Feature& feature) {
  const std::vector<Monotonicity>& promises = schema.label.promises;
  if (promises.empty() || feature.monotonicity == Monotonicity::none) return feature.monotonicity;
  return feature.monotonicity == Monotonicity::increasing ? promises[score]
                                                          : opposite(promises[score]);
}

std::vector<std::string> promises_of(const Schema& schema, Monotonicity direction) {
  std::vector<std::string> names;
  const bool of_classes = !schema.label.promises.empty();
  for (const Feature& feature : schema.features) {
    for (std::size_t c = 0; c < (of_classes ? schema.label.classes.size() : 1); ++c) {
      if (promise_of(schema, c, feature) != direction) continue;
      names.push_back(of_classes ? schema.label.classes[c] + ":" + feature.name : feature.name);
    }
  }
  return names;
}

std::string contradiction(const std::vector<std::string>& classes,
                          const std::vector<Monotonicity>& promises) {
  using enum Monotonicity;
  const auto up = std::ranges::count(promises, increasing);
  const auto down = std::ranges::count(promises, decreasing);
  const auto all = static_cast<std::ptrdiff_t>(classes.size());
  if (up == all || down == all)
    return "the probabilities of all classes cannot move the same way: they add up to 1";
  if (up > 1 && down > 1) {
    return fmt::format(
        "{} would have to keep their ratios while they rise, and {} while they fall; wanted one "
        "class on one of the sides",
        named(classes, promises, increasing), named(classes, promises, decreasing));
  }
  return {};
}

}  // namespace espalier
