// Schedules of any shape: refused with a reason, or sound in everything that is done with them.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "shiplap/core/record.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/report/gantt.hpp"
#include "shiplap/report/trace.hpp"
#include "shiplap/schedule/submission.hpp"
#include "shiplap/schedule/timeline_view.hpp"
#include "shiplap/schedule/validate.hpp"
#include "shiplap/sim/simulate.hpp"
#include "tests/fuzz/made_schedule.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/fuzz/timelines.hpp"

namespace shiplap::fuzz {
namespace {

const std::array<Profile, 3>& profiles() {
  static const std::array all{find_profile("h200"), find_profile("gtx-titan-2014"), find_profile("tesla-m2050-2012")};
  return all;
}

void simulate_on(const Profile& profile, const Schedule& schedule) {
  for (const bool held : {false, true}) {
    const auto prediction = read_or_refused([&] { return simulate(schedule, profile, {.held = held}); });
    if (!prediction) continue;
    const Timeline& timeline = prediction->timeline;
    require_sound(schedule, timeline);
    if (schedule.ops.empty()) continue;
    const std::array processes{TraceProcess{"predicted", schedule, timeline}};
    chrome_trace(processes).dump();
    Form<TimelineView>{}.write(timeline_view(schedule, timeline)).dump();
  }
}

/// Whether the schedule allocates or pins memory: behind itself it may do so twice, which `concatenate` leaves to
/// `problems`.
bool obtains_memory(const Schedule& schedule) {
  return std::ranges::any_of(schedule.ops, [](const Op& op) {
    const auto* call = std::get_if<HostCall>(&op.what);
    return call != nullptr && (call->kind == HostCall::Kind::allocate || call->kind == HostCall::Kind::pin);
  });
}

void use_any_schedule(std::string_view bytes) {
  Input input(bytes);
  const Schedule schedule = made_schedule(input);
  const std::vector<std::string> found = problems(schedule);
  require(found.size() <= 8, "at most eight problems are named");
  require(found == problems(schedule), "problems do not change");
  if (!found.empty()) return;
  for (std::uint32_t i = 0; i < schedule.ops.size(); ++i) describe(schedule, OpId{i});
  for (const Profile& profile : profiles()) simulate_on(profile, schedule);
  read_or_refused([&] { return submission(schedule); });
  if (obtains_memory(schedule)) return;
  if (const auto twice = read_or_refused([&] { return concatenate(schedule, schedule); })) {
    const auto refused = problems(*twice);
    require(refused.empty(),
            "two sound schedules are sound one after the other, but: " + (refused.empty() ? "" : refused[0]));
  }
}

}  // namespace

const Target schedule_target{"schedule", use_any_schedule};

}  // namespace shiplap::fuzz
