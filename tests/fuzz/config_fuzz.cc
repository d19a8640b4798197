// SPDX-License-Identifier: Apache-2.0
// A JSON configuration: read, checked, written, read again.
#include "espalier/options.h"
#include "fuzz/fuzz.h"

namespace espalier::fuzz {

void try_config(const std::string& json) {
  TrainOptions options;
  if (!accepts([&] { apply_json(options, json, "config.json"); })) return;
  accepts([&] { validate(options); });
  const std::string written = to_json(options);
  TrainOptions again;
  apply_json(again, written, "written.json");
  require(to_json(again) == written);
}

}  // namespace espalier::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  espalier::fuzz::try_config(std::string(espalier::fuzz::text_of(data, size)));
  return 0;
}
