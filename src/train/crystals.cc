// SPDX-License-Identifier: Apache-2.0
#include "train/crystals.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace espalier {

namespace {

// A feature's own slope counts as much as this many interactions.
constexpr double kSlopeWeight = 6;
// Swaps that gain less than this share of all interactions are left.
constexpr double kMinTorsionGain = 1e-9;

bool contains(const Group& group, int feature) {
  return std::find(group.begin(), group.end(), feature) != group.end();
}

// Fills the groups with the features that are used least, until all have `size`.
void fill_up(std::vector<Group>& groups, int features, int size) {
  std::vector<int> uses(static_cast<std::size_t>(features));
  for (const Group& group : groups) {
    for (const int feature : group) ++uses[static_cast<std::size_t>(feature)];
  }
  for (Group& group : groups) {
    while (static_cast<int>(group.size()) < size) {
      int least = -1;
      for (int f = 0; f < features; ++f) {
        const auto used = [&](int feature) { return uses[static_cast<std::size_t>(feature)]; };
        if (!contains(group, f) && (least < 0 || used(f) < used(least))) least = f;
      }
      group.push_back(least);
      ++uses[static_cast<std::size_t>(least)];
    }
  }
}

}  // namespace

namespace {

// Groups while pairs are put into them. What is asked of all groups for every pair is kept up to
// date instead: which pairs are covered, and which groups have room.
class Cover {
 public:
  Cover(int features, int size)
      : features_(static_cast<std::size_t>(features)),
        size_(static_cast<std::size_t>(size)),
        covered_(features_ * features_),
        open_(features_) {}

  void add_pair(int a, int b) {
    if (covered_[at(a, b)]) return;
    std::size_t group = groups_.size();
    for (const int feature : {a, b}) {
      for (const std::size_t open : open_[static_cast<std::size_t>(feature)])
        group = std::min(group, open);
    }
    if (group == groups_.size() && !roomy_.empty()) group = *roomy_.begin();
    if (group == groups_.size()) {
      groups_.emplace_back();
      roomy_.insert(group);
    }
    for (const int feature : {a, b}) {
      if (!contains(groups_[group], feature)) join(feature, group);
    }
  }

  std::vector<Group> groups() && { return std::move(groups_); }

 private:
  std::size_t at(int a, int b) const {
    return static_cast<std::size_t>(a) * features_ + static_cast<std::size_t>(b);
  }

  void join(int feature, std::size_t index) {
    Group& group = groups_[index];
    for (const int other : group)
      covered_[at(feature, other)] = covered_[at(other, feature)] = true;
    group.push_back(feature);
    if (group.size() + 1 >= size_) roomy_.erase(index);
    if (group.size() < size_) {
      open_[static_cast<std::size_t>(feature)].insert(index);
      return;
    }
    for (const int member : group) open_[static_cast<std::size_t>(member)].erase(index);
  }

  std::size_t features_, size_;
  std::vector<Group> groups_;
  std::vector<bool> covered_;                // [features][features]
  std::vector<std::set<std::size_t>> open_;  // of each feature: its groups with room
  std::set<std::size_t> roomy_;              // groups with room for two
};

}  // namespace

std::vector<Group> cover_pairs(int features, int size, Random& random) {
  std::vector<std::pair<int, int>> pairs;
  for (int a = 0; a < features; ++a) {
    for (int b = a + 1; b < features; ++b) pairs.emplace_back(a, b);
  }
  random.shuffle(std::span(pairs));
  Cover cover(features, size);
  for (const auto& [a, b] : pairs) cover.add_pair(a, b);
  std::vector<Group> groups = std::move(cover).groups();
  fill_up(groups, features, size);
  return groups;
}

Interactions::Interactions(int features)
    : features_(features),
      slopes_(static_cast<std::size_t>(features)),
      torsions_(static_cast<std::size_t>(features) * static_cast<std::size_t>(features)) {}

Interactions::Mean& Interactions::pair(int a, int b) {
  return torsions_[static_cast<std::size_t>(std::min(a, b) * features_ + std::max(a, b))];
}

const Interactions::Mean& Interactions::pair(int a, int b) const {
  return torsions_[static_cast<std::size_t>(std::min(a, b) * features_ + std::max(a, b))];
}

void Interactions::add(const Group& group, std::span<const float> theta) {
  const auto [least, most] = std::minmax_element(theta.begin(), theta.end());
  const double range = static_cast<double>(*most) - *least;
  const double scale = range > 0 ? 1 / range : 0;  // a constant lattice says: nothing matters
  const auto squared = [](double x) { return x * x; };
  const auto size = static_cast<int>(group.size());
  for (int i = 0; i < size; ++i) {
    const std::size_t bit_i = std::size_t{1} << i;
    double slope = 0;
    for (std::size_t v = 0; v < theta.size(); ++v) {
      if ((v & bit_i) == 0) slope += squared(scale * (theta[v | bit_i] - theta[v]));
    }
    slopes_[static_cast<std::size_t>(group[static_cast<std::size_t>(i)])].add(
        slope / static_cast<double>(theta.size() / 2));
    for (int j = i + 1; j < size; ++j) {
      const std::size_t bit_j = std::size_t{1} << j;
      double torsion = 0;
      for (std::size_t v = 0; v < theta.size(); ++v) {
        if ((v & (bit_i | bit_j)) != 0) continue;
        torsion += squared(
            scale * (theta[v] + theta[v | bit_i | bit_j] - theta[v | bit_i] - theta[v | bit_j]));
      }
      pair(group[static_cast<std::size_t>(i)], group[static_cast<std::size_t>(j)])
          .add(torsion / static_cast<double>(theta.size() / 4));
    }
  }
}

double Interactions::slope(int feature) const {
  return slopes_[static_cast<std::size_t>(feature)].value();
}

double Interactions::torsion(int a, int b) const { return a == b ? 0 : pair(a, b).value(); }

double Interactions::mean_torsion() const {
  double sum = 0;
  for (int a = 0; a < features_; ++a) {
    for (int b = a + 1; b < features_; ++b) sum += torsion(a, b);
  }
  return features_ > 1 ? sum / (0.5 * features_ * (features_ - 1)) : 0;
}

double Interactions::importance(int feature) const {
  double sum = kSlopeWeight * slope(feature);
  for (int other = 0; other < features_; ++other) sum += torsion(feature, other);
  return sum;
}

namespace {

// The groups while they are filled, and how often each pair of features shares one.
class Crystal {
 public:
  Crystal(const Interactions& interactions, int count, int size)
      : interactions_(interactions),
        size_(static_cast<std::size_t>(size)),
        groups_(static_cast<std::size_t>(count)),
        together_(static_cast<std::size_t>(interactions.features()) *
                  static_cast<std::size_t>(interactions.features())) {}

  void fill() {
    std::vector<int> uses = uses_of_features();
    std::vector<int> order(uses.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return interactions_.importance(a) > interactions_.importance(b);
    });
    for (bool placed = true; placed;) {  // one use of each feature a round
      placed = false;
      for (const int feature : order) {
        int& left = uses[static_cast<std::size_t>(feature)];
        if (left == 0) continue;
        placed |= place(feature);
        --left;
      }
    }
    fill_up(groups_, interactions_.features(), static_cast<int>(size_));
    recount();
  }

  void swap_while_it_helps() {
    constexpr int kMaxPasses = 50;
    const double least_gain = kMinTorsionGain * interactions_.mean_torsion();
    bool improved = true;
    for (int pass = 0; improved && pass < kMaxPasses; ++pass) {
      improved = false;
      for (std::size_t a = 0; a < groups_.size(); ++a) {
        for (std::size_t b = a + 1; b < groups_.size(); ++b)
          improved |= swap_between(groups_[a], groups_[b], least_gain);
      }
    }
  }

  std::vector<Group> groups() && { return std::move(groups_); }

 private:
  int& together(int a, int b) {
    return together_[static_cast<std::size_t>(std::min(a, b) * interactions_.features() +
                                              std::max(a, b))];
  }

  // Each feature once; the other places in proportion to importance, at most one per group.
  std::vector<int> uses_of_features() const {
    const int features = interactions_.features();
    const int most = static_cast<int>(groups_.size());
    int left = most * static_cast<int>(size_) - features;
    std::vector<double> importance(static_cast<std::size_t>(features));
    for (int f = 0; f < features; ++f)
      importance[static_cast<std::size_t>(f)] = interactions_.importance(f);
    double total = std::accumulate(importance.begin(), importance.end(), 0.0);
    if (!(total > 0)) {
      std::fill(importance.begin(), importance.end(), 1.0);
      total = features;
    }
    const int extra = left;
    std::vector<int> uses(static_cast<std::size_t>(features), 1);
    for (std::size_t f = 0; f < uses.size(); ++f) {
      const int more =
          std::min(static_cast<int>(importance[f] / total * extra), std::min(left, most - 1));
      uses[f] += more;
      left -= more;
    }
    // What rounding and the limit left over: to the most important that may have more.
    std::vector<std::size_t> order(uses.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return importance[a] > importance[b]; });
    while (left > 0) {
      for (const std::size_t f : order) {
        if (left == 0 || uses[f] == most) continue;
        ++uses[f];
        --left;
      }
    }
    return uses;
  }

  // What a feature gains from the members of a group: half for each time that a pair meets already.
  double gain(int feature, const Group& group) {
    double sum = 0;
    for (const int other : group) {
      sum += interactions_.torsion(feature, other) * std::ldexp(1.0, -together(feature, other));
    }
    return sum;
  }

  bool place(int feature) {
    const double empty_gain =
        interactions_.mean_torsion() * 0.5 * static_cast<double>(size_ * size_);
    Group* best = nullptr;
    double best_gain = 0;
    for (Group& group : groups_) {
      if (group.size() == size_ || contains(group, feature)) continue;
      const double own = group.empty() ? empty_gain : gain(feature, group);
      if (best != nullptr && own <= best_gain) continue;
      best = &group;
      best_gain = own;
    }
    if (best == nullptr) return false;
    join(feature, *best, 1);
    best->push_back(feature);
    return true;
  }

  void join(int feature, const Group& group, int times) {
    for (const int other : group) {
      if (other != feature) together(feature, other) += times;
    }
  }

  void recount() {
    std::fill(together_.begin(), together_.end(), 0);
    for (const Group& group : groups_) {
      for (std::size_t i = 0; i < group.size(); ++i) {
        for (std::size_t j = i + 1; j < group.size(); ++j) ++together(group[i], group[j]);
      }
    }
  }

  // Takes a member out; returns what that loses.
  double leave(Group& group, std::size_t at) {
    const int feature = group[at];
    std::swap(group[at], group.back());
    group.pop_back();
    join(feature, group, -1);
    return gain(feature, group);
  }

  double enter(Group& group, std::size_t at, int feature) {
    const double gained = gain(feature, group);
    join(feature, group, 1);
    group.push_back(feature);
    std::swap(group[at], group.back());
    return gained;
  }

  bool swap_between(Group& a, Group& b, double least_gain) {
    bool improved = false;
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t j = 0; j < size_; ++j) {
        const int from_a = a[i], from_b = b[j];
        if (contains(a, from_b) || contains(b, from_a)) continue;
        if (exchange(a, i, from_b, b, j, from_a) > least_gain) {
          improved = true;
        } else {
          exchange(a, i, from_a, b, j, from_b);
        }
      }
    }
    return improved;
  }

  // Puts these features in the places of others; returns what that gains.
  double exchange(Group& a, std::size_t i, int into_a, Group& b, std::size_t j, int into_b) {
    double gained = -leave(a, i);
    gained -= leave(b, j);
    gained += enter(a, i, into_a);
    return gained + enter(b, j, into_b);
  }

  const Interactions& interactions_;
  std::size_t size_;
  std::vector<Group> groups_;
  std::vector<int> together_;  // [features][features], the smaller number first
};

}  // namespace

std::vector<Group> crystallize(const Interactions& interactions, int count, int size) {
  Crystal crystal(interactions, count, size);
  crystal.fill();
  crystal.swap_while_it_helps();
  return std::move(crystal).groups();
}

}  // namespace espalier
