#include "shiplap/measure/copies_within.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "shiplap/core/deadline.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/measure/row_memory.hpp"
#include "shiplap/measure/trial.hpp"

namespace shiplap {
namespace {

/// Copies of a burst. Their sum takes about 5 ms on PCIe 5 x16, beside which the host's return between two bursts is
/// less than 1 %.
constexpr Bytes copy_size = 64_MiB;
constexpr unsigned copies_of_burst = 4;
/// Time that the GPU copies before and after the period.
constexpr Seconds margin = milliseconds(300);

/// The part of [begin, end] in the period, as a fraction of [begin, end].
double fraction_within(const Period& period, Seconds begin, Seconds end) {
  return std::max(0.0, (std::min(period.end, end) - std::max(period.begin, begin)) / (end - begin));
}

}  // namespace

Bandwidth copy_rate_within(MeasurableDevice& device, CopyDirection way, const Period& period) {
  if (device.is_virtual())
    throw Unsupported("a simulated GPU shares no host with others: a check of all GPUs at once needs real ones");
  const Trial trial = copy_burst(way, copy_size, copies_of_burst);
  const RowMemory memory(device, {{trial}});
  memory.poison_destinations(device, trial);
  const std::unique_ptr<Execution> execution =
      device.prepare(trial.schedule, {.buffers = memory.data(), .kernels = {}});
  execution->run();  // the first run is slower
  if (steady_time() > period.begin)
    throw Error(fmt::format("the GPU was ready {} after the others were to copy, so that they did not copy at once",
                            to_string(steady_time() - period.begin)));
  sleep_for(period.begin - margin - steady_time());
  double bursts = 0;
  for (Seconds begin = steady_time(); begin < period.end + margin;) {
    execution->run();
    const Seconds end = steady_time();
    bursts += fraction_within(period, begin, end);
    begin = end;
  }
  if (const std::string wrong = memory.difference(device, trial); !wrong.empty()) throw Error(wrong);
  return Bandwidth{bursts * in_bytes(copy_size * copies_of_burst) / (period.end - period.begin).count()};
}

}  // namespace shiplap
