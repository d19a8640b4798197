// SPDX-License-Identifier: Apache-2.0
// The settings of training.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "espalier/auto.h"
#include "espalier/choices.h"
#include "espalier/fields.h"
#include "espalier/metrics.h"
#include "espalier/schema.h"

namespace espalier {

/// A value of type Auto that is left open, and a word that is `auto`, follow from the table and
/// the architecture. The model records what was chosen, and training again with what it records
/// gives the same bytes, but for the list of choices, because nothing is left to choose.
struct TrainOptions {
  // The table.
  std::string label = {};
  std::vector<std::string> increasing = {};
  std::vector<std::string> decreasing = {};
  std::vector<std::string> order = {};  ///< "size=S<M<L"
  Task task = Task::automatic;
  std::string positive = {};
  std::string grades = {};  ///< "low<...<high"
  std::string weight = {};
  std::string exposure = {};
  std::string offset = {};
  ClassWeight class_weight = ClassWeight::none;
  int max_categories = 1000;
  std::vector<std::string> interactions = {"auto"};  ///< {"longitude*latitude"}, {"none"}

  // What is lowered.
  Loss loss = Loss::automatic;
  std::vector<double> quantile = {};
  double power = 1.5;

  // The model.
  std::string architecture = "dln";
  MonotoneCalibrators monotone_calibrators = MonotoneCalibrators::required;
  Keypoints keypoints = Keypoints::automatic;
  Auto<int> continuous_keypoints = {};
  Initialization initialization = Initialization::automatic;
  double lattice_noise = 0;  ///< the paper's 1/n
  Auto<int> ensemble = {};
  Auto<int> trees = {};
  Auto<int> tree_leaves = {};
  Auto<double> tree_rate = {};
  Auto<double> tree_share = {};

  // The optimiser.
  Auto<int> epochs = {};
  Auto<int> batch_size = {};
  Auto<double> learning_rate = {};
  Auto<double> adam_epsilon = {};
  Schedule schedule = Schedule::automatic;
  Auto<double> weight_decay = {};
  Projection projection = Projection::automatic;
  double calibrator_laplacian = 0;
  Auto<double> calibrator_hessian = {};
  double lattice_laplacian = 0;
  double lattice_torsion = 0;

  // Choosing the epoch.
  double valid_fraction = 0.2;
  Metric metric = Metric::automatic;
  int patience = 0;

  std::uint64_t seed = 1;
  int threads = 0;
};

template <class Options, class Visitor>
requires std::is_same_v<std::remove_const_t<Options>, TrainOptions>
void visit_fields(Options& o, Visitor&& visit) {
  visit(Field{"label", "the column to predict"}, o.label);
  visit(Field{"increasing", "columns the prediction must never fall with"}, o.increasing);
  visit(Field{"decreasing", "columns the prediction must never rise with"}, o.decreasing);
  visit(Field{"order", "categories that count as numbers, low to high: size=S<M<L"}, o.order);
  visit(Field{"task", "what the label is; auto: words or two values mean classification"}, o.task);
  visit(Field{"positive",
              "the label value whose probability is predicted; default: the larger number or later "
              "word"},
        o.positive);
  visit(Field{"grades", "classes with an order, from low to high: 'bad<fair<good'"}, o.grades);
  visit(Field{"weight", "a column of row weights"}, o.weight);
  visit(Field{"exposure",
              "poisson, tweedie: a column of how long or how much each row was at risk; the "
              "prediction is proportional to it"},
        o.exposure);
  visit(Field{"offset",
              "a column that is added to the score: the prediction of another model, say, in units "
              "of the score"},
        o.offset);
  visit(Field{"class_weight", "balanced gives all classes the same total weight"}, o.class_weight);
  visit(
      Field{"max_categories",
            "words of a category column beyond this many, the rarest, share one category", 2, 1e6},
      o.max_categories);
  visit(
      Field{"interactions",
            "pairs of columns that are crossed into a category each, or get a table that keeps "
            "their directions: auto finds those that are worth it, none, or pairs such as "
            "longitude*latitude, with the number of bins a side if wanted: longitude*latitude:32"},
      o.interactions);

  visit(Field{"loss",
              "what training lowers; auto: log_loss for classes, quantile if --quantile is "
              "given, else squared_error"},
        o.loss);
  visit(Field{"quantile",
              "the quantiles to predict, such as 0.9 or 0.1,0.5,0.9; several never cross", 0, 1},
        o.quantile);
  visit(Field{"power", "tweedie: the variance grows as this power of the mean", 1, 2}, o.power);

  visit(
      Field{
          "architecture",
          "a preset (dln, dln-paper, dln-lattice, dln-one-lattice, calibrated-linear, "
          "calibrated-lattice, random-lattices, "
          "crystals, min-max, min-max-calibrated, monotonic-dnn, monotonic-dnn-calibrated; all but "
          "calibrated-linear and calibrated-lattice with a size if wanted: "
          "dln(70x5), crystals(60x4), monotonic-dnn(LAYERSxUNITS)) "
          "or layers such as "
          "'cal(50) lin(350) cal(20) lat(70x5) cal(20) lin(1)'"},
      o.architecture);
  visit(Field{"monotone_calibrators",
              "which calibrators must rise: only those of monotone inputs, or all"},
        o.monotone_calibrators);
  visit(Field{"keypoints",
              "where first-layer calibrators bend: at all values of a column if they are few, else "
              "evenly among them (distinct) or among the rows (quantile); or uniformly over the "
              "range; auto: distinct, in dln-paper uniform"},
        o.keypoints);
  visit(Field{"continuous_keypoints",
              "distinct or quantile keypoints of a column with more values than its calibrator has "
              "keypoints, whose curve should be smooth; auto: by size for a preset, else "
              "as many",
              2, 1e6},
        o.continuous_keypoints);
  visit(Field{"initialization",
              "data: start centred on the training rows; paper: the published constants; auto: "
              "data, except in dln-paper"},
        o.initialization);
  visit(Field{"lattice_noise", "standard deviation of the noise added to the initial lattices", 0,
              10},
        o.lattice_noise);
  visit(Field{"ensemble",
              "train this many networks and average them as one model, each with other rows held "
              "out; auto: 5 for a preset below 5,000 training rows, else 1; for the dln presets "
              "that stop by themselves 3 from 5,000 rows on, or 2 with a validation set",
              1, 1000},
        o.ensemble);
  visit(
      Field{"trees",
            "at most so many trees are grown one after another in each forest beside the networks "
            "and end where the loss of the validation rows is least; 0 none; auto: 1000 for "
            "the dln presets, but none for classes without an order",
            0, 100000},
      o.trees);
  visit(Field{"tree_leaves",
              "leaves of a tree, at most; auto: 15 below 5,000 training rows, 31 below "
              "200,000, else 63",
              2, 256},
        o.tree_leaves);
  visit(Field{"tree_rate", "learning rate of the trees; auto: 0.15", 1e-12, 1}, o.tree_rate);
  visit(Field{"tree_share",
              "mixing weight of the trees beside the networks; auto: the one with the "
              "least loss on held-out rows, and no trees where that is not clearly lower than "
              "without them",
              0, 1},
        o.tree_share);

  visit(Field{"epochs",
              "passes over the training rows; averaged: at most so many; auto: by size, and "
              "for the "
              "dln presets a limit that training seldom reaches",
              1, 1e6},
        o.epochs);
  visit(Field{"batch_size", "rows a step; auto: by size", 1, 1 << 20}, o.batch_size);
  visit(Field{"learning_rate", "of Adam; auto: by size", 1e-12, 10}, o.learning_rate);
  visit(Field{"adam_epsilon",
              "of Adam; a large one keeps the steps of rare categories and values small; auto: "
              "0.001, in dln-paper 1e-8",
              1e-20, 1},  // the root of a float may be 0
        o.adam_epsilon);
  visit(
      Field{"schedule",
            "averaged keeps weight averages and stops when the validation metric stops improving; "
            "cosine lowers the learning rate to 0 over the epochs; auto: averaged for the dln "
            "presets if epochs and patience are left open, constant in dln-paper, else cosine"},
      o.schedule);
  visit(Field{"weight_decay",
              "decoupled, on the weights that an embedding gives to categories; less on those of "
              "numbers, none on those of monotone ones; auto: 0.3 where calibrators or "
              "lattices read them, else 0",
              0, 100},
        o.weight_decay);
  visit(
      Field{
          "projection",
          "after each step: the order-preserving sweep, or the nearest feasible lattice (exact, or "
          "by the paper's admm); auto: sweep, in dln-paper admm"},
      o.projection);
  visit(Field{"calibrator_laplacian", "penalty on squared steps of calibrators: flatter curves", 0,
              1e6},
        o.calibrator_laplacian);
  visit(Field{"calibrator_hessian",
              "penalty on squared bends of calibrators: straighter curves; auto: by size", 0, 1e6},
        o.calibrator_hessian);
  visit(Field{"lattice_laplacian", "penalty on squared edges of lattices: flatter", 0, 1e6},
        o.lattice_laplacian);
  visit(Field{"lattice_torsion", "penalty on squared interactions in lattices: more additive", 0,
              1e6},
        o.lattice_torsion);

  visit(Field{"valid_fraction",
              "share of the rows held out to choose the epoch; 0 keeps the last epoch", 0, 0.9},
        o.valid_fraction);
  visit(Field{"metric", "chooses the epoch; auto: that of the loss"}, o.metric);
  visit(Field{"patience", "stop after this many epochs without a better one; 0 never", 0, 1e6},
        o.patience);

  visit(Field{"seed", "same seed, same table, same options: same model"}, o.seed);
  visit(Field{"threads", "0 uses all cores; the model does not depend on it", 0, 1024}, o.threads);
}

/// Throws Error (argument) naming the first field that is out of its range or not finite.
void validate(const TrainOptions& options);

/// All fields as JSON text, and back: fields that the text does not name keep their value; a name
/// that is no field, or a value of the wrong type, throws Error (argument) that names it.
std::string to_json(const TrainOptions& options);
void apply_json(TrainOptions& options, const std::string& json, const std::string& place);

}  // namespace espalier
