// SPDX-License-Identifier: Apache-2.0
// What the README says of Adult (UCI), as a test. The data is not part of the project: it is looked
// for in $ESPALIER_DATA/adult, else in ../shared/data/adult.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "espalier/espalier.h"

namespace espalier {
namespace {

std::filesystem::path adult_folder() {
  const char* data = std::getenv("ESPALIER_DATA");
  const std::filesystem::path root = ESPALIER_SOURCE_DIR;
  return (data != nullptr ? std::filesystem::path(data) : root / ".." / "shared" / "data") /
         "adult";
}

CsvOptions adult_csv() {
  return {.header = false,
          .columns = {"age", "workclass", "fnlwgt", "education", "education-num", "marital-status",
                      "occupation", "relationship", "race", "sex", "capital-gain", "capital-loss",
                      "hours-per-week", "native-country", "income"},
          .drop = {"fnlwgt", "education"}};
}

// The test file has a line of its own on top, and its labels end in a full stop.
Table read_adult_test(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::string text(std::istreambuf_iterator<char>(in), {});
  CsvOptions csv = adult_csv();
  csv.skip_lines = 1;
  return parse_csv(std::regex_replace(text, std::regex("\\.\n"), "\n"), csv, path.string());
}

TEST(LongAdult, DefaultsReachWhatTheReadmeSays) {
  const std::filesystem::path folder = adult_folder();
  if (!std::filesystem::exists(folder / "adult.data")) {
    GTEST_SKIP() << "no adult.data in " << folder << "; set ESPALIER_DATA to the folder above it";
  }
  const Table table = read_csv((folder / "adult.data").string(), adult_csv());
  const Table test = read_adult_test(folder / "adult.test");
  constexpr int kSeeds = 5;
  double accuracy = 0, log_loss = 0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const TrainResult result =
        train(table, {.label = "income",
                      .increasing = {"capital-gain", "hours-per-week", "education-num", "sex"},
                      .order = {"sex=Female<Male"},
                      .positive = ">50K",
                      .seed = static_cast<std::uint64_t>(seed)});
    EXPECT_TRUE(verify(result.model).holds());
    for (const MetricValue& value : evaluate(result.model, test).metrics) {
      if (value.metric == Metric::accuracy) accuracy += value.value / kSeeds;
      if (value.metric == Metric::log_loss) log_loss += value.value / kSeeds;
    }
  }
  EXPECT_GE(accuracy, 0.867);
  EXPECT_LE(log_loss, 0.286);
}

}  // namespace
}  // namespace espalier
