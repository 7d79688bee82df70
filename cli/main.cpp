// shiplap: measures how data moves between host and GPU, plans the fastest way through a kernel, and runs it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "cli/completion.hpp"
#include "cli/exit_codes.hpp"
#include "cli/output.hpp"
#include "cli/program.hpp"
#include "cli/version.hpp"

namespace {

/// The arguments as options: `shiplap help plan` asks for what `shiplap plan --help` says, and `shiplap` alone for
/// help.
std::vector<char*> with_help_as_option(int argc, char** argv) {
  static char help[] = "--help";
  std::vector<char*> arguments(argv, argv + argc);
  if (argc > 1 && std::string_view(argv[1]) == "help") {
    arguments.erase(arguments.begin() + 1);
    arguments.push_back(help);
  } else if (argc <= 1) {
    arguments.push_back(help);
  }
  arguments.push_back(nullptr);
  return arguments;
}

int run_shiplap(int given, char** given_argv) {
  std::vector<char*> arguments = with_help_as_option(given, given_argv);
  const int argc = static_cast<int>(arguments.size()) - 1;
  char** const argv = arguments.data();
  CLI::App app{"Measure how data moves between host and GPU, plan the fastest way through a kernel, and run it."};
  app.name("shiplap");
  app.set_version_flag("-V,--version", shiplap::cli::version_text("shiplap"));
  app.require_subcommand(1);
  app.footer("Exit status: 0 done, 1 could not, 2 a check of the result failed, 64 wrong usage.");
  // What follows "--" of `advise` is the command line of another program.
  const bool advises = argc > 1 && std::string_view(argv[1]) == "advise";
  char** const dashes = advises ? std::find(argv, argv + argc, std::string_view("--")) : argv + argc;
  // What follows `reproduce` belongs to another program, --help included, so this one does not parse it.
  const bool reproduces = argc > 1 && std::string_view(argv[1]) == "reproduce";
  const int own = reproduces ? 2 : static_cast<int>(dashes - argv);
  shiplap::cli::add_commands(app, std::vector<std::string>(std::min(dashes + 1, argv + argc), argv + argc),
                             std::vector<std::string>(argv + (reproduces ? own : argc), argv + argc));
  if (argc > 2 && std::string_view(argv[1]) == "complete") {  // shells ask this, and no help names it
    const std::vector<std::string_view> words(argv + 3, argv + argc);
    shiplap::cli::print_verbatim(shiplap::cli::completions(app, words));
    return 0;
  }
  return shiplap::cli::run_program(app, own, argv);
}

}  // namespace

int main(int argc, char** argv) {
  return shiplap::cli::run_main("shiplap", shiplap::cli::asked_exit_codes(argc, argv), run_shiplap, argc, argv);
}
