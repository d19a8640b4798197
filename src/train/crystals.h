// SPDX-License-Identifier: Apache-2.0
// Crystals (Canini et al., 2016): which features share a lattice.
//
// A first network whose lattices cover every pair of features is trained for a few epochs; how
// strongly two features interact is read off its lattices; then features that interact are put
// together. docs/math.md has the steps.
#pragma once

#include <span>
#include <vector>

#include "core/random.h"

namespace espalier {

/// More would make the first network, which has every pair of features, too large.
inline constexpr int kMaxCrystalFeatures = 500;

/// A lattice as the features that it reads.
using Group = std::vector<int>;

/// Groups of `size` different features such that every pair of features meets in at least one.
/// 2 <= size <= features <= kMaxCrystalFeatures.
std::vector<Group> cover_pairs(int features, int size, Random& random);

/// How much each feature, and each pair of them, matters to some trained lattices.
class Interactions {
 public:
  explicit Interactions(int features);

  /// Reads the lattice of a group: theta[2^size], scaled to [0, 1] first.
  void add(const Group& group, std::span<const float> theta);

  int features() const { return features_; }
  /// The mean squared change along a feature, over the lattices that have it.
  double slope(int feature) const;
  /// The mean squared torsion of a pair, over the lattices that have both: 0 where the features
  /// only add up.
  double torsion(int a, int b) const;
  double mean_torsion() const;
  double importance(int feature) const;

 private:
  struct Mean {
    double sum = 0;
    int count = 0;
    void add(double x) {
      sum += x;
      ++count;
    }
    double value() const { return count > 0 ? sum / count : 0; }
  };
  Mean& pair(int a, int b);
  const Mean& pair(int a, int b) const;

  int features_;
  std::vector<Mean> slopes_;
  std::vector<Mean> torsions_;  // [features][features]
};

/// `count` groups of `size` different features: each feature at least once, important ones more
/// often, and those together that interact. count * size >= features >= size.
std::vector<Group> crystallize(const Interactions& interactions, int count, int size);

}  // namespace espalier
