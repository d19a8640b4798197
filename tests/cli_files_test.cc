// SPDX-License-Identifier: Apache-2.0
// What the program may write: never a file that it reads in the same run, and nothing that would
// replace something better.
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "cli_fixture.h"
#include "core/random.h"
#include "support/effort.h"

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
        EXPECT_THAT(result.err, HasSubstr("choose another path"));
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
    EXPECT_THAT(result.err, HasSubstr("is also the path of -o; choose another path"));
  }
  EXPECT_EQ(files(), before);
}

// A dataset of three files in a folder of its own, written as one of the forms that read_csv takes.
struct Form {
  std::string argument;
  std::vector<std::string> files;
};

class RandomFiles : public CliFiles {
 protected:
  Form random_form(const std::string& name) {
    const std::string folder = name + ".parts";
    fs::create_directories(path(folder));
    Form form;
    std::string list;
    for (const char* part : {"/a.csv", "/b.csv", "/c.csv"}) {
      form.files.push_back(folder + part);
      fs::copy_file(path("loans.csv"), path(form.files.back()));
      list += (random_.below(2) == 0 ? form.files.back() : path(form.files.back()).string()) + '\n';
    }
    write(name + ".list", list);
    fs::create_directory_symlink(folder, path(name + ".link"));
    const std::string forms[] = {folder,
                                 folder + "/",
                                 "'" + folder + "/*.csv'",
                                 "@" + name + ".list",
                                 name + ".link",
                                 "'" + name + ".l[i]nk/?.csv'",
                                 "'" + name + ".p*/*'",
                                 form.files[0]};
    const std::size_t chosen = random_.below(std::size(forms));
    form.argument = forms[chosen];
    if (chosen == 3) form.files.push_back(name + ".list");
    if (form.argument == form.files[0]) form.files.resize(1);
    return form;
  }

  // Another name of a file, by a few links behind each other.
  std::string random_alias(std::string file) {
    const std::size_t count = random_.below(4);
    for (std::size_t i = 0; i < count; ++i) {
      const std::string name = fmt::format("alias{}", ++aliases_);
      switch (random_.below(4)) {
        case 0:
          fs::create_symlink(path(file), path(name));
          break;
        case 1:
          fs::create_hard_link(fs::canonical(path(file)), path(name));
          break;
        case 2:
          fs::create_directory_symlink(path(file).parent_path(), path(name));
          file = name + "/" + fs::path(file).filename().string();
          continue;
        default:
          file = "./" + file;
          continue;
      }
      file = name;
    }
    return random_.below(4) == 0 ? path(file).string() : file;
  }

  // Folders and links apart, every file below the folder of the test.
  std::map<std::string, std::string> all_contents() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(path("."))) {
      if (entry.is_regular_file()) all[entry.path().string()] = read(entry.path());
    }
    return all;
  }

  Random random_{31};
  int aliases_ = 0;
};

TEST_F(RandomFiles, AreNeverOverwrittenByTheRunThatReadsThem) {
  make_model();
  write("config.json", R"({"label": "default", "epochs": 1, "architecture": "calibrated-linear"})");
  write("reasons.csv", "column,reason\nincome,low\n");
  const char* const commands[] = {
      "train {0} --valid {1} --config config.json -o ",
      "train {0} --valid {1} --config config.json --cache cache -o ",
      "train {0} --valid {1} --config config.json --memory 500M -o ",
      "tune {0} --valid {1} --config config.json --trials 1 -o ",
      "tune {0} --valid {1} --config config.json --trials 1 -o new.esp --results ",
      "predict loans.esp {0} -o ",
      "predict loans.esp {0} --json -o ",
      "explain loans.esp {0} --baseline {1} --reasons reasons.csv -o ",
      "report loans.esp {0} --pairs 10 -o ",
      "predict loans.esp {0} >>",
      "evaluate loans.esp {0} >>",
      "importance loans.esp {0} --baseline {1} --repeats 1 --shared-rows 0 >>",
  };
  for (int i = 0; i < effort(36, 12); ++i) {
    const std::string command = commands[static_cast<std::size_t>(i) % std::size(commands)];
    const Form data = random_form(fmt::format("data{}", i));
    const Form other = random_form(fmt::format("other{}", i));
    std::vector<std::string> read = data.files;
    const auto reads = [&](const std::string& file) { return command.find(file) != command.npos; };
    if (reads("{1}")) read.insert(read.end(), other.files.begin(), other.files.end());
    for (const char* const file : {"config.json", "reasons.csv", "loans.esp"}) {
      if (reads(file)) read.emplace_back(file);
    }
    const std::string output = random_alias(read[random_.below(read.size())]);
    const auto before = all_contents();
    const std::string args =
        fmt::format(fmt::runtime(command), data.argument, other.argument) + output;
    const Result result = run(args);
    SCOPED_TRACE(args + "\n" + result.err);
    EXPECT_EQ(result.exit, 2);
    EXPECT_THAT(result.err, HasSubstr("another"));
    EXPECT_TRUE(all_contents() == before);
  }
}

TEST_F(RandomFiles, DoNotGrowByOutputsThatWouldBeReadTheNextTime) {
  make_model();
  for (int i = 0; i < 8; ++i) {
    const Form data = random_form(fmt::format("data{}", i));
    const std::string folder = fmt::format("data{}.parts", i);
    const bool grows = data.argument.find_first_of("@") != 0 && data.files.size() > 1;
    const Result result =
        run(fmt::format("predict loans.esp {} -o {}/d.csv", data.argument, folder));
    SCOPED_TRACE(data.argument + "\n" + result.err);
    EXPECT_EQ(result.exit, grows ? 2 : 0);
    EXPECT_EQ(fs::exists(path(folder + "/d.csv")), !grows);
    must(fmt::format("predict loans.esp {} -o {}/_d.out", data.files[0], folder));
  }
}

TEST_F(CliFiles, NoFolderOfARunKeepsOneOfItsInputs) {
  make_table();
  fs::create_directories(path("cache/espalier-0123456789abcdef"));
  fs::copy(path("loans.csv"), path("cache/espalier-0123456789abcdef/loans.csv"));
  const auto before = contents();
  const std::string train = " --label default --epochs 1 ";
  for (const std::string& args :
       {"train cache/espalier-0123456789abcdef" + train + "--cache cache",
        "train loans.csv" + train + "--cache cache -o cache/espalier-0123456789abcdef/table",
        "train loans.csv" + train + "--cache new -o new",
        "train loans.csv" + train + "--checkpoint ./new -o new"}) {
    const Result result = run(args);
    EXPECT_EQ(result.exit, 2) << args << result.err;
    EXPECT_THAT(result.err, HasSubstr("choose another")) << args;
  }
  for (const std::string flag : {"--cache", "--checkpoint"})
    EXPECT_EQ(run("train loans.csv" + train + flag + " loans.csv").exit, 1);
  EXPECT_EQ(contents(), before);
}

TEST_F(CliFiles, AModelIsNamedAfterItsDataAndIsNoHiddenFile) {
  make_table(60);
  fs::create_directories(path("parts/deep"));
  fs::copy(path("loans.csv"), path("parts/deep/a.csv"));
  fs::copy(path("loans.csv"), path("parts/b.csv"));
  fs::copy(path("loans.csv"), path(".hidden.csv"));
  fs::copy(path("loans.csv"), path("..csv"));
  const std::string train = " --label default --epochs 1 --architecture calibrated-linear --quiet";
  const auto model_of = [&](const std::string& folder, const std::string& data) {
    const auto before = files(folder);
    const Result result =
        shell("cd '" + folder + "' && '" ESPALIER_BINARY "' train " + data + train);
    EXPECT_EQ(result.exit, 0) << result.err;
    std::vector<std::string> made;
    std::ranges::set_difference(files(folder), before, std::back_inserter(made));
    for (const std::string& name : made) fs::remove(path(folder + "/" + name));
    return fmt::format("{}", fmt::join(made, " "));
  };
  EXPECT_EQ(model_of("parts/deep", "."), "deep.esp");
  EXPECT_EQ(model_of("parts/deep", "./"), "deep.esp");
  EXPECT_EQ(model_of("parts/deep", ".."), "parts.esp");
  EXPECT_EQ(model_of(".", "parts/"), "parts.esp");
  EXPECT_EQ(model_of(".", "parts/deep/.."), "parts.esp");
  EXPECT_EQ(model_of(".", ".hidden.csv"), "hidden.esp");
  EXPECT_EQ(model_of(".", "..csv"), "model.esp");
  for (int time = 0; time < 2; ++time) {  // the model of the first time is no data
    EXPECT_EQ(shell("cd parts && '" ESPALIER_BINARY "' train ." + train).exit, 0);
    EXPECT_TRUE(fs::exists(path("parts/parts.esp")));
  }
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
