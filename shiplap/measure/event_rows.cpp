// Primitives for the time that events between the kernels of a stream take.
#include "shiplap/measure/rows.hpp"

namespace shiplap {
namespace {

// Every combination of events, alone and beside copies. Each is measured with two numbers of kernels, whose difference
// contains no start and no end of the run.
std::vector<Point> event_points(const Setting& setting) {
  std::vector<Point> points;
  for (const double busy : {0.0, 1.0}) {
    if (busy > 0 && setting.info.copy_engines < 2) continue;
    for (const double recorded : {0.0, 1.0})
      for (const double waiting : {0.0, 1.0})
        points.push_back(
            count_point("kernels", {8, 40}, {{"recorded", recorded}, {"waiting", waiting}, {"busy", busy}}));
  }
  return points;
}

}  // namespace

std::vector<PrimitiveRow> event_rows() {
  RowTable rows;
  rows.add("apart.kernels", "busy kernels in one stream, with and without events between them", event_points,
           [](MeasurableDevice& device, const Arguments& arguments) {
             return spaced_kernels(device, {.kernels = whole(arguments, "kernels"),
                                            .recorded = arguments.at("recorded") > 0,
                                            .waiting = arguments.at("waiting") > 0,
                                            .busy = arguments.at("busy") > 0});
           });
  return rows.all;
}

}  // namespace shiplap
