// SPDX-License-Identifier: Apache-2.0
#include "output.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "espalier/csv.h"
#include "espalier/error.h"
#include "espalier/output_file.h"
#include "espalier/text.h"
#include "signals.h"

namespace espalier {
namespace {

// Writes to a file, which stays unchanged after a signal, or to standard output for "-".
// fill(write) passes the text to write() in pieces.
template <class Fill>
void write_output(const std::string& path, Fill fill) {
  if (path == "-") {
    errno = 0;
    fill([](std::string_view text) { std::cout << text; });
    if (std::cout.flush()) return;
    const char* const reason = errno == 0 ? "write error" : std::strerror(errno);
    throw Error(ErrorKind::file, fmt::format("cannot write standard output: {}", reason));
  }
  OutputFile file(path);
  const SignalAnswer discard_on_signal([&file] {
    file.discard();
    return SignalAnswer::Answer::end;
  });
  fill([&file](std::string_view text) { file.write(text); });
  file.close();
}

}  // namespace

Json json_of(std::span<const MetricValue> metrics) {
  Json json = Json::object();
  for (const auto& [metric, value] : metrics) json[std::string(to_word(metric))] = value;
  return json;
}

Json json_of(const Certificate& certificate) {
  Json layers = Json::array();
  for (const LayerProof& proof : certificate.layers) {
    layers.push_back({{"layer", proof.layer},
                      {"inequalities", proof.inequalities},
                      {"violations", proof.violations}});
  }
  return {{"monotone", certificate.holds()},
          {"model_hash", certificate.model_hash},
          {"increasing", certificate.increasing},
          {"decreasing", certificate.decreasing},
          {"levels", certificate.levels},
          {"layers", std::move(layers)},
          {"inequalities", certificate.inequalities},
          {"violations", certificate.violations},
          {"tolerance", 0},
          {"pairs", certificate.pairs},
          {"pair_violations", certificate.pair_violations},
          {"crossings", certificate.crossings},
          {"largest_drop", certificate.largest_drop},
          {"thresholds", certificate.thresholds},
          {"thresholds_crossed", certificate.thresholds_crossed},
          {"seed", certificate.seed},
          {"culprits", certificate.culprits}};
}

Json json_of(const Column& column) {
  Json cells = Json::array();
  for (const float number : column.values()) {
    cells.push_back(std::isnan(number) ? Json() : Json::single(number));
  }
  for (const std::int32_t code : column.category_codes()) {
    cells.push_back(code == kMissingCode ? Json()
                                         : Json(column.categories[static_cast<std::size_t>(code)]));
  }
  return cells;
}

void tell(std::string_view text) noexcept try {
  while (true) {
    const std::size_t end = text.find('\n');
    const std::string line = escape_controls(text.substr(0, end)) + '\n';
    std::fwrite(line.data(), 1, line.size(), stderr);
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
} catch (const std::bad_alloc&) {
}

void warn_of_idle_flags(std::initializer_list<std::pair<std::string_view, bool>> flags,
                        std::string_view reason) {
  std::string names;
  for (const auto& [name, is_given] : flags) {
    if (is_given) names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  }
  if (!names.empty())
    tell(fmt::format("espalier: warning: {}: no effect in this run: {}", names, reason));
}

void write_text(std::string_view text, const std::string& path) {
  write_output(path, [text](const auto& write) { write(text); });
}

void print(std::string_view text) { write_text(text, "-"); }

void print_json(const Json& json) { print(json.dump(2) + '\n'); }

void print_json_line(const Json& json) { print(json.dump() + '\n'); }

void write_table(const Table& table, const std::string& path) {
  write_output(path, [&table](const auto& write) { write_csv(table, write); });
}

void write_pieces(const std::function<bool(Table&)>& next, const std::string& path, int threads) {
  write_output(path, [&](const auto& write) {
    CsvWriter writer(write, threads);
    for (Table piece; next(piece);) writer.add(piece);
  });
}

Column kept_column(const Table& table, const std::string& name) {
  const Column* const column = table.find(name);
  if (column == nullptr) {
    throw Error(ErrorKind::data,
                fmt::format("{}: --keep: there is no column '{}'", table.name, name));
  }
  return {.name = name,
          .type = ColumnType::category,
          .categories = column->categories,
          .codes = column->codes};
}

}  // namespace espalier
