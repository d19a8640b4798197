// SPDX-License-Identifier: Apache-2.0
#include "train/fingerprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>

#include "core/bytes.h"
#include "espalier/version.h"
#include "model/model_data.h"
#include "model/model_file.h"
#include "train/rank_rows.h"

namespace espalier {

namespace {

std::uint64_t hash_of(const Dataset& data, const std::vector<RowRange>& parts, Ranks* ranks) {
  std::string text;
  put(text, data.num_rows);
  put(text, data.num_features);
  const auto hash_cells = [&](const RowRange& part) {
    return checksum(
        raw_bytes(std::span<const float>(data.row(part.begin), part.size() * data.num_features)));
  };
  for (const std::uint64_t hash : of_parts(parts, data, ranks, hash_cells)) put(text, hash);
  for (const Role role : kSideRoles)
    put(text, checksum(raw_bytes(std::span<const float>(data.beside[role]))));
  put(text, checksum(raw_bytes(std::span<const double>(data.labels))));
  return checksum(text);
}

// The first of the options that count.
std::string difference_of_options(const Fingerprint& was, const Fingerprint& is,
                                  const std::function<bool(const std::string&)>& counts) {
  for (std::size_t i = 0; i < is.options.size(); ++i) {
    const auto& [name, value] = is.options[i];
    if (was.options[i] != is.options[i] && counts(name))
      return fmt::format("{} was {} and is {} now", name, was.options[i].second, value);
  }
  return {};
}

}  // namespace

DataHashes hashes_of(const Problem& p, Ranks* ranks) {
  ModelData columns;  // a model file without networks is the schema and nothing else
  columns.schema = p.schema;
  columns.training_json = "{}";
  const auto parts = training_parts(p.train.num_rows, p.options->batch_size, p.many_rows);
  return {.columns = checksum(format_model(columns)),
          .train_rows = hash_of(p.train, parts, ranks),
          .valid_rows = hash_of(p.valid, {{0, p.valid.num_rows}}, nullptr)};
}

Fingerprint fingerprint_of(const SettledOptions& options, const Problem& p,
                           const DataHashes& hashes) {
  Fingerprint fingerprint{.version = kVersion, .chosen = p.open.options};
  const Json deciding = deciding_options(options);
  for (const auto& [name, value] : deciding.members())
    fingerprint.options.emplace_back(name, value.dump());
  fingerprint.columns = hashes.columns;
  fingerprint.train_rows = hashes.train_rows;
  fingerprint.valid_rows = hashes.valid_rows;
  return fingerprint;
}

std::string difference_of_inputs(const Fingerprint& was, const Fingerprint& is) {
  if (was.version != is.version)
    return fmt::format("version {} of the library wrote it, this is {}", was.version, is.version);
  if (was.options.size() != is.options.size()) return "the list of options differs";
  const auto is_chosen = [&is](const std::string& name) {
    return std::ranges::count(is.chosen, name) > 0;
  };
  const std::string options = difference_of_options(was, is, std::not_fn(is_chosen));
  if (!options.empty()) return options;
  if (was.columns != is.columns) return "the columns of the training data, or their values, differ";
  if (was.train_rows != is.train_rows) return "the training rows differ";
  if (was.valid_rows != is.valid_rows) return "the validation rows differ";
  return {};
}

std::string difference(const Fingerprint& was, const Fingerprint& is) {
  const std::string inputs = difference_of_inputs(was, is);
  if (!inputs.empty()) return inputs;
  return difference_of_options(was, is, [](const std::string&) { return true; });
}

}  // namespace espalier
