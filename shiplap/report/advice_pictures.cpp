#include "shiplap/report/advice_pictures.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "shiplap/advise/advice_view.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/report/svg.hpp"
#include "shiplap/report/trace.hpp"

namespace shiplap {

std::string advice_svg(const Advised& advised) {
  if (advised.recorded.schedule.ops.empty()) throw Error("there is no step to draw: " + advised.refused);
  std::vector<SvgPanel> panels{{"recorded", advised.recorded.schedule, advised.recorded.timeline}};
  if (advised.advised) panels.push_back({"advised", advised.advised->schedule, advised.advised->timeline});
  return svg(panels, {.title = short_command(advised.program),
                      .subtitle = fmt::format("{} a step, {}", to_string(advised.step.time.value), advised.gpu),
                      .numbers = "step"});
}

Json advice_trace(const Advised& advised) {
  if (advised.recorded.schedule.ops.empty()) throw Error("there is no step to draw: " + advised.refused);
  std::vector<TraceProcess> processes{{"recorded", advised.recorded.schedule, advised.recorded.timeline}};
  if (advised.advised) processes.push_back({"advised", advised.advised->schedule, advised.advised->timeline});
  return chrome_trace(processes);
}

}  // namespace shiplap
