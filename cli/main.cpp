// shiplap: measures how data moves between host and GPU, plans the fastest way through a kernel, and runs it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>

#include "cli/adaptive.hpp"
#include "cli/check.hpp"
#include "cli/compare.hpp"
#include "cli/devices.hpp"
#include "cli/evaluate.hpp"
#include "cli/measure.hpp"
#include "cli/parameter_names.hpp"
#include "cli/plan.hpp"
#include "cli/predict.hpp"
#include "cli/profiles.hpp"
#include "cli/reproduce.hpp"
#include "cli/run.hpp"
#include "cli/tune.hpp"
#include "shiplap/core/error.hpp"

namespace {

int complain(const char* message, shiplap::ExitCode code) {
  fmt::print(stderr, "shiplap: {}\n", shiplap::cli::in_flags(message));
  return static_cast<int>(code);
}

}  // namespace

int main(int argc, char** argv) {
  using shiplap::ExitCode;
  CLI::App app{"Measure how data moves between host and GPU, plan the fastest way through a kernel, and run it."};
  app.name("shiplap");
  app.set_version_flag("--version", "shiplap " SHIPLAP_VERSION);
  app.require_subcommand(1);
  app.footer("Exit status: 0 done, 1 could not, 2 a check of the result failed, 64 wrong usage.");
  shiplap::cli::add_devices(app);
  shiplap::cli::add_profiles(app);
  shiplap::cli::add_measure(app);
  shiplap::cli::add_compare(app);
  shiplap::cli::add_check(app);
  shiplap::cli::add_predict(app);
  shiplap::cli::add_plan(app);
  shiplap::cli::add_run(app);
  shiplap::cli::add_tune(app);
  shiplap::cli::add_replay(app);
  shiplap::cli::add_evaluate(app);
  shiplap::cli::add_reproduce(app);
  try {
    app.parse(argc, argv);  // runs the subcommand
    return static_cast<int>(ExitCode::success);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : static_cast<int>(ExitCode::usage);
  } catch (const shiplap::Error& e) {
    return complain(e.what(), e.code());
  } catch (const std::bad_alloc&) {
    return complain("the host has not enough memory for this; make the workload smaller", ExitCode::failure);
  } catch (const std::exception& e) {
    return complain(e.what(), ExitCode::failure);
  }
}
