// shiplap-reproduce: the tables, figures and claims of papers, on the hardware at hand. `shiplap reproduce` starts it.
#include <CLI/CLI.hpp>

#include "cli/program.hpp"
#include "cli/version.hpp"
#include "experiments/program/reproduce.hpp"

namespace {

constexpr const char* name = "shiplap reproduce";  // users call the program by this name

int run(int argc, char** argv) {
  CLI::App app{"Run the experiments of a paper and say which of its claims hold here."};
  app.name(name);
  app.set_version_flag("--version", shiplap::cli::version_text(name));
  shiplap::experiments::add_reproduce(app);
  return shiplap::cli::run_program(app, argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
  return shiplap::cli::run_main(name, shiplap::cli::ExitCodes::shiplap, run, argc, argv);
}
