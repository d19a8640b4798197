// SPDX-License-Identifier: Apache-2.0
// espalier simulate: a made-up table whose true risk is known and monotone.
#include "espalier/simulate.h"

#include <array>

#include "commands.h"
#include "flags.h"
#include "output.h"

namespace espalier {
namespace {

struct Flags {
  SimulateOptions options;
  std::string output = "-";
  bool json = false;
};

// With a file the object only says what is in it, otherwise it holds the table itself.
Json to_json(const Flags& flags, const Table& table) {
  Json json = {{"rows", table.num_rows}};
  if (flags.output != "-") json["output"] = flags.output;
  for (const Column& column : table.columns) {
    if (flags.output == "-") {
      json["columns"][column.name] = json_of(column);
    } else {
      json["columns"].push_back(column.name);
    }
  }
  return json;
}

int run(const Flags& flags) {
  check_outputs(std::array{NamedFile{"-o", flags.output}}, {});
  const Table table = simulate(flags.options);
  if (flags.output != "-" || !flags.json) write_table(table, flags.output);
  if (flags.json) print_json_line(to_json(flags, table));
  return 0;
}

}  // namespace

Run define_simulate(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  app.add_option("-o,--output", flags->output, "where the table goes (default -, standard output)")
      ->type_name("FILE");
  app.add_flag("--json", flags->json,
               "print one JSON object: the table, or, with -o, what is in the file");
  add_fields(app, flags->options, "The table");
  return [flags] { return run(*flags); };
}

}  // namespace espalier
