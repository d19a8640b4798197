// SPDX-License-Identifier: Apache-2.0
// The paper is You, Ding, Canini, Pfeifer and Gupta, "Deep Lattice Networks and Partial Monotonic
// Functions" (2017), its tables 3 to 6. The rows of the other tables are those printed in Liu et
// al. (2020), Nolte et al. (2023), Runje and Shankaranarayana (2023) and Kim and Lee (2024).
#include "reproduce/tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "espalier/error.h"
#include "reproduce/rater_teacher.h"

namespace espalier {
namespace {

constexpr const char* kDln = "Cal-Lin-Cal-EnsLat-Cal-Lin";
constexpr const char* kDlnFree = "Cal-Lin-Cal-EnsLat-Cal-Lin, unconstrained";
constexpr const char* kCrystals = "Crystals";
constexpr const char* kMinMax = "Min-Max network";
constexpr const char* kMonotonicDnn = "Monotonic DNN";

constexpr const char* kUci = "https://archive.ics.uci.edu/dataset/2/adult";
constexpr const char* kNolte =
    "the experiments of Nolte, Kitouni and Williams, Expressive Monotonic Neural Networks (2023)";

const std::vector<Metric> kClassification = {Metric::log_loss, Metric::auc};
const std::vector<Protocol> kOneSplit = {Protocol::split};
const std::vector<Protocol> kSmall = {Protocol::split, Protocol::cross_validation,
                                      Protocol::test_selected};

const std::vector<std::string> kPieces = {"10x5", "20x5", "40x5", "70x5", "70x9", "100x5"};
const std::vector<std::string> kUnits = {"1x50", "1x200", "2x50", "2x100", "3x50"};
const std::vector<std::string> kFewPieces = {"4x3", "8x3", "8x5", "20x3", "20x5"};
const std::vector<std::string> kFewUnits = {"1x10", "1x50", "2x10", "2x30"};

ModelSpec dln(const std::string& size) { return {kDln, "dln", size}; }
ModelSpec unconstrained_dln(const std::string& size) {
  return {.name = kDlnFree, .preset = "dln", .size = size, .constrained = false};
}
ModelSpec crystals(const std::string& size) { return {kCrystals, "crystals", size}; }
ModelSpec min_max(const std::string& size) { return {kMinMax, "min-max", size, kPieces}; }
ModelSpec monotonic_dnn(const std::string& size) {
  return {kMonotonicDnn, "monotonic-dnn", size, kUnits};
}
// The published form behind a calibrator for every column; it was not published so.
ModelSpec calibrated(ModelSpec model) {
  model.name += ", calibrated";
  model.preset += "-calibrated";
  return model;
}

const std::vector<DataFile> kAdultFiles = {
    {"adult/adult.data", "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"},
    {"adult/adult.test", "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"}};

TrainOptions adult_options() {
  return {.label = "income",
          .increasing = {"capital-gain", "hours-per-week", "education-num", "sex"},
          .order = {"sex=Female<Male"},
          .task = Task::classification,
          .positive = ">50K"};
}

Experiment adult() {
  return {.name = "adult",
          .title = "Adult",
          .about =
              "UCI Adult as in the paper: a fifth of the training file is held out, another "
              "one for each seed. Categories are read as they are, which gives fewer "
              "parameters than the paper's 90 one-hot columns.",
          .published = "paper",
          .source = kUci,
          .files = kAdultFiles,
          .read = read_adult,
          .options = adult_options(),
          .metric = Metric::accuracy,
          .also = kClassification,
          .protocols = kOneSplit,
          .rows = {{kDln, 86.08, 0, 86.50, "70x5", 40549},
                   {kCrystals, 85.87, 0, 86.02, "60x4", 3360},
                   {kMinMax, 84.63, 0, 85.28, "70x9", 57330}},
          .models = {dln("70x5"),
                     crystals("60x4"),
                     min_max("70x9"),
                     calibrated(min_max("70x9")),
                     {"Cal-Lin-Cal-EnsLat-Cal-Lin, to the letter", "dln-paper", "70x5"},
                     unconstrained_dln("70x5")}};
}

Experiment user_intent() {
  return {.name = "user-intent",
          .title = "User Intent (stand-in)",
          .about =
              "The paper's data (49 features, 19 monotone, test rows from other countries) "
              "was never published. Stand-in with the same shift: UCI Adult, people from the "
              "United States to train, from other known countries to test.",
          .published = "paper, its own data",
          .source = kUci,
          .files = kAdultFiles,
          .read = read_adult_abroad,
          .options = adult_options(),
          .metric = Metric::accuracy,
          .also = kClassification,
          .protocols = kOneSplit,
          .rows = {{kDln, 72.48, 0, 74.39, "30x5", 27903},
                   {kCrystals, 72.01, 0, 74.24, "80x7", 15840},
                   {"Cal-Lin-Cal-EnsLat-Cal-Lat", 72.59, 0, 73.97, "5x10", 16893},
                   {kMinMax, 72.02, 0, 73.89, "90x7", 31500},
                   {"Cal-Lin-Cal-Lat", 71.73, 0, 73.88, "1x10", 7303}},
          .models = {dln("30x5"),
                     crystals("80x7"),
                     {"Cal-Lin-Cal-EnsLat-Cal-Lat", "dln-lattice", "5x10"},
                     min_max("90x7"),
                     calibrated(min_max("90x7")),
                     {"Cal-Lin-Cal-Lat", "dln-one-lattice", "1x10"},
                     unconstrained_dln("30x5")}};
}

Experiment usefulness() {
  return {.name = "usefulness",
          .title = "Usefulness (stand-in)",
          .about =
              "The paper's data (9 monotone features) was never published. Stand-in of the "
              "same size: Give Me Some Credit, its 8 features with a known direction, cut to "
              "62,220 rows to train, 7,764 to validate and 7,919 to test. One label in 15 is "
              "positive: compare by AUC and log loss.",
          .published = "paper, its own data",
          .source = "https://www.kaggle.com/c/GiveMeSomeCredit",
          .files = {{"gmsc/cs-training.csv.gz",
                     "48675be4d5b767296db08cc88e230f7f5e0c1dc0502cca4971c40f2a99024c08"}},
          .read = read_credit,
          .options = {.label = "SeriousDlqin2yrs",
                      .increasing = {"RevolvingUtilizationOfUnsecuredLines",
                                     "NumberOfTime30-59DaysPastDueNotWorse",
                                     "NumberOfTime60-89DaysPastDueNotWorse",
                                     "NumberOfTimes90DaysLate", "DebtRatio", "NumberOfDependents"},
                      .decreasing = {"age", "MonthlyIncome"},
                      .task = Task::classification},
          .metric = Metric::accuracy,
          .also = kClassification,
          .protocols = kOneSplit,
          .rows = {{kDln, 65.26, 0, 66.08, "50x9", 81051},
                   {kCrystals, 65.13, 0, 65.45, "80x6", 9920},
                   {kMinMax, 63.65, 0, 64.62, "70x6", 4200},
                   {kMonotonicDnn, 62.88, 0, 64.27, "1x1000", 2012}},
          .models = {dln("50x9"), crystals("80x6"), min_max("70x6"), calibrated(min_max("70x6")),
                     monotonic_dnn("1x1000"), calibrated(monotonic_dnn("1x1000")),
                     unconstrained_dln("50x9")}};
}

Experiment rater_score() {
  return {
      .name = "rater-score",
      .title = "Rater Score (simulated stand-in)",
      .about =
          "The paper's data (10 monotone features, means of 1 to 5 raters) was never "
          "published. Stand-in of the same shape: simulated ratings whose expected score "
          "rises with all 10 inputs, most sharply where two or three of them are high "
          "together. --full makes as many rows as the paper had (1,565,468 "
          "to train), else a twentieth.",
      .published = "paper, its own data",
      .read = make_ratings,
      .options = {.label = kRaterScore, .increasing = rater_signals(), .task = Task::regression},
      .metric = Metric::mse,
      .protocols = kOneSplit,
      .rows = {{kDln, 1.2096, 0, 1.2078, "50x9", 81601},
               {kCrystals, 1.2109, 0, 1.2101, "10x7", 1980},
               {kMinMax, 1.3447, 0, 1.3474, "100x5", 5500},
               {kMonotonicDnn, 1.3939, 0, 1.3920, "20x100", 2341}},
      .models = {dln("50x9"),
                 crystals("10x7"),
                 min_max("100x5"),
                 calibrated(min_max("100x5")),
                 monotonic_dnn("20x100"),
                 calibrated(monotonic_dnn("20x100")),
                 {"Cal-Lin, a sum of curves", "calibrated-linear", ""},
                 unconstrained_dln("50x9")}};
}

// Models without a published size, for tables of a few hundred or thousand rows.
std::vector<ModelSpec> small_models() {
  return {dln(""),
          crystals(""),
          {"Random lattices", "random-lattices", ""},
          {kMinMax, "min-max", "", kFewPieces},
          {kMonotonicDnn, "monotonic-dnn", "", kFewUnits},
          unconstrained_dln("")};
}

Experiment compas() {
  return {.name = "compas",
          .title = "COMPAS",
          .about = "Recidivism within two years.",
          .published = "published",
          .source = kNolte,
          .files = {{"compas/train_compas.csv",
                     "dbf1725e3c3312e8daa21bf885e812c9f66abe975bb900a49e6220f757165120"},
                    {"compas/test_compas.csv",
                     "17f80dcd363a168335b09cfe29db1b095f6014815ac9fdfd7e247408cf63165c"}},
          .read = read_pair,
          .options = {.label = "ground_truth",
                      .increasing = {"priors_count", "juv_fel_count", "juv_misd_count",
                                     "juv_other_count"},
                      .task = Task::classification},
          .metric = Metric::accuracy,
          .also = kClassification,
          .protocols = kSmall,
          .rows = {{kDln, 67.9, 0.3},
                   {kCrystals, 66.3, 0.1},
                   {kMinMax, 67.8, 0.1},
                   {kMonotonicDnn, 67.3, 0.9},
                   {"XGBoost, monotone", 68.5, 0.1},
                   {"Certified monotone nets (2020)", 68.8, 0.2},
                   {"Lipschitz monotone nets (2023)", 69.3, 0.1},
                   {"Constrained monotone nets (2023)", 69.2, 0.2},
                   {"Scalable monotone nets (2024)", 69.3, 0.9},
                   {"MonoKAN (2024), its result files", 68.96, 0.05}},
          .models = small_models()};
}

Experiment blog() {
  return {.name = "blog",
          .title = "Blog Feedback",
          .about =
              "UCI BlogFeedback: comments of the next day, scaled. The test rows are later "
              "than the others, so there is no cross-validation. Crystals "
              "would try every pair of its 276 features and is left out.",
          .published = "published",
          .source = kNolte,
          .files = {{"blog/train_blog.csv.gz",
                     "316ec5cfe7dfb406d80323ad03d4797b0a473b9cfd5c37a910d772797bb1b015"},
                    {"blog/test_blog.csv.gz",
                     "c15e016b032444c5ec82a71216791eb0caf702fbc20b0c3373193754a659af6c"}},
          .read = read_pair,
          .options = {.label = "ground_truth",
                      .increasing = {"A51", "A52", "A53", "A54", "A56", "A57", "A58", "A59"},
                      .task = Task::regression},
          .metric = Metric::rmse,
          .protocols = {Protocol::split, Protocol::test_selected},
          .rows = {{kDln, 0.161, 0.001},
                   {kCrystals, 0.164, 0.002},
                   {kMinMax, 0.163, 0.001},
                   {kMonotonicDnn, 0.168, 0.001},
                   {"XGBoost, monotone", 0.176, 0.005},
                   {"Certified monotone nets (2020)", 0.158, 0.001},
                   {"Lipschitz monotone nets (2023)", 0.160, 0.001},
                   {"Constrained monotone nets (2023)", 0.156, 0.001},
                   {"Scalable monotone nets (2024)", 0.150},
                   {"MonoKAN (2024), its result files", 0.1553, 0.0003}},
          .models = {dln(""),
                     {"Random lattices", "random-lattices", ""},
                     min_max(""),
                     monotonic_dnn(""),
                     unconstrained_dln("")}};
}

Experiment auto_mpg() {
  return {.name = "auto-mpg",
          .title = "Auto MPG",
          .about = "UCI Auto MPG: miles per gallon.",
          .published = "published",
          .source = kNolte,
          .files = {{"auto_mpg/train.csv",
                     "651719768d4bfca741847889777478b278dad02343acce51729034b78da702c9"},
                    {"auto_mpg/test.csv",
                     "a0a382c4cc2bbf4f95ad89842c71867ac4afbac40532d01dc78c9b83a273ef4d"}},
          .read = read_pair,
          .options = {.label = "MPG",
                      .decreasing = {"Displacement", "Horsepower", "Weight"},
                      .task = Task::regression},
          .metric = Metric::mse,
          .protocols = kSmall,
          .tune_folds = 5,
          .rows = {{kDln, 13.34, 2.42},
                   {kMinMax, 10.14, 1.54},
                   {"Lipschitz monotone nets (2023)", 7.58, 1.20},
                   {"Constrained monotone nets (2023)", 8.37, 0.08},
                   {"Scalable monotone nets (2024)", 7.44, 1.20},
                   {"Sartor et al. (2025)", 7.34},
                   {"MonoKAN (2024), its result files", 6.18, 0.03}},
          .models = small_models()};
}

Experiment heart() {
  return {.name = "heart",
          .title = "Heart Disease",
          .about = "UCI Heart Disease (Cleveland).",
          .published = "published",
          .source = kNolte,
          .files = {{"heart/heart_train.csv",
                     "ee7d8a19680186f9f676490effca221cb9794eba298e00e922a79f60a1474597"},
                    {"heart/heart_test.csv",
                     "0454aeb41092b0b54d8e40b254700f16c79857ad48376bf2bf9be608944e6d1b"}},
          .read = read_pair,
          .options = {.label = "target",
                      .increasing = {"trestbps", "chol"},
                      .task = Task::classification},
          .metric = Metric::accuracy,
          .also = kClassification,
          .protocols = kSmall,
          .tune_folds = 5,
          .rows = {{kDln, 86, 2},
                   {kMinMax, 75, 4},
                   {"Lipschitz monotone nets (2023)", 89.6, 1.9},
                   {"Constrained monotone nets (2023)", 89},
                   {"Scalable monotone nets (2024)", 88, 4},
                   {"Sartor et al. (2025)", 94},
                   {"MonoKAN (2024), its result files", 88.52}},
          .models = small_models()};
}

}  // namespace

std::span<const Experiment> experiments() {
  static const std::vector<Experiment> all = {adult(),  user_intent(), usefulness(), rater_score(),
                                              compas(), blog(),        auto_mpg(),   heart()};
  return all;
}

const Experiment& find_experiment(const std::string& name) {
  std::string names;
  for (const Experiment& experiment : experiments()) {
    if (experiment.name == name) return experiment;
    names += (names.empty() ? "" : ", ") + experiment.name;
  }
  throw Error(ErrorKind::argument,
              fmt::format("there is no table '{}'; wanted one of {}", name, names));
}

}  // namespace espalier
