// SPDX-License-Identifier: Apache-2.0
// What a search draws: ranges that somebody asked for, and ranges around the defaults.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/json.h"
#include "espalier/options.h"
#include "espalier/schema.h"
#include "espalier/tune.h"
#include "search/dimension.h"
#include "train/settled_options.h"

namespace espalier {

class SearchSpace {
 public:
  /// What `tune` asks for, and ranges around the settled `base` for all that matters and that the
  /// base leaves at its default. `pairs`: of columns that were tried, the best first. Throws Error
  /// (argument) for a setting or a range that cannot be, and if the largest or the smallest network
  /// could not be built.
  SearchSpace(const TrainOptions& base, const TuneOptions& tune, std::size_t rows,
              const Schema& schema, Validation validation = Validation::none,
              std::vector<std::string> pairs = {});

  const std::vector<Dimension>& dimensions() const { return dimensions_; }

  /// What a trial changes, an object; for trial 1 nothing. It depends on the seed and the trial.
  Json draw(int trial) const;

  /// The base with these changes and every automatic choice made, a preset written out as layers.
  SettledOptions options_of(const Json& settings) const;

  /// How many networks an ensemble with these settings has at most, where nobody says: those that a
  /// small table would have.
  int most_networks(const Json& settings) const;

 private:
  void add_asked(const TuneOptions& tune);
  void add_defaults(const TuneOptions& tune);
  void require_buildable(const SettledOptions& options) const;
  SettledOptions settled(TrainOptions options) const;
  void check_end(const char* which, double Dimension::*end) const;
  const Dimension* find(std::string_view name) const;  // or null
  std::vector<std::string> architectures() const;      // those that trials can have
  bool matters(const Dimension& dimension, const std::string& architecture) const;
  bool matters(const Dimension& dimension) const;  // for any of them
  Json felt(Json settings) const;
  SettledOptions with_base_sizes(Json settings) const;
  std::string architecture_of(const Json& settings) const;
  std::vector<std::string> first_pairs(std::size_t count) const;
  std::string layers_of(const std::string& architecture) const;  // a preset written out

  const TrainOptions base_;
  const std::size_t rows_;
  const Schema& schema_;
  const Validation validation_;
  const std::vector<std::string> pairs_;
  std::vector<Dimension> dimensions_;
};

}  // namespace espalier
