// SPDX-License-Identifier: Apache-2.0
// espalier explain and espalier importance.
#include <cmath>

#include "cli_fixture.h"

namespace espalier {
namespace {

using ::testing::HasSubstr;

class CliExplain : public Cli {
 protected:
  std::string rows(int count) const {
    const std::vector<std::string> lines = lines_of(read(path("loans.csv")));
    std::string text;
    for (std::size_t i = 0; i <= static_cast<std::size_t>(count); ++i) text += lines[i] + '\n';
    return text;
  }
};

TEST_F(CliExplain, NamesTheColumnsThatMakeTheDifference) {
  make_model();
  write("rows.csv", rows(20));
  const Result result = run("explain loans.esp rows.csv --top 2 --keep income");
  ASSERT_EQ(result.exit, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("espalier: baseline: income "));
  const auto lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 21U);
  EXPECT_EQ(lines[0], "income,score,baseline,reason_1,share_1,reason_2,share_2,rest,error");
  must("explain loans.esp rows.csv --top 2 --keep income --threads 1 -o out.csv");
  EXPECT_EQ(read(path("out.csv")), result.out);

  const Json all = must_json("explain loans.esp rows.csv --top 2");
  const Json scores = must_json("predict loans.esp rows.csv --raw")["scores"];
  EXPECT_TRUE(all["baseline"]["region"].is_string());
  for (std::size_t r = 0; r < 20; ++r) {
    const Json& row = all["explanations"][r];
    EXPECT_EQ(row["score"], scores[r]);
    EXPECT_EQ(row["error"], 0);
    double sum = row["baseline"].get<double>(), named = row["rest"].get<double>();
    for (const auto& [name, share] : row["shares"].members()) sum += share.get<double>();
    for (const Json& reason : row["reasons"]) {
      named += reason["share"].get<double>();
      EXPECT_EQ(reason["share"], row["shares"][reason["column"].get<std::string>()]);
    }
    EXPECT_NEAR(sum, row["score"].get<double>(), 1e-5);
    EXPECT_NEAR(named, row["score"].get<double>() - row["baseline"].get<double>(), 1e-5);
  }
}

TEST_F(CliExplain, GivesReasonsInWordsOnTheAdverseSideAgainstAGivenRow) {
  make_model();
  write("rows.csv", rows(5));
  write("first.csv", rows(1));
  write("codes.csv",
        "column,reason\nincome,\"Income, too low\"\ndebt_ratio,Too much debt\nheight,Too tall\n");
  const Result result =
      run("explain loans.esp rows.csv --baseline first.csv --reasons codes.csv --adverse higher "
          "--top 9 "
          "--json");
  ASSERT_EQ(result.exit, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("codes.csv: the model has no column 'height'"));
  EXPECT_THAT(result.err, HasSubstr("codes.csv: no reason for column 'age'"));
  const Json all = Json::parse(result.out);
  // The first row is the baseline itself.
  EXPECT_EQ(all["explanations"][0]["score"], all["explanations"][0]["baseline"]);
  EXPECT_TRUE(all["explanations"][0]["reasons"].empty());
  for (const Json& row : all["explanations"]) {
    double last = INFINITY;
    for (const Json& reason : row["reasons"]) {
      const auto share = reason["share"].get<double>();
      EXPECT_GT(share, 0);
      EXPECT_LE(share, last);
      last = share;
      const std::string column = reason["column"].string();
      EXPECT_EQ(reason["reason"], column == "income"       ? "Income, too low"
                                  : column == "debt_ratio" ? "Too much debt"
                                                           : column);
    }
  }
  EXPECT_THAT(must("explain loans.esp rows.csv --baseline first.csv --reasons codes.csv --top 9"),
              HasSubstr("\"Income, too low\""));
}

TEST_F(CliExplain, PermutationsFollowTheSeedAndStateTheirError) {
  make_model();
  write("rows.csv", rows(6));
  const std::string drawn = "explain loans.esp rows.csv --exact-columns 0 --permutations 8";
  EXPECT_EQ(must(drawn + " --threads 1"), must(drawn + " --threads 2"));
  EXPECT_NE(must(drawn), must(drawn + " --seed 2"));
  double largest = 0;
  const Json all = must_json(drawn);
  for (const Json& row : all["explanations"]) {
    largest = std::max(largest, row["error"].get<double>());
  }
  EXPECT_GT(largest, 0);
}

TEST_F(CliExplain, ExplainsTheOutputThatIsAskedFor) {
  must("simulate --kind grades --rows 300 -o grades.csv");
  must(
      "train grades.csv -o grades.esp --label grade --grades 'low<moderate<high<severe' --epochs 1 "
      "--architecture calibrated-linear");
  EXPECT_EQ(must_json("explain grades.esp grades.csv")["explanations"][0]["output"], "ge_high");
  const Json low = must_json("explain grades.esp grades.csv --of ge_moderate")["explanations"][0];
  EXPECT_EQ(low["score"],
            must_json("predict grades.esp grades.csv --raw")["scores"]["score_ge_moderate"][0]);
  const Result wrong = run("explain grades.esp grades.csv --of ge_bad");
  EXPECT_EQ(wrong.exit, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--of: 'ge_bad' is not one of ge_moderate, ge_high, ge_severe"));
}

TEST_F(CliExplain, ErrorsSayWhatIsWrong) {
  make_model();
  write("rows.csv", rows(2));
  write("no_income.csv", "age\n3\n");
  write("twice.csv", "column,reason\nage,a\nage,b\n");
  write("hole.csv", "column,reason\nage,\n");
  write("other.csv", "name,text\nage,b\n");
  const struct {
    std::string args;
    int exit;
    std::string message;
  } cases[] = {
      {"explain loans.esp no_income.csv", 1, "no_income.csv"},
      {"explain loans.esp rows.csv --baseline no_income.csv", 1, "no_income.csv"},
      {"explain loans.esp rows.csv --reasons twice.csv", 1, "column 'age' has two reasons"},
      {"explain loans.esp rows.csv --reasons hole.csv", 1, "wanted a column and its reason"},
      {"explain loans.esp rows.csv --reasons other.csv", 1, "other.csv"},
      {"explain loans.esp rows.csv --adverse up", 2, "'up' is not one of either, higher, lower"},
      {"explain loans.esp rows.csv --keep score", 2, "--keep: 'score' is"},
      {"explain loans.esp rows.csv --permutations 2", 2, "from 4 to"},
      {"explain loans.esp rows.csv -o rows.csv", 2, "is the data"},
      {"importance loans.esp no_income.csv", 1, "no_income.csv"},
      {"importance loans.esp rows.csv --metric rmse", 2, "rmse"},
      {"importance loans.esp rows.csv --repeats 0", 2, "'0' is not a whole number from 1"},
  };
  for (const auto& [args, exit, message] : cases) {
    const Result result = run(args);
    EXPECT_EQ(result.exit, exit) << args << "\n" << result.err;
    EXPECT_THAT(result.err, HasSubstr(message)) << args;
    EXPECT_EQ(result.out, "") << args;
  }
}

TEST_F(CliExplain, ImportanceIsTheSameForAnyNumberOfThreads) {
  make_model();
  const std::string args = "importance loans.esp loans.csv --repeats 2 --shared-rows 50";
  const Json all = must_json(args + " --threads 1");
  EXPECT_EQ(all, must_json(args + " --threads 2"));
  EXPECT_EQ(all["rows"], 300);
  EXPECT_EQ(all["shared_rows"], 50);
  EXPECT_EQ(all["metric"], "log_loss");
  EXPECT_EQ(all["value"], must_json("evaluate loans.esp loans.csv")["log_loss"]);
  EXPECT_EQ(all["columns"].size(), 9U);
  EXPECT_GT(all["columns"][0]["share"]["mean"].get<double>(), 0);
  EXPECT_THAT(must(args), HasSubstr("worse log_loss"));
}

}  // namespace
}  // namespace espalier
