// SPDX-License-Identifier: Apache-2.0
// Model files of every released format still load and predict what they did; see golden/README.md.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/file.h"
#include "encode/encode.h"
#include "encode/roles.h"
#include "espalier/certificate.h"
#include "espalier/csv.h"
#include "espalier/model.h"
#include "model/model_data.h"
#include "model/model_file.h"
#include "support/reference_mean.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> golden_models() {
  std::vector<fs::path> models;
  for (const auto& entry : fs::recursive_directory_iterator(ESPALIER_SOURCE_DIR "/tests/golden")) {
    if (entry.path().extension() == ".esp") models.push_back(entry.path());
  }
  std::sort(models.begin(), models.end());
  return models;
}

Table golden_rows(const Model& model, const fs::path& path) {
  return read_csv(path.parent_path() / "rows.csv", model.csv_options());
}

// What the paper's formulas give in double: the scores of each row.
std::vector<double> reference_scores(const Model& model, const Table& table) {
  const ModelData& data = model.data();
  const Label& label = data.schema.label;
  const Dataset rows = encode_to_predict(data.schema, table);
  const Dataset cells = read_features(data.schema, table);
  std::vector<double> scores;
  for (std::size_t i = 0; i < rows.num_rows; ++i) {
    for (std::size_t s = 0; s < label.num_scores(); ++s) {
      std::vector<double> row(rows.row(i), rows.row(i) + rows.num_features);
      if (label.num_levels() > 1) row.push_back(static_cast<double>(label.level_position(s)));
      const std::span<const float> own(cells.row(i), cells.num_features);
      const double turn = label.score_direction(s) < 0 ? -1 : 1;
      scores.push_back(label.offsets[s] + rows.offset(i) +
                       turn * label.scale * reference_mean(data, row, own, s));
    }
  }
  return scores;
}

struct Expected {
  std::string hash;
  std::vector<double> scores;
};

Expected read_expected(fs::path path) {
  std::ifstream in(path.replace_extension(".txt"));
  Expected expected;
  in >> expected.hash;
  for (double score; in >> score;) expected.scores.push_back(score);
  return expected;
}

class GoldenFile : public testing::TestWithParam<fs::path> {
 protected:
  const fs::path path_ = GetParam();
  const Model model_ = Model::load(path_);
  const Expected expected_ = read_expected(path_);
};

// Files of older formats have trees as networks, and are saved as format 3.
TEST_P(GoldenFile, KeepsItsBytesAndItsHash) {
  EXPECT_EQ(model_.hash(), expected_.hash);
  const std::string saved = format_model(model_.data());
  const bool is_old = path_.parent_path().filename() < "format3";
  if (is_old && count_members(model_.data()).trees > 0) {
    const Model again = Model::from_bytes(saved);
    EXPECT_EQ(format_model(again.data()), saved);
    const Table rows = golden_rows(model_, path_);
    EXPECT_EQ(again.predict(rows, Output::score, 1), model_.predict(rows, Output::score, 1));
  } else {
    EXPECT_EQ(saved, read_file(path_).view());
  }
}

TEST_P(GoldenFile, IsProved) {
  const Certificate certificate = verify_file(path_);
  EXPECT_TRUE(certificate.holds());
  EXPECT_EQ(certificate.model_hash, expected_.hash);
}

TEST_P(GoldenFile, PredictsTheStoredScores) {
  const Table rows = golden_rows(model_, path_);
  const std::vector<double> reference = reference_scores(model_, rows);
  const std::vector<float> scores = model_.predict(rows, Output::score, 1);
  ASSERT_EQ(expected_.scores.size(), rows.num_rows * model_.num_scores());
  const auto [least, most] = std::minmax_element(expected_.scores.begin(), expected_.scores.end());
  ASSERT_LT(*least, *most);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    EXPECT_NEAR(reference[i], expected_.scores[i], 1e-9 * (*most - *least)) << "score " << i + 1;
    EXPECT_NEAR(scores[i], expected_.scores[i], 1e-5 * (*most - *least)) << "score " << i + 1;
  }
}

std::string test_name(const testing::TestParamInfo<fs::path>& model) {
  const fs::path& path = model.param;
  std::string name = path.parent_path().filename().string() + "_" + path.stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, GoldenFile, testing::ValuesIn(golden_models()), test_name);

// For the models of a new format only: never over a file that is there.
TEST(Golden, DISABLED_WriteExpectedScores) {
  for (fs::path path : golden_models()) {
    const Model model = Model::load(path);
    std::string text = model.hash() + "\n";
    for (const double score : reference_scores(model, golden_rows(model, path)))
      text += fmt::format("{:.17g}\n", score);
    if (path.replace_extension(".txt"); !fs::exists(path)) std::ofstream(path) << text;
  }
}

}  // namespace
}  // namespace espalier
