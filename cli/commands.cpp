#include "cli/commands.hpp"

#include <CLI/CLI.hpp>
#include <utility>

#include "cli/adaptive.hpp"
#include "cli/advise.hpp"
#include "cli/check.hpp"
#include "cli/common.hpp"
#include "cli/compare.hpp"
#include "cli/demo.hpp"
#include "cli/devices.hpp"
#include "cli/evaluate.hpp"
#include "cli/fleet.hpp"
#include "cli/measure.hpp"
#include "cli/movers.hpp"
#include "cli/plan.hpp"
#include "cli/predict.hpp"
#include "cli/profiles.hpp"
#include "cli/report.hpp"
#include "cli/reproduce.hpp"
#include "cli/run.hpp"
#include "cli/tune.hpp"

namespace shiplap::cli {

void add_commands(CLI::App& app, std::vector<std::string> advised, std::vector<std::string> reproduced) {
  add_demo(app);
  add_advise(app, std::move(advised));
  add_check(app);
  add_plan(app);
  add_run(app);
  add_tune(app);
  add_measure(app);
  add_compare(app);
  add_movers(app);
  add_report(app);
  add_devices(app);
  add_profiles(app);
  for (CLI::App* command : app.get_subcommands({})) command->group("Every day");
  add_predict(app);
  add_evaluate(app);
  add_reproduce(app, std::move(reproduced));
  add_replay(app);
  add_fleet(app);
  for (CLI::App* command : app.get_subcommands({}))
    if (command->get_group() != "Every day") command->group("For models, papers and fleets");
  add_style_flags(app);
}

}  // namespace shiplap::cli
