// A timeline as text: one line for each engine, chunks as digits, readable at 80 columns with and without colour.
#pragma once

#include <string>
#include <string_view>

#include "shiplap/report/table.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/schedule/timeline.hpp"

namespace shiplap {

struct GanttOptions {
  TextStyle style{.colour = false, .width = 80};
  std::string title = {};  ///< a line above; none when empty
  Seconds axis_end{0};     ///< where the axis ends; 0: the end of the last op. Give two pictures the same to compare.
};

/// Each column stands for an equal piece of time and shows the last digit of the chunk that keeps the engine busy for
/// the longest part of it, or "·" where the engine is idle for more than half of it. An op that would get no column
/// takes the idle one it lies in.
/// Throws as `engine_rows`.
std::string gantt(const Schedule&, const Timeline&, const GanttOptions& = {});

}  // namespace shiplap
