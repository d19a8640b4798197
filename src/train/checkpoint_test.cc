// SPDX-License-Identifier: Apache-2.0
#include "train/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <tuple>

#include "core/bytes.h"
#include "core/file.h"
#include "espalier/error.h"
#include "espalier/simulate.h"
#include "model/model_file.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"
#include "train/fit_state.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

FitState small_state() {
  return {.network = {"cal(2) lin(1)", {1, 2, 3}, {0, 1}},
          .trainer = {.adam = {.mean = {1, 2, 3}, .variance = {4, 5, 6}, .steps_done = 9},
                      .epochs_done = 1,
                      .best = {.epoch = 1},
                      .best_params = {7, 8, 9},
                      .averages = {1, 2, 3},
                      .improved = 1,
                      .improved_metric = 0.5},
          .history = {{.epoch = 1}, {.epoch = 2, .valid_metric = std::nan("")}}};
}

Checkpoint small_checkpoint() {
  return {.fingerprint = {.version = "1.2.3", .options = {{"epochs", "3"}}, .columns = 7},
          .architecture = "cal(2) lin(1)",
          .choices = {{.setting = "trees", .value = "0", .why = "x", .alternatives = {"0", "1"}}},
          .members = {{MemberState::finished, "a model"},
                      {MemberState::running, format_fit_state(small_state())},
                      {}}};
}

TEST(Checkpoint, ReadsBackToTheSameBytes) {
  const std::string bytes = format_checkpoint(small_checkpoint());
  EXPECT_EQ(format_checkpoint(parse_checkpoint(bytes, "c")), bytes);
}

TEST(Checkpoint, EveryBitFlipAndEveryTruncationIsRefused) {
  const std::string bytes = format_checkpoint(small_checkpoint());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_THAT(error_of([&] { parse_checkpoint(bytes.substr(0, i), "c"); }),
                HasSubstr("c: not a usable checkpoint: "));
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      EXPECT_THAT(error_of([&] { parse_checkpoint(flipped, "c"); }),
                  HasSubstr("c: not a usable checkpoint: "));
    }
  }
}

// The checksum is right again, so only the reader stands between a wrong length and the memory.
TEST(Checkpoint, WrongLengthsUnderARightChecksumAreRefused) {
  const std::string bytes = format_checkpoint(small_checkpoint());
  int refused = 0;
  for (std::size_t i = 12; i + 16 <= bytes.size(); ++i) {
    std::string altered = bytes.substr(0, bytes.size() - 8);
    std::memset(altered.data() + i, 0x7f, 8);
    put(altered, checksum(altered));
    if (error_of([&] { parse_checkpoint(altered, "c"); }) != "no error") ++refused;
  }
  EXPECT_GT(refused, 50);
}

// A folder for each test, a table, and options that stop within an epoch as well as between two:
// 320 rows in batches of 32 are 10 steps per epoch, and progress is told every 16 steps.
class Resume : public testing::Test {
 protected:
  static Table loans(std::uint64_t seed = 1) { return simulate({.rows = 400, .seed = seed}); }

  static TrainOptions options() {
    return {.label = "default",
            .increasing = {"debt_ratio", "late_payments"},
            .decreasing = {"income", "years_employed"},
            .architecture = "cal(5) lin(6) cal(3) lat(3x2) lin(1)",
            .epochs = 5,
            .batch_size = 32,
            .threads = 1};
  }

  TrainControl control() const {
    return {.checkpoint = (folder_ / "run").string(), .checkpoint_seconds = 1e6};
  }

  std::string file() const { return (folder_ / "run" / "checkpoint").string(); }

  // Trains until the first report and stops there, so that the checkpoint is of that moment;
  // nothing if there is no model yet.
  std::optional<TrainResult> train_a_little(const TrainOptions& options,
                                            TrainControl control) const {
    std::stop_source stop;
    control.stop = stop.get_token();
    control.progress = [&, inner = control.progress](const Progress& progress) {
      if (inner) inner(progress);
      if (progress.rows_done > progress.rows_resumed || progress.epoch_finished)
        stop.request_stop();
    };
    try {
      return train(loans(), options, control);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::stopped) throw;
      return std::nullopt;
    }
  }

  void leave_a_checkpoint() const {
    const std::optional<TrainResult> result = train_a_little(options(), control());
    EXPECT_TRUE(!result || result->stopped);
    EXPECT_TRUE(fs::exists(file()));
  }

  std::string resume_error(const Table& table, const TrainOptions& options,
                           TrainControl control) const {
    control.resume = true;
    return error_of([&] { train(table, options, control); });
  }

  const TemporaryFolder folder_;
};

std::string bytes_of(const Model& model) { return format_model(model.data()); }

using EpochNumbers = std::tuple<int, int, double, double>;

std::vector<EpochNumbers> numbers_of(const std::vector<Epoch>& epochs) {
  std::vector<EpochNumbers> numbers;
  for (const Epoch& e : epochs)
    numbers.emplace_back(e.member, e.epoch, e.train_loss, e.valid_metric);
  return numbers;
}

TEST_F(Resume, StoppedAgainAndAgainARunEndsWithTheSameModel) {
  for (const int ensemble : {1, 2}) {
    for (const int patience : {0, 1}) {
      TrainOptions options = Resume::options();
      options.ensemble = ensemble;
      options.patience = patience;
      if (patience > 0) options.learning_rate = 0.3;
      const TrainResult whole = train(loans(), options);
      TrainControl control = Resume::control();
      control.resume = true;
      int lives = 1;
      std::optional<TrainResult> result = train_a_little(options, control);
      for (; !result || result->stopped; ++lives) {
        options.threads = 1 + lives % 3;
        result = train_a_little(options, control);
      }
      EXPECT_GT(lives, 2);  // members that are fitted side by side all go on
      EXPECT_EQ(bytes_of(result->model), bytes_of(whole.model));
      EXPECT_EQ(numbers_of(result->history), numbers_of(whole.history));
      EXPECT_EQ(numbers_of(result->best), numbers_of(whole.best));
      remove_checkpoint(control.checkpoint);
    }
  }
}

TEST_F(Resume, ACheckpointOfEveryStepLeadsToTheSameModel) {
  const std::string whole = bytes_of(train(loans(), options()).model);
  TrainControl control = Resume::control();
  control.checkpoint_seconds = 0;
  std::vector<std::string> states;
  control.progress = [&](const Progress&) {
    if (fs::exists(file())) states.emplace_back(read_file(file()).view());
  };
  EXPECT_EQ(bytes_of(train(loans(), options(), control).model), whole);
  EXPECT_THAT(states, SizeIs(8));  // steps 16, 32, 48 and five epochs
  control.progress = {};
  control.resume = true;
  for (const std::string& state : states) {
    write_file_atomically(file(), state);
    EXPECT_EQ(bytes_of(train(loans(), options(), control).model), whole);
  }
}

TEST_F(Resume, ProgressGoesOnWhereItWas) {
  std::vector<std::int64_t> whole;
  train(loans(), options(), {.progress = [&](const Progress& progress) {
          if (!progress.epoch_finished) whole.push_back(progress.rows_done);
        }});
  leave_a_checkpoint();  // after the first epoch: step 10 of 50
  std::vector<Progress> resumed;
  TrainControl control = Resume::control();
  control.resume = true;
  control.progress = [&](const Progress& progress) { resumed.push_back(progress); };
  train(loans(), options(), control);
  EXPECT_EQ(resumed.front().rows_done, 320);
  EXPECT_EQ(resumed.front().rows_resumed, 320);
  EXPECT_EQ(resumed.front().last.epoch, 1);
  EXPECT_FALSE(resumed.front().epoch_finished);
  std::vector<std::int64_t> rows;
  for (const Progress& progress : resumed) {
    EXPECT_EQ(progress.rows_total, 5 * 320);
    if (!progress.epoch_finished && progress.rows_done > 320) rows.push_back(progress.rows_done);
  }
  EXPECT_EQ(rows, whole);
}

TEST_F(Resume, BeginsWhereThereIsNothingToResume) {
  TrainControl control = Resume::control();
  control.resume = true;
  const std::string whole = bytes_of(train(loans(), options()).model);
  EXPECT_EQ(bytes_of(train(loans(), options(), control).model), whole);
}

TEST_F(Resume, ACheckpointIsNotOverwrittenUnasked) {
  leave_a_checkpoint();
  const std::string before(read_file(file()).view());
  EXPECT_THAT(error_of([&] { train(loans(), options(), control()); }), HasSubstr("--resume"));
  EXPECT_EQ(read_file(file()).view(), before);
}

TEST_F(Resume, RefusesAnotherRunAndSaysWhatDiffers) {
  leave_a_checkpoint();
  TrainOptions other = options();
  other.epochs = 6;
  EXPECT_THAT(resume_error(loans(), other, control()), HasSubstr("epochs was 5 and is 6 now"));
  other = options();
  other.increasing = {"debt_ratio"};
  EXPECT_THAT(resume_error(loans(), other, control()), HasSubstr("increasing was ["));
  EXPECT_THAT(resume_error(loans(2), options(), control()),
              AllOf(HasSubstr("the columns of the training data"),
                    HasSubstr("; resume with the data and options of that run")));

  Table table = loans();
  std::swap(table.columns[0].numbers[0], table.columns[0].numbers[1]);
  EXPECT_THAT(resume_error(table, options(), control()), HasSubstr("rows differ"));
  TrainControl control = Resume::control();
  const Table valid = loans(3);
  control.valid = &valid;
  EXPECT_NE(resume_error(loans(), options(), control), "no error");
}

// More rows make training choose other options. The options that the caller has set come first.
TEST_F(Resume, NamesOtherDataRatherThanWhatTrainingChoseForThem) {
  TrainOptions open = options();
  open.architecture = "dln";
  open.epochs = open.batch_size = {};
  open.learning_rate = {};
  open.interactions = {"auto"};
  train_a_little(open, control());
  for (const std::int64_t rows : {300, 6000, 25000}) {
    const Table other = simulate({.rows = rows, .seed = 9});
    const std::string error = resume_error(other, open, control());
    EXPECT_THAT(error, HasSubstr("of the training data")) << rows;
    TrainOptions changed = open;
    changed.valid_fraction = 0.3;
    EXPECT_THAT(resume_error(other, changed, control()), HasSubstr("valid_fraction was")) << rows;
  }
  TrainOptions set = open;
  set.epochs = 77;
  EXPECT_THAT(resume_error(loans(), set, control()), HasSubstr("epochs was "));
}

TEST_F(Resume, RefusesOtherValidationRows) {
  Table valid = loans(3);
  TrainControl control = Resume::control();
  control.valid = &valid;
  train_a_little(options(), control);
  for (float& income : valid.columns[0].numbers) income += 1000;
  EXPECT_THAT(resume_error(loans(), options(), control), HasSubstr("the validation rows differ"));
}

TEST_F(Resume, RefusesADamagedCheckpoint) {
  leave_a_checkpoint();
  std::string bytes(read_file(file()).view());
  bytes[bytes.size() / 2] ^= 1;
  write_file_atomically(file(), bytes);
  EXPECT_THAT(resume_error(loans(), options(), control()), HasSubstr("checksum"));
}

TEST_F(Resume, RefusesAStateThatDoesNotFitTheRun) {
  leave_a_checkpoint();
  const Checkpoint good = parse_checkpoint(read_file(file()).view(), "c");
  const auto error = [&](auto&& change) {
    Checkpoint bad = good;
    change(bad);
    write_file_atomically(file(), format_checkpoint(bad));
    return resume_error(loans(), options(), control());
  };
  EXPECT_EQ(error([](Checkpoint&) {}), "no error");
  const auto wrong = HasSubstr("not a usable checkpoint: ");
  const auto state_error = [&](auto&& change) {
    return error([&](Checkpoint& c) {
      FitState state = parse_fit_state(c.members.front().bytes, "c");
      change(state);
      c.members.front().bytes = format_fit_state(state);
    });
  };
  EXPECT_THAT(state_error([](FitState& s) { s.trainer.adam.mean.pop_back(); }), wrong);
  EXPECT_THAT(state_error([](FitState& s) { s.trainer.best_params.clear(); }), wrong);
  EXPECT_THAT(state_error([](FitState& s) { s.trainer.adam.steps_done = INT64_MIN; }), wrong);
  EXPECT_THAT(state_error([](FitState& s) { s.trainer.adam.steps_done = 21; }), wrong);
  EXPECT_THAT(state_error([](FitState& s) { s.trainer.epochs_done = 6; }), wrong);
  EXPECT_THAT(state_error([](FitState& s) { s.trainer.averages.push_back(0); }), wrong);
  EXPECT_THAT(state_error([](FitState& s) { s.trainer.improved = -1; }), wrong);
  EXPECT_THAT(state_error([](FitState& s) { s.trainer.best.epoch = 2; }), wrong);
  EXPECT_THAT(state_error([](FitState& s) { s.network.params.pop_back(); }), wrong);
  EXPECT_THAT(state_error([](FitState& s) { s.network.constants.push_back(0); }), wrong);
  EXPECT_THAT(state_error([](FitState& s) { s.network.architecture = "sum"; }), wrong);
  EXPECT_THAT(error([](Checkpoint& c) { c.members.front().bytes += "x"; }), wrong);
  EXPECT_THAT(error([](Checkpoint& c) { c.members.push_back(c.members.front()); }), wrong);
  EXPECT_THAT(error([](Checkpoint& c) { c.members.front().stage = MemberState::finished; }),
              HasSubstr("not a usable"));
}

TEST_F(Resume, AFailingCheckpointIsOneWarningAndNoLoss) {
  const std::string whole = bytes_of(train(loans(), options()).model);
  TrainControl control = Resume::control();
  control.checkpoint_seconds = 0;
  std::vector<std::string> warnings;
  control.warning = [&](const std::string& text) { warnings.push_back(text); };
  control.progress = [&](const Progress&) { fs::remove_all(control.checkpoint); };
  EXPECT_EQ(bytes_of(train(loans(), options(), control).model), whole);
  ASSERT_THAT(warnings, SizeIs(1));
  EXPECT_THAT(warnings[0], HasSubstr("no checkpoint: cannot write " + file()));
}

TEST_F(Resume, RefusesControlsThatMakeNoSense) {
  EXPECT_THAT(error_of([&] { train(loans(), options(), {.resume = true}); }), HasSubstr("resume"));
  TrainControl control = Resume::control();
  control.checkpoint_seconds = -1;
  EXPECT_THAT(error_of([&] { train(loans(), options(), control); }),
              HasSubstr("checkpoint_seconds: -1"));
  std::ofstream(folder_ / "run") << "a file";
  EXPECT_THAT(error_of([&] { train(loans(), options(), Resume::control()); }),
              HasSubstr("cannot make the folder"));
}

}  // namespace
}  // namespace espalier
