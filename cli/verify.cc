// SPDX-License-Identifier: Apache-2.0
// espalier verify MODEL: the proof that a model is monotone, inequality by inequality.
#include <fmt/format.h>

#include "commands.h"
#include "espalier/certificate.h"
#include "output.h"

namespace espalier {
namespace {

struct Flags {
  std::string model;
  bool json = false;
};

std::string names(const std::vector<std::string>& list) {
  return list.empty() ? "none" : fmt::format("{}", fmt::join(list, ", "));
}

std::string proof_text(const Certificate& proof) {
  std::string text =
      fmt::format("model       {}\nincreasing  {}\ndecreasing  {}\n", proof.model_hash,
                  names(proof.increasing), names(proof.decreasing));
  for (const LayerProof& layer : proof.layers) {
    text += fmt::format("{}: {} inequalities, {} violated\n", layer.layer, layer.inequalities,
                        layer.violations);
  }
  text += fmt::format("total: {} inequalities, {} violated, tolerance 0\n", proof.inequalities,
                      proof.violations);
  for (const std::string& culprit : proof.culprits) text += fmt::format("violated: {}\n", culprit);
  const bool asked = !proof.increasing.empty() || !proof.decreasing.empty();
  text += !proof.holds() ? "NOT monotone\n"
          : asked        ? "monotone: proved\n"
                         : "monotone: no feature was asked to be\n";
  return text;
}

int run(const Flags& flags) {
  const Certificate proof = verify_file(flags.model);
  if (flags.json) {
    print_json(json_of(proof));
  } else {
    print(proof_text(proof));
  }
  if (proof.holds()) return 0;
  tell(fmt::format("espalier: {}: NOT monotone: {} of {} inequalities are violated, first: {}",
                   flags.model, proof.violations, proof.inequalities,
                   proof.culprits.empty() ? "unknown" : proof.culprits.front()));
  return 1;
}

}  // namespace

Run define_verify(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  app.add_option("MODEL", flags->model, "a model file")->required();
  app.add_flag("--json", flags->json, "print the certificate as one JSON object");
  return [flags] { return run(*flags); };
}

}  // namespace espalier
