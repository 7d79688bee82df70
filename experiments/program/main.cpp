// shiplap-reproduce: the tables, figures and claims of papers, on the hardware at hand. `shiplap reproduce` starts it.
#include <CLI/CLI.hpp>

#include "cli/program.hpp"
#include "cli/version.hpp"
#include "experiments/program/reproduce.hpp"

int main(int argc, char** argv) {
  CLI::App app{"Run the experiments of a paper and say which of its claims hold here."};
  app.name("shiplap reproduce");  // users call the program by this name
  app.set_version_flag("--version", shiplap::cli::version_text("shiplap reproduce"));
  shiplap::experiments::add_reproduce(app);
  return shiplap::cli::run_program(app, argc, argv);
}
