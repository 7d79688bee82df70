// The files that options of all commands name: no output replaces an input or another output.
#include "cli/files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "tests/cli/program.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A command, and the words that call it.
struct Command {
  std::string words;
  const CLI::App* app;
};

/// The program's own description of its commands.
class AllCommands {
 public:
  /// Made once: what is declared of an option is known by its address.
  static const AllCommands& of_the_program() {
    static const AllCommands all;
    return all;
  }
  const std::vector<Command>& commands() const { return commands_; }

 private:
  AllCommands() {
    cli::add_commands(program_, {}, {});
    add("", program_);
  }
  void add(const std::string& words, const CLI::App& app) {
    if (!words.empty()) commands_.push_back({words, &app});
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
      add(words + (words.empty() ? "" : " ") + command->get_name(), *command);
  }

  CLI::App program_{"every command"};
  std::vector<Command> commands_;
};

bool takes_a_value(const CLI::Option* option) { return option->get_items_expected_max() > 0; }

/// Whether the option seems to name a file: by its type, or because its help says so.
bool seems_to_name_a_file(const CLI::Option* option) {
  constexpr std::array positionals{"WORKLOAD", "NAME", "LOG", "BASELINE", "NOW"};
  if (std::ranges::count(positionals, option->get_name()) > 0) return true;
  for (const char* type : {"FILE", "DIR", "PATH", "RECORDING"})
    if (option->get_type_name().starts_with(type)) return true;
  static const std::regex word(R"(\b(files?|folders?|FILE)\b)");
  return std::regex_search(option->get_description(), word) || option->get_name() == "--profile";
}

TEST(Files, of_every_option_of_every_command_are_declared) {
  const AllCommands& all = AllCommands::of_the_program();
  EXPECT_GT(all.commands().size(), 15u);
  int declared = 0;
  for (const Command& command : all.commands())
    for (const CLI::Option* option : command.app->get_options()) {
      const bool is_declared = cli::declared_use(option) != nullptr;
      declared += is_declared ? 1 : 0;
      if (takes_a_value(option) && seems_to_name_a_file(option) && !is_declared && option->get_name() != "--emit")
        ADD_FAILURE() << command.words << " " << option->get_name() << " names a file: declare_file() says for what";
    }
  EXPECT_GE(declared, 60);
}

bool is_written(const CLI::Option* option) {
  const cli::FileUse* use = cli::declared_use(option);
  return use != nullptr && (*use == cli::FileUse::write || *use == cli::FileUse::update);
}

/// The option with a file, as a user writes it.
std::string with_file(const CLI::Option* option, const std::string& file) {
  const std::string value = option->get_name() == "--device" ? "virtual:" + file : file;
  return option->get_positional() ? " '" + value + "'" : " " + option->get_name() + " '" + value + "'";
}

std::string with_any_value(const CLI::Option* option) {
  if (!takes_a_value(option)) return " " + option->get_name();
  return option->get_name() == "--emit" ? " --emit cuda" : with_file(option, "any.json");
}

/// The other options that the command needs when these two are given; "!" when they exclude each other.
std::string needed(const CLI::App& app, const CLI::Option* one, const CLI::Option* other) {
  std::string words;
  const std::set<CLI::Option*> needs = one->get_needs();
  for (const CLI::Option* option : needs) {
    if (option->get_excludes().contains(const_cast<CLI::Option*>(other))) return "!";
    if (option != other) words += with_any_value(option);
  }
  if (one->get_excludes().contains(const_cast<CLI::Option*>(other))) return "!";
  for (const CLI::Option* option : app.get_options())
    if (option->get_required() && option != one && option != other) words += with_any_value(option);
  return words;
}

class FilesOfCommands : public Cli {
 protected:
  /// Runs a script of bash, in which $SHIPLAP is the program, in the folder of the test.
  Outcome sh(const std::string& script) const {
    write("script", "SHIPLAP='" SHIPLAP_PROGRAM "'\ncd '" + folder.string() + "'\n" + script + "\n");
    return run("/bin/bash", "'" + (folder / "script").string() + "'");
  }
  void SetUp() override {
    write("file.json", "precious");
    fs::create_symlink("file.json", folder / "link.json");
    fs::create_hard_link(folder / "file.json", folder / "hard.json");
    fs::create_directory(folder / "sub");
    fs::create_directory_symlink(folder, folder / "sub" / "up");
  }
};

TEST_F(FilesOfCommands, are_not_replaced_by_an_output_that_names_them_too) {
  const AllCommands& all = AllCommands::of_the_program();
  int pairs = 0;
  for (const Command& command : all.commands()) {
    const auto options = command.app->get_options();
    for (const CLI::Option* written : options)
      for (const CLI::Option* other : options) {
        const cli::FileUse* use = cli::declared_use(other);
        if (!is_written(written) || written == other || use == nullptr || *use == cli::FileUse::read_and_replace)
          continue;
        const std::string rest = needed(*command.app, written, other) + needed(*command.app, other, written);
        if (rest.find('!') != std::string::npos) continue;
        // Each pair has another spelling, so that all of them are tried.
        constexpr std::array spellings{"file.json",        "./file.json", "link.json", "hard.json",
                                       "sub/up/file.json", "new.json",    "./new.json"};
        const std::string spelling = spellings.at(static_cast<std::size_t>(pairs++) % spellings.size());
        const bool is_new = spelling.find("new") != std::string::npos;
        const Outcome outcome =
            sh("timeout 60 $SHIPLAP " + command.words + with_file(written, is_new ? "new.json" : "file.json") +
               with_file(other, is_new ? "sub/../new.json" : spelling) + rest);
        const std::string what = command.words + " " + written->get_name() + " and " + other->get_name();
        EXPECT_EQ(outcome.code, 64) << what << ": " << outcome.err;
        EXPECT_THAT(outcome.err, HasSubstr("name another file")) << what;
        EXPECT_EQ(outcome.out, "") << what;
        EXPECT_EQ(read(folder / "file.json"), "precious") << what;
        EXPECT_FALSE(fs::exists(folder / "new.json")) << what;
      }
  }
  EXPECT_GT(pairs, 60);
}

TEST_F(FilesOfCommands, that_a_command_writes_beside_the_named_one_count_too) {
  expect_refused(sh("$SHIPLAP measure --device virtual:h200 -o a --csv a.partial"), 64, {"--csv a.partial"});
  write("a.partial", profile_text());
  expect_refused(sh("$SHIPLAP measure --device virtual:./a.partial -o a"), 64, {"would be lost"});
}

TEST_F(FilesOfCommands, of_a_recorded_program_are_not_replaced) {
  const std::string program = "#!/bin/sh\nexit 7\n";
  for (const std::string option : {"--record", "--svg", "--trace"})
    for (const std::string words : {"./app", "sh app", "sh -e app"}) {
      write("app", program);
      expect_refused(sh("chmod +x app; $SHIPLAP advise " + option + " ./app -- " + words), 64, {"would be lost"});
      EXPECT_EQ(read(folder / "app"), program);
    }
  EXPECT_NE(sh("$SHIPLAP advise --record sh -- sh ./app").code, 64) << "the shell is not in this folder";
}

TEST_F(FilesOfCommands, of_reproductions_are_all_that_go_into_the_folder) {
  fs::create_directories(folder / "out" / "harris2012");
  if (sh("$SHIPLAP reproduce").code != 0) GTEST_SKIP() << "built without experiments";
  for (const std::string name :
       {"out/harris2012.json", "out/harris2012.md", "out/harris2012.html", "out/harris2012/figure.json"}) {
    write(name, "precious");
    expect_refused(sh("$SHIPLAP reproduce harris2012 -o out --profile ./" + name), 64, {"would be lost"});
    EXPECT_EQ(read(folder / name), "precious");
  }
}

TEST_F(FilesOfCommands, that_stdout_or_stderr_go_to_are_not_replaced) {
  write("profile.json", profile_text());
  for (const std::string stream : {"stdout", "stderr"}) {
    const std::string onto = stream == "stdout" ? ">>" : "2>>";
    for (const std::string& named : std::vector<std::string>{"/dev/" + stream, "log", "./log"}) {
      write("log", "precious\n");
      const Outcome outcome = sh("$SHIPLAP report profile.json --no-map -o " + named + " " + onto + " log");
      EXPECT_EQ(outcome.code, 64) << named << outcome.err;
      EXPECT_THAT(read(folder / "log"), StartsWith("precious\n")) << named;
    }
  }
}

TEST_F(FilesOfCommands, are_read_and_written_where_that_is_meant) {
  fs::copy_file(SHIPLAP_SOURCE_DIR "/profiles/h200.json", folder / "profile.json");
  EXPECT_EQ(sh("$SHIPLAP profiles refit ./profile.json -o profile.json").code, 0);
  EXPECT_EQ(sh("$SHIPLAP plan saxpy:n=64Ki --profile <(cat profile.json) --chunks 2").code, 0) << "a pipe of the user";
  EXPECT_EQ(sh("$SHIPLAP plan saxpy:n=64Ki --profile h200 --chunks 2 --trace h200 > /dev/null").code, 0)
      << "h200 is a built-in profile, and not a file";
  EXPECT_EQ(sh("$SHIPLAP measure --list -o nowhere/profile.json").code, 0) << "nothing is written";
  EXPECT_EQ(sh("mkdir checks; $SHIPLAP check --device virtual:h200 --json > checks/a.json").code, 0);
  for (int i = 0; i < 2; ++i) {
    const Outcome collected = sh("$SHIPLAP fleet collect checks --history checks/history.json");
    EXPECT_EQ(collected.code, 0) << collected.err;
    EXPECT_EQ(collected.out.find("not done"), std::string::npos) << "a history is no check: " << collected.out;
  }
  const std::string evaluate =
      "$SHIPLAP evaluate --device virtual:h200 --sizes 64KiB --strategies explicit --chunks 1 "
      "--no-transfers saxpy -o e.json";
  EXPECT_EQ(sh(evaluate).code, 0);
  EXPECT_EQ(sh(evaluate + " --resume --csv e.csv > log 2>&1").code, 0);
}

TEST_F(FilesOfCommands, that_cannot_be_written_are_refused_before_any_work) {
  fs::create_symlink("loop", folder / "loop");
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  for (const std::string& bad :
       std::vector<std::string>{"loop", "pipe", "sub", "nowhere/file", std::string(300, 'x')}) {
    const Outcome outcome = sh("timeout 20 $SHIPLAP measure --device virtual:h200 -o " + bad);
    EXPECT_EQ(outcome.code, 1) << bad;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr(bad), ::testing::Not(HasSubstr("filesystem")))) << bad;
  }
}

}  // namespace
}  // namespace shiplap
