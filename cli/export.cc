// SPDX-License-Identifier: Apache-2.0
// espalier export MODEL --to header -o risk.h: a model as a C++ header or an ONNX file.
#include "espalier/export.h"

#include <fmt/format.h>

#include "commands.h"
#include "files.h"
#include "flags.h"
#include "output.h"

namespace espalier {

/// The formats of exports.
enum class ExportFormat { header, onnx };
template <>
struct Words<ExportFormat> {
  static constexpr std::string_view list[] = {"header", "onnx"};
};

namespace {

struct ExportFlags {
  std::string model;
  ExportFormat format = ExportFormat::header;
  std::string output;
  HeaderOptions header;
  bool json = false;
};

Json json_of(const Model& model, const ExportedHeader& header) {
  Json fields = Json::array();
  for (const auto& [column, field] : header.fields)
    fields.push_back({{"column", column}, {"field", field}});
  return {{"model_hash", model.hash()},
          {"files", header.files},
          {"namespace", header.name_space},
          {"fields", std::move(fields)}};
}

void write_header(const ExportFlags& flags) {
  check_files(
      {.outputs = {{"-o", flags.output}, {"the file of its numbers", numbers_path(flags.output)}},
       .inputs = {{"the model", flags.model}}});
  const Model model = Model::load(flags.model);
  const ExportedHeader header = export_header(model, flags.output, flags.header);
  if (flags.json) {
    print_json(json_of(model, header));
  } else {
    tell(fmt::format("wrote {}: {}::predict(const Row&)", fmt::join(header.files, " and "),
                     header.name_space));
  }
}

void write_onnx(const ExportFlags& flags) {
  if (!flags.header.name_space.empty())
    throw Error(ErrorKind::argument, "--namespace: an ONNX file has none; wanted with --to header");
  check_files({.outputs = {{"-o", flags.output}}, .inputs = {{"the model", flags.model}}});
  const Model model = Model::load(flags.model);
  const ExportedOnnx onnx = export_onnx(model, flags.output);
  if (flags.json) {
    print_json(Json{{"model_hash", model.hash()},
                    {"files", Json::array({flags.output})},
                    {"prediction", onnx.prediction},
                    {"score", onnx.score}});
  } else {
    tell(fmt::format("wrote {}: an input for each column, outputs '{}' and '{}'", flags.output,
                     onnx.prediction, onnx.score));
  }
}

int run_export(const ExportFlags& flags) {
  if (flags.output == "-")
    throw Error(ErrorKind::argument, "--output: '-' is no file; an export may take two");
  switch (flags.format) {
    case ExportFormat::header:
      write_header(flags);
      break;
    case ExportFormat::onnx:
      write_onnx(flags);
      break;
  }
  return 0;
}

}  // namespace

Run define_export(CLI::App& app) {
  const auto flags = std::make_shared<ExportFlags>();
  app.add_option("MODEL", flags->model, "a model file")->required();
  add_required_field(
      app,
      Field{"to", "header: a C++17 header without dependencies; onnx: a file for ONNX runtimes"},
      flags->format);
  app.add_option("-o,--output", flags->output, "the file to write")->required();
  app.add_option("--namespace", flags->header.name_space,
                 "the namespace of the header (default: the file name and _model)");
  app.add_flag("--json", flags->json,
               "print the files and the inputs or outputs as one JSON object");
  return [flags] { return run_export(*flags); };
}

}  // namespace espalier
