#include "tests/fuzz/timelines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tests/fuzz/target.hpp"

namespace shiplap::fuzz {

void require_sound(const Schedule& schedule, const Timeline& timeline) {
  require(timeline.spans.size() == schedule.ops.size(), "a timeline has a span for every op");
  require(std::isfinite(timeline.makespan.count()) && timeline.makespan >= Seconds{0}, "a makespan is a time");
  // Sums of times in another order differ by rounding.
  const Seconds rounding = timeline.makespan * 1e-9;
  for (std::size_t i = 0; i < schedule.ops.size(); ++i) {
    const Span& span = timeline.spans[i];
    const std::string op = fmt::format("op {}, from {} s to {} s: ", i, span.start.count(), span.end.count());
    require(std::isfinite(span.start.count()) && std::isfinite(span.end.count()), op + "times are finite");
    require(span.end >= span.start && span.start >= -rounding, op + "an op ends after it starts");
    for (const OpId before : schedule.ops[i].after)
      require(timeline.spans[before.index()].end <= span.end + rounding,
              op + fmt::format("it does not end before op {} that it waits for", before.value));
  }
}

}  // namespace shiplap::fuzz
