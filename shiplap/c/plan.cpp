#include <utility>

#include "shiplap/c/handles.hpp"
#include "shiplap/c/status.hpp"
#include "shiplap/schedule/timeline.hpp"

using namespace shiplap;
using c::given;
using c::guarded;
using c::text_of;

namespace {

PlanOptions options_of(const shiplap_options* asked) {
  if (asked == nullptr) return {};
  if (asked->size != sizeof(shiplap_options))
    throw UsageError(
        "the options are of another version of shiplap.h: begin with SHIPLAP_OPTIONS, and compile against "
        "the header of this library");
  return {.device_memory = Bytes{asked->device_memory},
          .runs = asked->runs,
          .may_pin = asked->may_pin != 0,
          .race = Seconds{asked->race},
          .check_reach = asked->check_reach != 0,
          .quick = asked->quick != 0};
}

template <class Planned>
shiplap_plan* handle_of(Planned planned) {
  std::string explanation = planned.plan.explain();
  return new shiplap_plan{.plan = std::move(planned), .explanation = std::move(explanation)};
}

}  // namespace

extern "C" {

shiplap_status shiplap_plan_job(shiplap_plan** to, const shiplap_node* node, const shiplap_job* job,
                                const shiplap_options* options) {
  return guarded([&] {
    given(to, "plan") = nullptr;
    const Job& planned = given(job, "job").job;
    *to = handle_of(shiplap_plan::OfJob{plan(given(node, "node").node, planned, options_of(options)), planned});
  });
}

shiplap_status shiplap_plan_step(shiplap_plan** to, const shiplap_node* node, const shiplap_step* step,
                                 const shiplap_options* options) {
  return guarded([&] {
    given(to, "plan") = nullptr;
    const Step& planned = given(step, "step").step;
    *to = handle_of(shiplap_plan::OfStep{plan(given(node, "node").node, planned, options_of(options)), planned});
  });
}

void shiplap_plan_destroy(shiplap_plan* plan) { delete plan; }

const char* shiplap_explain(const shiplap_plan* plan) { return plan != nullptr ? plan->explanation.c_str() : ""; }

double shiplap_predicted(const shiplap_plan* plan) {
  if (plan == nullptr) return 0;
  if (const auto* job = std::get_if<shiplap_plan::OfJob>(&plan->plan)) return job->plan.chosen.predicted.value.count();
  return std::get<shiplap_plan::OfStep>(plan->plan).plan.predicted.value.count();
}

shiplap_status shiplap_prepare(shiplap_prepared** prepared, const shiplap_node* node, const shiplap_plan* plan) {
  return guarded([&] {
    given(prepared, "prepared") = nullptr;
    Device& device = *given(node, "node").node.device;
    if (const auto* job = std::get_if<shiplap_plan::OfJob>(&given(plan, "plan").plan)) {
      *prepared = new shiplap_prepared{prepare(device, job->plan, job->job)};
    } else {
      const auto& step = std::get<shiplap_plan::OfStep>(plan->plan);
      *prepared = new shiplap_prepared{PreparedStep(device, step.plan, step.step)};
    }
  });
}

void shiplap_prepared_destroy(shiplap_prepared* prepared) { delete prepared; }

shiplap_status shiplap_run(shiplap_prepared* prepared, double* seconds) {
  return guarded([&] {
    const RunResult result = std::visit([](auto& ready) { return ready.run(); }, given(prepared, "prepared").prepared);
    if (seconds != nullptr) *seconds = result.timeline.makespan.count();
  });
}

shiplap_status shiplap_changed(shiplap_prepared* prepared, const char* array) {
  return guarded([&] {
    const std::string name = text_of(array, "array");
    std::visit([&](auto& ready) { ready.changed(name); }, given(prepared, "prepared").prepared);
  });
}

shiplap_status shiplap_fetch(shiplap_prepared* prepared, const char* array) {
  return guarded([&] {
    const std::string name = text_of(array, "array");
    std::visit([&](auto& ready) { ready.fetch(name); }, given(prepared, "prepared").prepared);
  });
}
}
