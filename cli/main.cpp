// shiplap: measures how data moves between host and GPU, plans the fastest way through a kernel, and runs it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "cli/exit_codes.hpp"
#include "cli/program.hpp"
#include "cli/version.hpp"

namespace {

int run_shiplap(int argc, char** argv) {
  CLI::App app{"Measure how data moves between host and GPU, plan the fastest way through a kernel, and run it."};
  app.name("shiplap");
  app.set_version_flag("--version", shiplap::cli::version_text("shiplap"));
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
  return shiplap::cli::run_program(app, own, argv, shiplap::cli::asked_exit_codes(own, argv));
}

}  // namespace

int main(int argc, char** argv) {
  return shiplap::cli::run_main("shiplap", shiplap::cli::asked_exit_codes(argc, argv), run_shiplap, argc, argv);
}
