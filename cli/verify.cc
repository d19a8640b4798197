// SPDX-License-Identifier: Apache-2.0
// espalier verify MODEL: checks every inequality and searches for counter-examples.
#include <fmt/format.h>

#include "commands.h"
#include "espalier/certificate.h"
#include "espalier/text.h"
#include "files.h"
#include "flags.h"
#include "output.h"
#include "progress.h"

namespace espalier {
namespace {

struct VerifyFlags {
  std::string model;
  VerifyOptions options = {.pairs = 100'000};
  bool json = false;
};

std::string names(const std::vector<std::string>& list) {
  return list.empty() ? "none" : escape_controls(fmt::format("{}", fmt::join(list, ", ")));
}

std::string verdict(const Certificate& proof) {
  if (!proof.holds()) return "NOT monotone\n";
  const bool asked =
      !proof.increasing.empty() || !proof.decreasing.empty() || !proof.levels.empty();
  return asked ? "monotone: proved\n" : "monotone: no feature was asked to be\n";
}

std::string proof_text(const Certificate& proof) {
  std::string text =
      fmt::format("model       {}\nincreasing  {}\ndecreasing  {}\n", proof.model_hash,
                  names(proof.increasing), names(proof.decreasing));
  if (!proof.levels.empty()) text += fmt::format("levels      {}\n", names(proof.levels));
  for (const LayerProof& layer : proof.layers) {
    text += fmt::format("{}: {} inequalities, {} violated\n", layer.layer, layer.inequalities,
                        layer.violations);
  }
  text += fmt::format("total: {} inequalities, {} violated, tolerance 0\n", proof.inequalities,
                      proof.violations);
  if (proof.pairs > 0) {
    text += fmt::format("hunt: {} pairs of rows predicted, {} fell, largest drop {}\n", proof.pairs,
                        proof.pair_violations, proof.largest_drop);
    if (proof.thresholds > 0)
      text += fmt::format("hunt: these step across {} of {} tree thresholds\n",
                          proof.thresholds_crossed, proof.thresholds);
    if (!proof.levels.empty())
      text += fmt::format("hunt: in these rows the levels crossed {} times\n", proof.crossings);
  }
  for (const std::string& culprit : proof.culprits)
    text += fmt::format("violated: {}\n", escape_controls(culprit));
  return text + verdict(proof);
}

int run_verify(VerifyFlags flags) {
  check_files({.inputs = {{"the model", flags.model}}});
  if (flags.options.pairs == 0)
    warn_of_idle_flags({{"--seed", flags.options.seed != VerifyOptions().seed}}, "--pairs is 0");
  CountBar bar("pairs", flags.options.pairs);
  flags.options.progress = [&bar](std::size_t pairs) { bar.show(pairs); };
  const Certificate proof = verify_file(flags.model, flags.options);
  bar.clear();
  if (flags.json) {
    print_json(json_of(proof));
  } else {
    print(proof_text(proof));
  }
  if (proof.holds()) return 0;
  const std::string what =
      proof.violations > 0
          ? fmt::format("{} of {} inequalities are violated", proof.violations, proof.inequalities)
      : proof.pair_violations > 0
          ? fmt::format("{} of {} pairs fell", proof.pair_violations, proof.pairs)
          : fmt::format("in {} of {} rows levels crossed", proof.crossings, proof.pairs);
  tell(fmt::format("espalier: {}: NOT monotone: {}, first: {}", flags.model, what,
                   proof.culprits.empty() ? "unknown" : proof.culprits.front()));
  return 1;
}

}  // namespace

Run define_verify(CLI::App& app) {
  const auto flags = std::make_shared<VerifyFlags>();
  app.add_option("MODEL", flags->model, "a model file")->required();
  add_field(
      app,
      Field{"pairs", "pairs of rows to predict in the counter-example search; 0 for none", 0, 1e15},
      flags->options.pairs);
  add_field(app, Field{"seed", "the random seed of the pairs"}, flags->options.seed);
  add_field(app, Field{"threads", "0 uses all cores", 0, 1024}, flags->options.threads);
  app.add_flag("--json", flags->json, "print the certificate as one JSON object");
  return [flags] { return run_verify(*flags); };
}

}  // namespace espalier
