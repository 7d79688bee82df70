#include "shiplap/schedule/timeline.hpp"

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/schedule/names.hpp"

namespace shiplap {

std::string to_string(Engine engine) { return std::string(enum_name(engine)); }

Seconds busy_time(const Timeline& timeline, Engine engine) {
  // A makespan without spans does not tell busy times, and 0 would be wrong.
  if (timeline.spans.empty() && timeline.makespan.count() > 0)
    throw Error("the timeline has no times of single ops; run with trace to get them");
  std::vector<Span> spans;
  for (const Span& span : timeline.spans)
    if (span.engine == engine) spans.push_back(span);
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.start < b.start; });
  Seconds busy{0};
  for (std::size_t i = 0; i < spans.size();) {
    // Overlapping and adjacent spans count as one.
    const Seconds start = spans[i].start;
    Seconds end = spans[i].end;
    for (++i; i < spans.size() && spans[i].start <= end; ++i) end = std::max(end, spans[i].end);
    busy += std::max(Seconds{0}, end - start);
  }
  return busy;
}

BusiestEngine busiest_engine(const Timeline& timeline) {
  BusiestEngine best{Engine::compute, Seconds{-1}};
  for (const Engine engine :
       {Engine::copy_h2d, Engine::copy_d2h, Engine::copy_shared, Engine::compute, Engine::copy_d2d, Engine::host})
    if (const Seconds busy = busy_time(timeline, engine); busy > best.busy) best = {engine, busy};
  return best;
}

}  // namespace shiplap
