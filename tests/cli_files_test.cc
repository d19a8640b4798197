// SPDX-License-Identifier: Apache-2.0
// What the program may write: never a file that it reads in the same run, and nothing that would
// replace something better.
#include "cli_fixture.h"
#include "core/effort.h"

namespace espalier {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CliFiles : public Cli {
 protected:
  // Other names of a file in the folder of the test, by every kind of link.
  std::vector<std::string> aliases_of(const std::string& name) const {
    const std::string sub = name + ".d";
    fs::create_directory(path(sub));
    fs::create_symlink(path(name), path(name + ".link"));
    fs::create_symlink(name + ".link", path(name + ".links"));
    fs::create_hard_link(path(name), path(name + ".hard"));
    fs::create_directory_symlink(".", path(name + ".here"));
    return {name,           "./" + name,     sub + "/../" + name, path(name).string(),
            name + ".link", name + ".links", name + ".hard",      name + ".here/" + name};
  }

  // The bytes of every file.
  std::map<std::string, std::string> contents() const {
    std::map<std::string, std::string> all;
    for (const std::string& name : files()) {
      if (fs::is_regular_file(path(name))) all[name] = read(path(name));
    }
    return all;
  }
};

TEST_F(CliFiles, NoOutputIsAnInputOfTheSameRunWhateverLinkLeadsToIt) {
  make_model();
  fs::copy(path("loans.csv"), path("valid.csv"));
  write("config.json", R"({"epochs": 1, "label": "default"})");
  const std::string train = "loans.csv --valid valid.csv --config config.json ";
  struct Case {
    std::string args;  // that end with a flag that wants an output
    std::vector<std::string> inputs;
  };
  const std::vector<std::string> tables = {"loans.csv", "valid.csv", "config.json"};
  const Case cases[] = {
      {"train " + train + "-o ", tables},
      {"tune " + train + "--trials 1 -o ", tables},
      {"tune " + train + "--trials 1 -o new.esp --results ", tables},
      {"predict loans.esp loans.csv -o ", {"loans.esp", "loans.csv"}},
      {"predict loans.esp - <loans.csv -o ", {"loans.esp", "loans.csv"}},
  };
  std::map<std::string, std::vector<std::string>> aliases;
  for (const char* input : {"loans.csv", "valid.csv", "config.json", "loans.esp"})
    aliases[input] = aliases_of(input);
  const auto before = contents();
  for (const Case& each : cases) {
    for (const std::string& input : each.inputs) {
      for (const std::string& output : effort(aliases.at(input), {input})) {
        const Result result = run(each.args + output);
        SCOPED_TRACE(each.args + output + "\n" + result.err);
        EXPECT_EQ(result.exit, 2);
        EXPECT_THAT(result.err, HasSubstr("'" + output + "' is the "));
        EXPECT_THAT(result.out, IsEmpty());
      }
    }
  }
  EXPECT_EQ(contents(), before);
}

TEST_F(CliFiles, NoTwoOutputsAreOneFile) {
  make_table();
  fs::create_directory(path("sub"));
  fs::create_directory(path("run"));
  fs::create_directory_symlink(".", path("link"));
  const auto before = files();
  const std::string tune = "tune loans.csv --label default -o same --results ";
  const std::string train = "train loans.csv --label default --checkpoint run -o ";
  for (const std::string& args : {tune + "same", tune + "./sub/../same", tune + "link/same",
                                  train + "run/checkpoint", train + "link/run/checkpoint"}) {
    const Result result = run(args);
    EXPECT_EQ(result.exit, 2) << args;
    EXPECT_THAT(result.err, HasSubstr("is -o; wanted a file of its own"));
  }
  EXPECT_EQ(files(), before);
}

TEST_F(CliFiles, ResultsNeverReplaceAFileThatIsNotTheirOwn) {
  make_table(60);
  for (const char* text : {"income,age", "income,age\n", "{\"epochs\": 1}", "{\n", "{\"espalier\"",
                           "\n", "\xff", "{\"espalier_tune\":3"}) {
    write("other", text);
    const Result result = run("tune loans.csv --label default --trials 1 --results other");
    EXPECT_EQ(result.exit, 1) << text;
    EXPECT_THAT(result.err, HasSubstr("other"));
    EXPECT_EQ(read(path("other")), text);
    EXPECT_FALSE(fs::exists(path("loans.esp")));
  }
}

}  // namespace
}  // namespace espalier
