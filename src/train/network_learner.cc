// SPDX-License-Identifier: Apache-2.0
#include "train/network_learner.h"

#include <fmt/format.h>

#include <utility>

#include "espalier/error.h"
#include "model/model_data.h"
#include "train/fit_state.h"
#include "train/initialize.h"
#include "train/streams.h"
#include "train/trainer.h"

namespace espalier {

namespace {

void require_fits(const std::string& what, const std::string& place) {
  if (what.empty()) return;
  throw Error(ErrorKind::format, fmt::format("{}: not a usable checkpoint: {}", place, what));
}

// One network from its first step, or from a state, to its best epoch.
class NetworkFit {
 public:
  NetworkFit(const Problem& problem, const Fit& fit)
      : p_(problem),
        fit_(fit),
        random_(
            Random(p_.options->seed).split(kMemberStream + static_cast<std::uint64_t>(fit.number))),
        network_(p_.architecture, input_wires(p_.schema), p_.options->monotone_calibrators,
                 random_.split(1), BuildLimits(), score_wires(p_.schema.label)),
        objective_(p_.schema.label, p_.train) {}

  std::optional<Member> run() {
    FitState earlier;
    if (fit_.state.empty()) {
      initialize(p_.train, p_.schema.label, p_.options, random_.split(2), network_,
                 fit_.team->ranks());
    } else {
      earlier = parse_fit_state(fit_.state, fit_.place);
      require_fits(restore(earlier.network, network_), fit_.place);
    }
    Trainer trainer(input(trainer), network_, random_.split(3));
    if (!fit_.state.empty()) resume(std::move(earlier), trainer);
    Epoch best = trainer.run();
    best.member = fit_.number;
    if (best.epoch == 0) return std::nullopt;
    return Member{.fitted = std::move(network_),
                  .history = std::move(history_),
                  .best = best,
                  .rows = trainer.rows_done()};
  }

 private:
  TrainerInput input(const Trainer& trainer) {
    const auto keep_state = [&] {
      fit_.keep_state(format_fit_state({state_of(network_), trainer.state(), history_}));
    };
    return {.options = &p_.options,
            .objective = &objective_,
            .train = &p_.train,
            .valid = &p_.valid,
            .team = fit_.team,
            .on_progress = [this, &trainer](std::int64_t,
                                            double loss) { report(trainer, loss, false); },
            .on_epoch =
                [this, &trainer](Epoch epoch) {
                  epoch.member = fit_.number;
                  history_.push_back(epoch);
                  report(trainer, epoch.train_loss, true);
                },
            .on_run =
                [this, keep_state] {
                  if (fit_.state_is_due()) keep_state();
                },
            .on_stop = keep_state,
            .runs_of_one_step = fit_.keeps_every_step,
            .many_rows = p_.many_rows};
  }

  void resume(FitState earlier, Trainer& trainer) {
    require_fits(trainer.resume(std::move(earlier.trainer)), fit_.place);
    history_ = std::move(earlier.history);
    report(trainer, 0, false);
  }

  void report(const Trainer& trainer, double loss, bool epoch_finished) const {
    fit_.report({.rows_done = trainer.rows_done(),
                 .rows_total = trainer.expected_rows(),
                 .loss = loss,
                 .last = history_.empty() ? Epoch{.member = fit_.number} : history_.back(),
                 .epoch_finished = epoch_finished});
  }

  const Problem& p_;
  const Fit& fit_;
  const Random random_;
  Network network_;
  const Objective objective_;
  std::vector<Epoch> history_;
};

}  // namespace

std::string NetworkLearner::obstacle(const Problem&) const { return {}; }

std::int64_t NetworkLearner::cost(const Problem& p) const {
  const auto rows = static_cast<std::int64_t>(p.train.num_rows);
  const std::int64_t steps = (rows + p.options->batch_size - 1) / p.options->batch_size;
  const bool stops_by_itself =
      p.options->schedule == Schedule::averaged && p.validation != Validation::none;
  return rows *
         (stops_by_itself ? expected_epochs(0, *p.options, steps) : p.options->epochs.value());
}

std::optional<Member> NetworkLearner::fit(const Problem& problem, const Fit& fit) const {
  return NetworkFit(problem, fit).run();
}

}  // namespace espalier
