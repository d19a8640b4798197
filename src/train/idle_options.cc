// SPDX-License-Identifier: Apache-2.0
#include "train/idle_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "core/random.h"
#include "model/builder.h"
#include "model/model_data.h"
#include "model/network.h"
#include "objective/label.h"

namespace espalier {

namespace {

using Names = std::initializer_list<std::string_view>;

// Why options have no effect in one run.
class Reasons {
 public:
  Reasons(const TrainOptions& options, const Problem& problem, bool has_valid)
      : given_(options), p_(problem), has_valid_(has_valid) {}

  // Empty if an option has an effect.
  std::string of(std::string_view name) const {
    for (const auto reason :
         {&Reasons::of_trees, &Reasons::of_label, &Reasons::of_validation, &Reasons::of_trees_alone,
          &Reasons::of_columns, &Reasons::of_layers}) {
      std::string found = (this->*reason)(name);
      if (!found.empty()) return found;
    }
    return {};
  }

 private:
  static bool is_of(std::string_view name, const Names& names) {
    return std::ranges::find(names, name) != names.end();
  }

  bool has_layer(LayerKind kind) const {
    return std::ranges::count(p_.architecture.layers, kind, &LayerSpec::kind) > 0;
  }

  bool has_feature(auto&& is_wanted) const {
    return std::ranges::any_of(p_.schema.features, is_wanted);
  }

  std::string of_trees(std::string_view name) const {
    const bool shares_nothing = given_.tree_share == 0;
    if (name == "trees" && given_.trees.value_or(0) > 0 && shares_nothing) return "tree_share is 0";
    if (!is_of(name, {"tree_leaves", "tree_rate", "tree_share"})) return {};
    if (given_.trees == 0) return "trees is 0";
    if (p_.options->trees == 0) return "no trees are grown unless trees is set";
    return shares_nothing && name != "tree_share" ? "tree_share is 0" : "";
  }

  std::string of_label(std::string_view name) const {
    if (name != "power" || p_.schema.label.loss == Loss::tweedie) return {};
    return fmt::format("the loss is {}", to_word(p_.schema.label.loss));
  }

  std::string of_validation(std::string_view name) const {
    if (name == "valid_fraction" && has_valid_) return "there are validation rows of their own";
    if (!is_of(name, {"metric", "patience"})) return {};
    if (p_.valid.num_rows == 0) return "there are no validation rows";
    if (name == "patience" && given_.patience >= p_.options->epochs)
      return fmt::format("there are {} epochs", p_.options->epochs);
    return {};
  }

  // Trees ask about the order of values only, and all that an ensemble does for them is to hold out
  // other rows.
  std::string of_trees_alone(std::string_view name) const {
    if (p_.options->trees == 0 || given_.tree_share != 1) return {};
    const bool same_rows = p_.validation != Validation::split_off;
    if (name == "ensemble" && same_rows) return "tree_share is 1, and all trees have the same rows";
    const bool is_idle = is_of(
        name, {"monotone_calibrators", "keypoints", "continuous_keypoints", "initialization",
               "lattice_noise", "epochs", "batch_size", "learning_rate", "adam_epsilon", "schedule",
               "weight_decay", "projection", "calibrator_laplacian", "calibrator_hessian",
               "lattice_laplacian", "lattice_torsion", "metric", "patience"});
    return is_idle ? "tree_share is 1, which leaves the networks out" : "";
  }

  std::string of_columns(std::string_view name) const {
    const auto kind = [](FeatureKind wanted) {
      return [wanted](const Feature& feature) { return feature.kind == wanted; };
    };
    if (name == "max_categories")
      return has_feature(kind(FeatureKind::category)) ? "" : "there are no categorical features";
    if (!is_of(name, {"keypoints", "continuous_keypoints"})) return {};
    const auto calibrators = input_calibrators(p_.architecture);
    if (!calibrators) return "the architecture does not begin with calibrators";
    if (calibrators->range && given_.keypoints != Keypoints::uniform)
      return "the architecture gives the range of the first calibrators";
    if (!has_feature(kind(FeatureKind::number))) return "there are no numeric features";
    if (name == "continuous_keypoints" && p_.options->keypoints == Keypoints::uniform)
      return "keypoints is uniform";
    return {};
  }

  std::string of_layers(std::string_view name) const {
    if (is_of(name, {"monotone_calibrators", "calibrator_laplacian", "calibrator_hessian"}))
      return has_layer(LayerKind::cal) ? "" : "the architecture has no calibrators";
    if (is_of(name, {"lattice_noise", "lattice_laplacian", "lattice_torsion", "projection"}))
      return has_layer(LayerKind::lat) ? "" : "the architecture has no lattices";
    if (name == "weight_decay" && !has_weights_that_decay())
      return "the architecture has no embedding of free inputs";
    return {};
  }

  bool has_weights_that_decay() const {
    Architecture architecture = p_.architecture;
    LayerSpec& first = architecture.layers.front();
    if (first.wiring == Wiring::crystals) first.wiring = Wiring::random;  // not yet searched for
    const Network network(architecture, input_wires(p_.schema), p_.options->monotone_calibrators,
                          Random(1), BuildLimits(), score_wires(p_.schema.label));
    for (int l = 0; l < network.num_layers(); ++l) {
      for (int unit = 0; unit < network.layer(l).num_units(); ++unit) {
        if (network.layer(l).decay_scale(unit) > 0) return true;
      }
    }
    return false;
  }

  const TrainOptions& given_;
  const Problem& p_;
  const bool has_valid_;
};

}  // namespace

std::vector<std::string> idle_options(const TrainOptions& options, const Problem& problem,
                                      bool has_valid) {
  const Reasons reasons(options, problem, has_valid);
  const Json given = Json::parse(to_json(options)), defaults = Json::parse(to_json({}));
  std::vector<std::pair<std::string, std::vector<std::string>>> found;  // reason, names
  for (const auto& [name, value] : given.members()) {
    if (value == defaults[name]) continue;
    const std::string reason = reasons.of(name);
    if (reason.empty()) continue;
    const auto same = std::ranges::find(found, reason, [](const auto& each) { return each.first; });
    if (same == found.end())
      found.push_back({reason, {name}});
    else
      same->second.push_back(name);
  }
  std::vector<std::string> lines;
  for (const auto& [reason, names] : found)
    lines.push_back(fmt::format("{}: no effect in this run: {}", fmt::join(names, ", "), reason));
  return lines;
}

void warn_of_idle_options(const TrainOptions& options, const Problem& problem,
                          const TrainControl& control) {
  if (!control.warning) return;
  for (const std::string& line : idle_options(options, problem, control.valid != nullptr))
    control.warning(line);
}

}  // namespace espalier
