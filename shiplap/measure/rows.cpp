#include "shiplap/measure/rows.hpp"

namespace shiplap {
namespace {

/// The text with the part of each "{H2D|D2H}" that is for this direction.
std::string in_direction(std::string_view text, CopyDirection way) {
  std::string out;
  for (auto open = text.find('{'); open != std::string_view::npos; open = text.find('{')) {
    const auto bar = text.find('|', open);
    const auto close = text.find('}', bar);
    out += text.substr(0, open);
    out += way == host_to_device ? text.substr(open + 1, bar - open - 1) : text.substr(bar + 1, close - bar - 1);
    text.remove_prefix(close + 1);
  }
  return out.append(text);
}

}  // namespace

void RowTable::add(std::string name, std::string summary, MakePoints points, MakeTrial trial,
                   std::optional<HostClock> clock) {
  all.push_back({{std::move(name), std::move(summary), clock ? "host" : "events"},
                 std::move(points),
                 std::move(trial),
                 clock.value_or(HostClock::submission)});
}

void RowTable::add_way(CopyDirection way, std::string_view name, std::string_view summary, MakePoints points,
                       MakeDirectedTrial trial, std::optional<HostClock> clock) {
  add(
      in_direction(name, way), in_direction(summary, way), std::move(points),
      [way, make = std::move(trial)](MeasurableDevice& device, const Arguments& arguments) {
        return make(way, device, arguments);
      },
      clock);
}

void RowTable::add_each_way(std::string_view name, std::string_view summary, const MakePoints& points,
                            const MakeDirectedTrial& trial, std::optional<HostClock> clock) {
  for (const CopyDirection way : both_directions) add_way(way, name, summary, points, trial, clock);
}

}  // namespace shiplap
