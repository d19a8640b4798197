// SPDX-License-Identifier: Apache-2.0
// espalier inspect MODEL: the contents of a model.
#include "espalier/inspect.h"

#include "commands.h"
#include "espalier/model.h"
#include "files.h"
#include "output.h"

namespace espalier {
namespace {

struct InspectFlags {
  std::string model;
  bool json = false;
};

int run_inspect(const InspectFlags& flags) {
  check_files({.inputs = {{"the model", flags.model}}});
  const Model model = Model::load(flags.model);
  print(flags.json ? inspect_json(model) + "\n" : inspect_text(model));
  return 0;
}

}  // namespace

Run define_inspect(CLI::App& app) {
  const auto flags = std::make_shared<InspectFlags>();
  app.add_option("MODEL", flags->model, "a model file")->required();
  app.add_flag("--json", flags->json, "print one JSON object with every number");
  return [flags] { return run_inspect(*flags); };
}

}  // namespace espalier
