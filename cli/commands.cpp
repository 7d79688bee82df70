#include "cli/commands.hpp"

#include <utility>

#include "cli/adaptive.hpp"
#include "cli/advise.hpp"
#include "cli/check.hpp"
#include "cli/compare.hpp"
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
  add_devices(app);
  add_profiles(app);
  add_measure(app);
  add_compare(app);
  add_check(app);
  add_movers(app);
  add_predict(app);
  add_plan(app);
  add_run(app);
  add_tune(app);
  add_replay(app);
  add_evaluate(app);
  add_report(app);
  add_fleet(app);
  add_advise(app, std::move(advised));
  add_reproduce(app, std::move(reproduced));
}

}  // namespace shiplap::cli
