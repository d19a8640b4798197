// SPDX-License-Identifier: Apache-2.0
#include "train/members.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "core/large_vector.h"
#include "espalier/error.h"
#include "model/model_data.h"
#include "model/model_file.h"
#include "train/network_learner.h"
#include "train/policy.h"
#include "train/side_by_side.h"
#include "train/state_bytes.h"
#include "train/trees.h"

namespace espalier {

namespace {

const NetworkLearner kNetworks;
const TreeLearner kTrees;

// The problems of members that hold out different rows, each made when a fit needs it and freed
// when none does.
class Parts {
 public:
  Parts(const Problem& whole, const std::optional<Rotation>& rotation, int count)
      : whole_(whole), rotation_(rotation), parts_(static_cast<std::size_t>(count)) {}

  std::shared_ptr<const Problem> of(int number, Ranks* ranks) {
    if (!rotation_) return {std::shared_ptr<void>(), &whole_};
    Part& part = parts_[static_cast<std::size_t>(number - 1)];
    const std::lock_guard lock(part.mutex);
    std::shared_ptr<const Problem> problem = part.problem.lock();
    if (!problem) problem = std::make_shared<const Problem>(rotation_->part(number, ranks));
    part.problem = problem;
    return problem;
  }

 private:
  struct Part {
    std::mutex mutex;
    std::weak_ptr<const Problem> problem;
  };

  const Problem& whole_;
  const std::optional<Rotation>& rotation_;
  std::vector<Part> parts_;
};

// A finished member in a checkpoint: a model file with one member, and how it was fitted.
std::string format_member(const Problem& p, Member& member) {
  ModelData model{.schema = p.schema,
                  .calibrators = p.options->monotone_calibrators,
                  .members = {},
                  .training_json = "{}"};
  model.members.push_back(std::move(member.fitted));
  StateWriter writer;
  writer(format_model(model), "member");
  member.fitted = std::move(model.members.front());
  writer.list(member.history, "history");
  visit_fields(member.best, writer);
  writer(member.rows, "rows");
  return std::move(writer.out);
}

Member parse_member(const std::string& bytes, const std::string& place) {
  Reader reader(bytes, place, "checkpoint");
  StateReader visit(reader);
  std::string model;
  visit(model, "member");
  Member member{.fitted =
                    std::move(parse_model(model, place, Inequalities::must_hold).members.front())};
  visit.list(member.history, "history");
  visit_fields(member.best, visit);
  visit(member.rows, "rows");
  if (reader.left() > 0) reader.fail(fmt::format("{} bytes too many", reader.left()));
  return member;
}

class MemberFits {
 public:
  MemberFits(const Problem& problem, const std::optional<Rotation>& rotation, Run& run)
      : p_(problem), run_(run), parts_(problem, rotation, problem.options->ensemble) {
    const TrainOptions& options = *p_.options;
    const bool has_trees = options.trees > 0 && options.tree_share != 0;
    const int forests =
        has_trees ? forests_beside(options.ensemble, p_.train.num_rows, rotation.has_value()) : 0;
    for (int number = 1; number <= options.ensemble; ++number) {
      add_job(kNetworks, number);
      if (number <= forests) add_job(kTrees, number);
    }
    std::vector<MemberState>& states = run_.checkpoint.members;
    if (states.empty()) states.resize(jobs_.size());
    if (states.size() != jobs_.size()) fail("it has other members");
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      if (states[j].stage != MemberState::waiting) is_resumed_ = true;
      if (states[j].stage != MemberState::finished) ++unfinished_;
    }
    progress_.options = &options;
    progress_.metric = options.metric;
  }

  Members run() {
    const int workers = num_workers();
    std::stop_source stop;
    const std::stop_callback on_stop(run_.control.stop, [&] { stop.request_stop(); });
    run_side_by_side(static_cast<int>(jobs_.size()), workers, stop, [&](int j, const Post& post) {
      if (workers == 1) return work(j, run_.team, post);
      std::optional<SpillTo> spill;
      if (!run_.control.scratch.empty()) spill.emplace(run_.control.scratch);
      Team own(std::max(1, run_.team.pool().size() / workers), nullptr, stop.get_token());
      work(j, own, post);
    });
    return members();
  }

 private:
  struct Job {
    const Learner* learner;
    int number;
    std::optional<FittedMember> result = {};  // of the worker, until all are done
    double seconds = 0;
    FitProgress now = {};  // of the calling thread
    bool has_reported = false;
  };

  void add_job(const Learner& learner, int number) {
    jobs_.push_back({.learner = &learner, .number = number});
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorKind::format,
                fmt::format("{}: not a usable checkpoint: {}", run_.file.path(), why));
  }

  // Ranks meet in the same order; a limit of memory, and a checkpoint of every step, are for one
  // fit.
  int num_workers() const {
    const bool one_by_one =
        run_.team.ranks() != nullptr || run_.control.memory > 0 || run_.file.wants_every_step();
    return one_by_one ? 1 : std::clamp(unfinished_, 1, run_.team.pool().size());
  }

  // On a worker. Its messages are run by the calling thread.
  void work(int j, Team& team, const Post& post) {
    Job& job = jobs_[static_cast<std::size_t>(j)];
    const MemberState begin = run_.checkpoint.members[static_cast<std::size_t>(j)];
    if (j > 0 && begin.stage != MemberState::finished && team.stop_requested()) return;
    const Stopwatch watch;
    const std::shared_ptr<const Problem> part = parts_.of(job.number, team.ranks());
    std::optional<Member> member;
    if (begin.stage == MemberState::finished) {
      if (!begin.bytes.empty()) member = parse_member(begin.bytes, run_.file.path());
      post([this, j, rows = member ? member->rows : 0] { tell(j, {rows, rows}, true); });
    } else {
      CheckpointFile::Clock::time_point kept = CheckpointFile::Clock::now();
      const auto keep = [&](MemberState state) {
        kept = CheckpointFile::Clock::now();
        post([this, j, state = std::move(state)] { keep_state(j, state); });
      };
      const Fit fit{.number = job.number,
                    .team = &team,
                    .state = begin.bytes,
                    .place = run_.file.path(),
                    .report = [&](const FitProgress& now) { post([=, this] { tell(j, now); }); },
                    .state_is_due = [&] { return run_.file.due(kept); },
                    .keep_state =
                        [&](std::string bytes) {
                          keep({MemberState::running, std::move(bytes)});
                        },
                    .keeps_every_step = run_.file.wants_every_step()};
      member = job.learner->fit(*part, fit);
      if (run_.file.wanted() && !team.stop_requested())
        keep({MemberState::finished, member ? format_member(p_, *member) : std::string()});
    }
    if (member) {
      job.result = FittedMember{.number = job.number, .member = *std::move(member)};
      if (part->valid.num_rows > 0)
        job.result->valid_rows =
            member_outputs(job.result->member.fitted, p_.schema, part->valid, team);
    }
    job.seconds = watch.seconds();
  }

  void keep_state(int j, const MemberState& state) {
    if (!run_.file.wanted()) return;
    run_.checkpoint.members[static_cast<std::size_t>(j)] = state;
    run_.file.write(run_.checkpoint);
  }

  void tell(int j, const FitProgress& now, bool is_over = false) {
    Job& job = jobs_[static_cast<std::size_t>(j)];
    if (!std::exchange(job.has_reported, true) && is_resumed_ &&
        run_.checkpoint.members[static_cast<std::size_t>(j)].stage != MemberState::waiting)
      progress_.rows_resumed += now.rows_done;
    job.now = now;
    progress_.rows_done = progress_.rows_total = run_.rows_before;
    for (const Job& each : jobs_) {
      progress_.rows_done += each.now.rows_done;
      progress_.rows_total += std::max(each.now.rows_done, expected_rows(each));
    }
    if (is_over || !run_.control.progress) return;
    progress_.member = job.number;
    progress_.last = now.last;
    progress_.loss = now.loss;
    progress_.trees = now.trees;
    progress_.epoch_finished = now.epoch_finished;
    progress_.seconds = run_.watch.seconds();
    run_.control.progress(progress_);
  }

  // A fit that has not begun is taken to be as long as the longest of its learner.
  std::int64_t expected_rows(const Job& job) const {
    if (job.has_reported) return job.now.rows_total;
    std::int64_t rows = 0;
    for (const Job& each : jobs_) {
      if (each.learner == job.learner) rows = std::max(rows, each.now.rows_total);
    }
    return rows > 0 ? rows : job.learner->cost(p_);
  }

  Members members() {
    Members members;
    bool lacks_forest = false;
    for (Job& job : jobs_) {
      const bool is_forest = job.learner == &kTrees;
      if (is_forest) members.tree_seconds += job.seconds;
      if (job.result) {
        (is_forest ? members.forests : members.networks).push_back(*std::move(job.result));
      } else {
        lacks_forest |= is_forest;
      }
    }
    if (lacks_forest) members.forests.clear();
    return members;
  }

  const Problem& p_;
  Run& run_;
  Parts parts_;
  std::vector<Job> jobs_;
  int unfinished_ = 0;
  bool is_resumed_ = false;
  Progress progress_{};
};

}  // namespace

Members fit_members(const Problem& problem, const std::optional<Rotation>& rotation, Run& run) {
  return MemberFits(problem, rotation, run).run();
}

}  // namespace espalier
