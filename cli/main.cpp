// shiplap: measures how data moves between host and GPU, plans the fastest way through a kernel, and runs it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "cli/adaptive.hpp"
#include "cli/advise.hpp"
#include "cli/check.hpp"
#include "cli/compare.hpp"
#include "cli/devices.hpp"
#include "cli/evaluate.hpp"
#include "cli/exit_codes.hpp"
#include "cli/fleet.hpp"
#include "cli/measure.hpp"
#include "cli/movers.hpp"
#include "cli/plan.hpp"
#include "cli/predict.hpp"
#include "cli/profiles.hpp"
#include "cli/program.hpp"
#include "cli/report.hpp"
#include "cli/reproduce.hpp"
#include "cli/run.hpp"
#include "cli/tune.hpp"
#include "cli/version.hpp"

namespace {

int run_shiplap(int argc, char** argv) {
  CLI::App app{"Measure how data moves between host and GPU, plan the fastest way through a kernel, and run it."};
  app.name("shiplap");
  app.set_version_flag("--version", shiplap::cli::version_text("shiplap"));
  app.require_subcommand(1);
  app.footer("Exit status: 0 done, 1 could not, 2 a check of the result failed, 64 wrong usage.");
  shiplap::cli::add_devices(app);
  shiplap::cli::add_profiles(app);
  shiplap::cli::add_measure(app);
  shiplap::cli::add_compare(app);
  shiplap::cli::add_check(app);
  shiplap::cli::add_movers(app);
  shiplap::cli::add_predict(app);
  shiplap::cli::add_plan(app);
  shiplap::cli::add_run(app);
  shiplap::cli::add_tune(app);
  shiplap::cli::add_replay(app);
  shiplap::cli::add_evaluate(app);
  shiplap::cli::add_report(app);
  shiplap::cli::add_fleet(app);
  // What follows "--" of `advise` is the command line of another program.
  const bool advises = argc > 1 && std::string_view(argv[1]) == "advise";
  char** const dashes = advises ? std::find(argv, argv + argc, std::string_view("--")) : argv + argc;
  shiplap::cli::add_advise(app, std::vector<std::string>(std::min(dashes + 1, argv + argc), argv + argc));
  // What follows `reproduce` belongs to another program, --help included, so this one does not parse it.
  const bool reproduces = argc > 1 && std::string_view(argv[1]) == "reproduce";
  const int own = reproduces ? 2 : static_cast<int>(dashes - argv);
  shiplap::cli::add_reproduce(app, std::vector<std::string>(argv + (reproduces ? own : argc), argv + argc));
  return shiplap::cli::run_program(app, own, argv, shiplap::cli::asked_exit_codes(own, argv));
}

}  // namespace

int main(int argc, char** argv) {
  return shiplap::cli::run_main("shiplap", shiplap::cli::asked_exit_codes(argc, argv), run_shiplap, argc, argv);
}
