// SPDX-License-Identifier: Apache-2.0
// espalier simulate: synthetic data with a known monotonic risk.
#include "espalier/simulate.h"

#include "commands.h"
#include "files.h"
#include "flags.h"
#include "output.h"

namespace espalier {
namespace {

struct SimulateFlags {
  SimulateOptions options;
  std::string output = "-";
  bool json = false;
};

constexpr std::size_t kRowsOfAPiece = 1 << 16;

void write(const SimulateFlags& flags) {
  SimulatedPieces pieces(flags.options);
  write_pieces([&](Table& piece) { return pieces.next(kRowsOfAPiece, piece); }, flags.output, 0);
}

// With a file, the object only describes it; otherwise it contains the data.
Json to_json(const SimulateFlags& flags) {
  Json json = {{"rows", flags.options.rows}};
  if (flags.output != "-") json["output"] = flags.output;
  SimulateOptions shown = flags.options;
  if (flags.output != "-") shown.rows = 1;
  for (const Column& column : simulate(shown).columns) {
    if (flags.output == "-") {
      json["columns"][column.name] = json_of(column);
    } else {
      json["columns"].push_back(column.name);
    }
  }
  return json;
}

int run_simulate(const SimulateFlags& flags) {
  check_files({.outputs = {{"-o", flags.output}}});
  if (flags.output != "-" || !flags.json) write(flags);
  if (flags.json) print_json_line(to_json(flags));
  return 0;
}

}  // namespace

Run define_simulate(CLI::App& app) {
  const auto flags = std::make_shared<SimulateFlags>();
  app.add_option("-o,--output", flags->output, "the file to write (default -, standard output)")
      ->type_name("FILE");
  app.add_flag("--json", flags->json,
               "print one JSON object: the data, or with -o a description of the file");
  add_fields(app, flags->options, "Data");
  return [flags] { return run_simulate(*flags); };
}

}  // namespace espalier
