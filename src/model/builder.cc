// SPDX-License-Identifier: Apache-2.0
#include "model/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "espalier/error.h"
#include "layers/calibrators.h"
#include "layers/lattices.h"
#include "layers/linear.h"
#include "layers/min_max.h"
#include "layers/relu.h"
#include "layers/trees.h"
#include "layers/wiring.h"

namespace espalier {

namespace {

constexpr int kDefaultKeypoints = 20;

// What a layer takes, and a wire: as output, as input of the next layer, and in a tile of rows.
constexpr std::uint64_t kLayerMemory = 1024;
constexpr std::uint64_t kWireMemory = 2 * sizeof(Wire) + kTile * sizeof(float);
// A list of orders is there twice while it grows, the second time twice as long.
constexpr std::uint64_t kOrderMemory = 3 * sizeof(Order);

class Builder {
 public:
  Builder(const Architecture& written, std::vector<Wire> inputs, MonotoneCalibrators calibrators,
          Random random, const BuildLimits& limits, const ScoreWires& scores)
      : written_(written.layers),
        wires_(std::move(inputs)),
        calibrators_(calibrators),
        random_(random),
        limits_(limits),
        scores_(scores) {}

  BuiltLayers build() {
    count_wires(wires_.size());
    for (at_ = 0; at_ < written_.size(); ++at_) {
      require_few(wires_.size());
      count_memory(kLayerMemory);
      LayerSpec spec = written_[at_];
      switch (spec.kind) {
        case LayerKind::cal:
          add_cal(spec);
          break;
        case LayerKind::lin:
          add_lin(spec);
          break;
        case LayerKind::lat:
          add_lat(spec);
          break;
        case LayerKind::gather:
          add_gather(spec);
          break;
        case LayerKind::sum:
          add_numbers_only<Sum>(spec);
          break;
        case LayerKind::minmax:
          add_minmax(spec);
          break;
        case LayerKind::relu:
          add_numbers_only<Relu>(spec);
          break;
        case LayerKind::tree:
          add_tree(spec);
          break;
      }
    }
    require_scores();
    return std::move(built_);
  }

 private:
  [[noreturn]] void fail(std::string_view message) const {
    const std::string name = at_ < written_.size() ? short_name(written_[at_]) : "the end";
    throw Error(ErrorKind::argument,
                fmt::format("architecture: layer {}, {}: {}", std::min(at_ + 1, written_.size()),
                            name, message));
  }

  void require_scores() const {
    const bool numbers = std::none_of(wires_.begin(), wires_.end(), [](const Wire& wire) {
      return wire.is_category() || wire.is_grid();
    });
    if (num_wires() == scores_.count && numbers) return require_closed();
    if (scores_.count == 1) {
      fail(fmt::format(
          "the last layer gives {} wires, wanted one: end with lin(1), lat, sum, minmax or cal",
          wires_.size()));
    }
    fail(fmt::format("the last layer gives {} wires, wanted {}: end with lin({})", wires_.size(),
                     scores_.count, scores_.count));
  }

  void require_closed() const {
    for (const int score : scores_.closed) {
      if (!wires_[static_cast<std::size_t>(score)].monotone) continue;
      fail(
          fmt::format("columns with a direction reach class {}, whose score they may not move: end "
                      "with lin({})",
                      score + 1, scores_.count));
    }
  }

  // Tiles are indexed by int.
  void require_few(std::size_t num_wires) const {
    if (num_wires > kMaxWires)
      fail(fmt::format("{} wires are too many, at most {} are allowed", num_wires, kMaxWires));
  }

  int num_wires() const { return static_cast<int>(wires_.size()); }

  // The next layer as written, passing over those that only move or reshape wires.
  const LayerSpec* next(bool pass_over_cal) const {
    for (std::size_t i = at_ + 1; i < written_.size(); ++i) {
      const LayerKind kind = written_[i].kind;
      if (kind == LayerKind::gather || (pass_over_cal && kind == LayerKind::cal)) continue;
      return &written_[i];
    }
    return nullptr;
  }

  static bool reads_any_number(const LayerSpec& spec) {
    return spec.kind == LayerKind::sum || spec.kind == LayerKind::minmax ||
           spec.kind == LayerKind::relu || spec.kind == LayerKind::tree;
  }

  // Wires leave an inner layer in [0, 1], except before a stated range, a layer that
  // reads any number, and at the end.
  OutputBounds bounds() const {
    const LayerSpec* reader = next(false);
    const bool free = reader == nullptr || reads_any_number(*reader) || reader->range.has_value();
    return free ? OutputBounds::none : OutputBounds::unit_interval;
  }

  void require_numbers() const {
    for (const Wire& wire : wires_) {
      if (wire.is_category()) fail("cannot read a category column as it is: put cal before it");
    }
    require_no_grids();
  }

  void require_no_grids() const {
    for (const Wire& wire : wires_) {
      if (wire.is_grid())
        fail("cannot read a pair with a monotone column as it is: put cal before it");
    }
  }

  void charge(std::uint64_t parameters) {
    parameters_ += parameters;
    if (parameters_ <= limits_.parameters) return;
    fail(fmt::format("the network would have {} parameters up to here, at most {} are allowed",
                     parameters_, limits_.parameters));
  }

  // Of what is allocated next.
  void count_memory(std::uint64_t bytes) {
    built_.memory += bytes;
    if (built_.memory <= limits_.memory) return;
    fail(
        fmt::format("the layers, wires and orders between leaves would take {} MB up to here, at "
                    "most {} MB are allowed",
                    (built_.memory >> 20) + 1, limits_.memory >> 20));
  }
  void count_wires(std::uint64_t wires) { count_memory(wires * kWireMemory); }

  template <class Made>
  void push(const LayerSpec& spec, std::unique_ptr<Made> layer) {
    wires_ = layer->outputs();
    built_.architecture.layers.push_back(spec);
    built_.layers.push_back(std::move(layer));
  }

  void add_cal(LayerSpec spec) {
    if (spec.keypoints == 0) spec.keypoints = kDefaultKeypoints;
    const LayerSpec* reader = at_ + 1 < written_.size() ? &written_[at_ + 1] : nullptr;
    const bool looked_up = reader != nullptr && reader->kind == LayerKind::lin;
    const Calibrators::Shape shape = {
        .keypoints = spec.keypoints,
        .range = spec.range,
        .monotone = calibrators_,
        .categories = looked_up ? CategoryWires::pass : CategoryWires::calibrate,
        .bounds = reader == nullptr || reads_any_number(*reader) ? OutputBounds::none
                                                                 : OutputBounds::unit_interval};
    for (const Wire& wire : wires_) charge(Calibrators::num_params_of(wire, shape));
    count_wires(wires_.size());
    auto layer = std::make_unique<Calibrators>(wires_, shape);
    if (const std::string error = layer->constants_error(); !error.empty()) fail(error);
    push(spec, std::move(layer));
  }

  void add_lin(LayerSpec spec) {
    require_no_grids();
    if (spec.outputs == 0) {
      const LayerSpec* reader = next(true);
      if (reader == nullptr) {
        spec.outputs = scores_.count;
      } else if (has_groups(*reader)) {
        spec.outputs = checked_product(reader->groups, reader->group_size);
      } else {
        fail("how many outputs? Only a lat(GxS) or minmax(GxS) behind it could say");
      }
    }
    const bool any_monotone =
        std::any_of(wires_.begin(), wires_.end(), [](const Wire& w) { return w.monotone; });
    const bool all_monotone =
        std::all_of(wires_.begin(), wires_.end(), [](const Wire& w) { return w.monotone; });
    if (spec.outputs == 1) spec.embedding = Embedding::mixed;
    if (!any_monotone) spec.monotone_outputs = 0;
    if (all_monotone || (any_monotone && spec.outputs == 1)) spec.monotone_outputs = spec.outputs;
    const bool gives_classes = at_ + 1 == written_.size() && any_monotone && scores_.count > 1 &&
                               spec.outputs == scores_.count;
    if (gives_classes) {
      spec.embedding = Embedding::mixed;
      spec.monotone_outputs = spec.outputs;
    }
    if (any_monotone && spec.monotone_outputs == 0) {
      spec.monotone_outputs = Linear::monotone_share(wires_, spec.outputs, spec.embedding);
    }
    if (spec.monotone_outputs > spec.outputs) fail("more monotone outputs than outputs");
    const LayerSpec* activation = next(false);
    const Linear::Shape shape = {
        .outputs = spec.outputs,
        .monotone_outputs = spec.monotone_outputs,
        .embedding = spec.embedding,
        .feeds_relu = activation != nullptr && activation->kind == LayerKind::relu,
        .rate_scale = reads_relu() ? rate_behind_relus() : 1,
        .closed = gives_classes ? scores_.closed : std::vector<int>()};
    charge(static_cast<std::uint64_t>(spec.outputs));
    for (const Wire& wire : wires_) {
      charge(static_cast<std::uint64_t>(wire.num_columns()) *
             Linear::reach_of(wire, shape).width());
    }
    count_wires(static_cast<std::uint64_t>(spec.outputs));
    push(spec, std::make_unique<Linear>(wires_, shape));
  }

  bool reads_relu() const { return at_ > 0 && written_[at_ - 1].kind == LayerKind::relu; }

  // What a relu gives is positive, so a step moves all weights of an output together, and what
  // arrives moves with them through all layers behind: the rate falls with the fan-in, and with
  // the square of the number of layers.
  float rate_behind_relus() const {
    constexpr double kBearable = 100;  // at a rate of 0.02; measured up to 20 layers of 100
    const auto layers =
        static_cast<double>(std::ranges::count(written_, LayerKind::relu, &LayerSpec::kind));
    return static_cast<float>(std::min(1.0, kBearable / (num_wires() * layers * layers)));
  }

  // G x S for a layer that reads that many wires.
  void require_groups(const LayerSpec& spec) const {
    const int wanted = checked_product(spec.groups, spec.group_size);
    if (wanted == num_wires()) return;
    fail(fmt::format("reads {0} wires, but {1} arrive: put lin({0}) or gather({2}x{3}) before it",
                     wanted, num_wires(), spec.groups, spec.group_size));
  }

  int checked_product(int groups, int group_size) const {
    const std::int64_t product = static_cast<std::int64_t>(groups) * group_size;
    if (product > kMaxWires) fail(fmt::format("{} x {} wires are too many", groups, group_size));
    return static_cast<int>(product);
  }

  void add_lat(LayerSpec spec) {
    require_numbers();
    if (spec.groups == 0) {
      spec.groups = 1;
      spec.group_size = num_wires();
    }
    if (spec.group_size > kMaxLatticeSize) {
      fail(fmt::format(
          "a lattice of {0} inputs has 2^{0} parameters; at most {1} inputs fit in one lattice",
          spec.group_size, kMaxLatticeSize));
    }
    require_groups(spec);
    charge(static_cast<std::uint64_t>(spec.groups) << spec.group_size);
    count_wires(static_cast<std::uint64_t>(spec.groups));
    if (spec.groups > 1 && !is_wired()) permute();
    push(spec, std::make_unique<Lattices>(
                   wires_, Lattices::Shape{spec.group_size, spec.interpolation, bounds()}));
  }

  // Whether a gather has chosen the wires of the lattice layer that comes now.
  bool is_wired() const {
    for (auto layer = built_.architecture.layers.rbegin();
         layer != built_.architecture.layers.rend(); ++layer) {
      if (layer->kind == LayerKind::gather) return true;
      if (layer->kind != LayerKind::cal) return false;
    }
    return false;
  }

  void permute() {
    count_wires(wires_.size());
    LayerSpec spec{.kind = LayerKind::gather};
    spec.wires.resize(wires_.size());
    std::iota(spec.wires.begin(), spec.wires.end(), 0);
    random_.shuffle(std::span<int>(spec.wires));
    push(spec, std::make_unique<Gather>(wires_, spec.wires));
  }

  void add_gather(LayerSpec spec) {
    if (spec.wires.empty() && spec.groups == 0) {
      const LayerSpec* reader = next(true);
      if (reader == nullptr || !has_groups(*reader))
        fail("which wires? Wanted gather(GxS), a list, or lat(GxS) behind it");
      spec.groups = reader->groups;
      spec.group_size = reader->group_size;
    }
    if (spec.wiring == Wiring::crystals)
      fail("groups are searched for by training, and only where they read the table");
    if (spec.groups > 0) {
      spec.wires = draw(spec.groups, spec.group_size);
      spec.groups = spec.group_size = 0;
    }
    require_few(spec.wires.size());
    count_wires(spec.wires.size());
    for (const int wire : spec.wires) {
      if (wire >= num_wires())
        fail(fmt::format("no wire {}: {} arrive, counted from 0", wire, num_wires()));
    }
    push(spec, std::make_unique<Gather>(wires_, spec.wires));
  }

  // Groups of different wires, all wires used about equally often: one shuffle of the wires after
  // another is dealt out; a wire that its group already has waits for the next group.
  std::vector<int> draw(int groups, int group_size) {
    if (group_size > num_wires()) {
      fail(fmt::format("groups of {} different wires, but {} arrive", group_size, num_wires()));
    }
    const int total = checked_product(groups, group_size);
    // Whatever reads them has a parameter a wire or more.
    if (static_cast<std::uint64_t>(total) > limits_.parameters) {
      fail(fmt::format("{} wires, at most {} parameters are allowed", total, limits_.parameters));
    }
    std::vector<int> drawn, waiting;
    while (static_cast<int>(drawn.size()) < total) {
      const auto group = drawn.end() - static_cast<std::ptrdiff_t>(drawn.size()) % group_size;
      const auto fits = [&](int wire) {
        return std::find(group, drawn.end(), wire) == drawn.end();
      };
      auto chosen = std::find_if(waiting.begin(), waiting.end(), fits);
      if (chosen == waiting.end()) {
        const auto begin = static_cast<std::ptrdiff_t>(waiting.size());
        waiting.resize(waiting.size() + wires_.size());
        std::iota(waiting.begin() + begin, waiting.end(), 0);
        random_.shuffle(std::span<int>(waiting).subspan(static_cast<std::size_t>(begin)));
        continue;
      }
      drawn.push_back(*chosen);
      waiting.erase(chosen);
    }
    return drawn;
  }

  void add_minmax(const LayerSpec& spec) {
    require_numbers();
    require_groups(spec);
    push(spec, std::make_unique<MinMax>(wires_, spec.group_size));
  }

  void add_tree(const LayerSpec& spec) {
    require_numbers();
    for (const TreeNode& node : spec.nodes) {
      if (node.wire >= num_wires())
        fail(fmt::format("no wire {}: {} arrive, counted from 0", node.wire, num_wires()));
    }
    const auto is_monotone = [&](int wire) {
      return wires_[static_cast<std::size_t>(wire)].monotone;
    };
    for (const std::span<const TreeNode> tree : trees_of(spec.nodes)) {
      const std::size_t leaves = num_leaves(tree);
      if (leaves > kMaxLeaves)
        fail(fmt::format("a tree has {} leaves, at most {} are allowed", leaves, kMaxLeaves));
      if (asks_monotone(tree, is_monotone)) count_memory(leaf_pairs(leaves) * kOrderMemory);
      count_wires(1);
      charge(leaves);
    }
    push(spec, std::make_unique<Trees>(wires_, spec.nodes, bounds()));
  }

  template <class Made>
  void add_numbers_only(const LayerSpec& spec) {
    require_numbers();
    count_wires(wires_.size());
    push(spec, std::make_unique<Made>(wires_));
  }

  const std::vector<LayerSpec>& written_;
  std::size_t at_ = 0;
  std::vector<Wire> wires_;
  MonotoneCalibrators calibrators_;
  Random random_;
  BuildLimits limits_;
  ScoreWires scores_;
  std::uint64_t parameters_ = 0;
  BuiltLayers built_;
};

}  // namespace

bool is_settled(const Architecture& architecture) {
  const auto settled = [](const LayerSpec& layer) {
    switch (layer.kind) {
      case LayerKind::cal:
        return layer.keypoints > 0;
      case LayerKind::lin:
        return layer.outputs > 0;
      case LayerKind::lat:
      case LayerKind::minmax:
        return layer.groups > 0;
      case LayerKind::gather:
        return !layer.wires.empty();
      case LayerKind::tree:
        return !layer.nodes.empty();
      case LayerKind::sum:
      case LayerKind::relu:
        return true;
    }
    return false;
  };
  return std::all_of(architecture.layers.begin(), architecture.layers.end(), settled);
}

BuiltLayers build_layers(const Architecture& architecture, std::vector<Wire> inputs,
                         MonotoneCalibrators calibrators, Random random, const BuildLimits& limits,
                         const ScoreWires& scores) {
  return Builder(architecture, std::move(inputs), calibrators, random, limits, scores).build();
}

bool has_groups(const LayerSpec& layer) {
  return (layer.kind == LayerKind::lat || layer.kind == LayerKind::minmax) && layer.groups > 0;
}

std::optional<std::size_t> input_calibrators_at(const Architecture& architecture) {
  const auto& layers = architecture.layers;
  const auto first = std::find_if(layers.begin(), layers.end(), [](const LayerSpec& layer) {
    return layer.kind != LayerKind::gather;
  });
  if (first == layers.end() || first->kind != LayerKind::cal) return std::nullopt;
  return static_cast<std::size_t>(first - layers.begin());
}

std::optional<LayerSpec> input_calibrators(const Architecture& architecture) {
  const auto at = input_calibrators_at(architecture);
  if (!at) return std::nullopt;
  LayerSpec layer = architecture.layers[*at];
  if (layer.keypoints == 0) layer.keypoints = kDefaultKeypoints;
  return layer;
}

}  // namespace espalier
