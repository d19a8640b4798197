// SPDX-License-Identifier: Apache-2.0
// The commands of the program. Each one adds its flags to `app` and returns the function that runs
// it after parsing and returns the exit code.
#pragma once

#include <CLI/App.hpp>
#include <functional>

namespace espalier {

using Run = std::function<int()>;

Run define_train(CLI::App& app);
Run define_tune(CLI::App& app);
Run define_predict(CLI::App& app);
Run define_evaluate(CLI::App& app);
Run define_explain(CLI::App& app);
Run define_importance(CLI::App& app);
Run define_verify(CLI::App& app);
Run define_inspect(CLI::App& app);
Run define_report(CLI::App& app);
Run define_export(CLI::App& app);
Run define_simulate(CLI::App& app);

}  // namespace espalier
