// SPDX-License-Identifier: Apache-2.0
#include "search/tune_results.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "espalier/error.h"
#include "espalier/json.h"
#include "search/halving.h"

namespace espalier {

namespace {

[[noreturn]] void fail(const std::string& place, const std::string& message) {
  throw Error(ErrorKind::format,
              fmt::format("{}: not a line of tune's results: {}", place, message));
}

// Reads the fields of a line; whatever is missing or of another type is the line's fault.
template <class Read>
auto read_line(std::string_view line, const std::string& place, Read&& read) {
  const Json json = Json::parse(line, place);
  try {
    return read(json);
  } catch (const JsonError& exception) {
    fail(place, exception.what());
  }
}

// A file without a whole line is one that a search had begun to write, or somebody else's.
void require_begun(std::string_view text, const std::string& path) {
  constexpr std::string_view kOpening = "{\"espalier_tune\":\"";
  if (text.starts_with(kOpening.substr(0, text.size()))) return;
  throw Error(ErrorKind::format, fmt::format("{}: not a file of tune's results", path));
}

}  // namespace

std::string format_run(const TuneRun& run, Metric metric) {
  const Json value = std::isnan(run.valid_metric) ? Json() : Json(run.valid_metric);
  Json json = {{"trial", run.trial},
               {"rung", run.rung},
               {"epochs", run.epochs},
               {"repeat", run.repeat},
               {"settings", Json::parse(run.settings)},
               {"metric", to_word(metric)},
               {"value", value},
               {"seconds", run.seconds}};
  for (const double fold : run.folds)
    json["folds"].push_back(std::isnan(fold) ? Json() : Json(fold));
  return json.dump();
}

TuneRun parse_run(std::string_view line, const std::string& place) {
  return read_line(line, place, [&](const Json& json) {
    const auto whole = [&](const char* name, int least, int most) {
      const Json& value = json.at(name);
      const double number = value.is_whole() ? value.get<double>() : -1;
      if (number < least || number > most)
        fail(place, fmt::format("'{}' is not a whole number from {} to {}", name, least, most));
      return static_cast<int>(number);
    };
    constexpr int kMax = std::numeric_limits<int>::max();
    const Json& settings = json.at("settings");
    if (!settings.is_object()) fail(place, "'settings' is no object");
    const Json& value = json.at("value");
    std::vector<double> folds;
    if (json.contains("folds")) {
      for (const Json& fold : json.at("folds"))
        folds.push_back(fold.is_null() ? std::nan("") : fold.get<double>());
    }
    return TuneRun{.trial = whole("trial", 1, kMax),
                   .rung = whole("rung", 1, kRungs),
                   .epochs = whole("epochs", 1, kMax),
                   .repeat = whole("repeat", 0, kMax),
                   .settings = settings.dump(),
                   .valid_metric = value.is_null() ? std::nan("") : value.get<double>(),
                   .seconds = json.at("seconds").get<double>(),
                   .folds = std::move(folds)};
  });
}

std::string format_fingerprint(const Fingerprint& fingerprint) {
  Json options = Json::object();
  for (const auto& [name, value] : fingerprint.options) options[name] = Json::parse(value);
  const Json json = {{"espalier_tune", fingerprint.version},
                     {"options", options},
                     {"columns", fmt::format("{:016x}", fingerprint.columns)},
                     {"train_rows", fmt::format("{:016x}", fingerprint.train_rows)},
                     {"valid_rows", fmt::format("{:016x}", fingerprint.valid_rows)}};
  return json.dump();
}

Fingerprint parse_fingerprint(std::string_view line, const std::string& place) {
  return read_line(line, place, [&](const Json& json) {
    const auto hash = [&](const char* name) {
      const std::string text = json.at(name).get<std::string>();
      std::uint64_t value = 0;
      const char* const end = text.data() + text.size();
      const auto [stop, error] = std::from_chars(text.data(), end, value, 16);
      if (error != std::errc() || stop != end) fail(place, fmt::format("'{}' is no hash", name));
      return value;
    };
    Fingerprint fingerprint{.version = json.at("espalier_tune").get<std::string>(),
                            .columns = hash("columns"),
                            .train_rows = hash("train_rows"),
                            .valid_rows = hash("valid_rows")};
    for (const auto& [name, value] : json.at("options").members())
      fingerprint.options.emplace_back(name, value.dump());
    return fingerprint;
  });
}

TuneResults::TuneResults(const std::string& path, const Fingerprint& fingerprint) {
  if (path.empty()) return;
  log_.emplace(path);
  const std::vector<std::string>& lines = log_->lines();
  if (lines.empty()) {
    require_begun(log_->rest(), path);
    log_->append(format_fingerprint(fingerprint));
    return;
  }
  const auto place = [&](std::size_t line) { return fmt::format("{}:{}", path, line + 1); };
  const std::string other = difference(parse_fingerprint(lines[0], place(0)), fingerprint);
  if (!other.empty()) {
    throw Error(ErrorKind::argument,
                fmt::format("{}: it has the results of another search: {}", path, other));
  }
  for (std::size_t i = 1; i < lines.size(); ++i) earlier_.push_back(parse_run(lines[i], place(i)));
}

void TuneResults::append(const TuneRun& run, Metric metric) {
  if (log_) log_->append(format_run(run, metric));
}

}  // namespace espalier
