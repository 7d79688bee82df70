#include "shiplap/plan/kernel_times.hpp"

namespace shiplap {

Job at_interval_end(const Job& job, End end) {
  const auto move = [end](Interval<Seconds>& time) { time.value = end == End::low ? time.low : time.high; };
  Job result = job;
  for (auto& point : result.cost.points) move(point.work);
  for (auto& limited : result.cost.limited) move(limited.work);
  for (auto& row : result.cost.zero_copy)
    for (auto* points : {&row.alone, &row.beside})
      for (auto& point : *points) move(point.work);
  return result;
}

}  // namespace shiplap
