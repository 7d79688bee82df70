// A timeline as text: one line for each engine with the chunks as digits, 80 columns wide unless asked otherwise.
#pragma once

#include <string>
#include <string_view>

#include "shiplap/document/table.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/schedule/timeline.hpp"

namespace shiplap {

struct GanttOptions {
  TextStyle style{.colour = false, .width = 80};
  std::string title = {};  ///< a line above; none when empty
  Seconds axis_end{0};  ///< end of the time axis; 0: the end of the last op. Pictures to be compared need the same end.
};

/// A picture in which every column stands for the same length of time. A column shows the last digit of the number of
/// the chunk that keeps the engine busy longest in it, or "·" where the engine is idle for more than half of it. An op
/// that would get no column takes the idle column that it lies in. Throws as `engine_rows` does.
std::string gantt(const Schedule&, const Timeline&, const GanttOptions& = {});

}  // namespace shiplap
