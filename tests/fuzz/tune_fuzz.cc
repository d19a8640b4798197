// SPDX-License-Identifier: Apache-2.0
// What tune reads besides tables: the range of a setting, and the lines of its results.
#include "fuzz/fuzz.h"
#include "search/dimension.h"
#include "search/tune_results.h"

namespace espalier::fuzz {

void try_range(const std::string& text) {
  Dimension range;
  if (!accepts([&] { range = parse_dimension(text); })) return;
  const std::string written = to_string(range);
  require(to_string(parse_dimension(written)) == written);
  Random random(1);
  const Json value = draw_from(range, random);
  require(!value.is_number() ||
          (value.get<double>() >= range.low && value.get<double>() <= range.high));
}

void try_lines(const std::string& text) {
  TuneRun run;
  if (accepts([&] { run = parse_run(text, "line"); })) {
    const std::string written = format_run(run, Metric::log_loss);
    require(format_run(parse_run(written, "written"), Metric::log_loss) == written);
  }
  Fingerprint fingerprint;
  if (accepts([&] { fingerprint = parse_fingerprint(text, "line"); })) {
    const Fingerprint again = parse_fingerprint(format_fingerprint(fingerprint), "written");
    require(difference(fingerprint, again).empty());
  }
}

}  // namespace espalier::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(espalier::fuzz::text_of(data, size));
  espalier::fuzz::try_range(text);
  espalier::fuzz::try_lines(text);
  return 0;
}
