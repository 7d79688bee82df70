#include "shiplap/pipeline/run_async.hpp"

#include <algorithm>
#include <memory>
#include <stop_token>
#include <utility>

#include "shiplap/core/deadline.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/thread.hpp"
#include "shiplap/device/stream_gap.hpp"

namespace shiplap {

Running run_async(Device& device, Prepared& prepared, void* stream, RunOptions options) {
  if (stream != nullptr && device.is_capturing(stream)) {
    prepared.capture(stream);
    std::promise<RunResult> captured;
    captured.set_value({});
    Running running;
    running.result_ = captured.get_future();
    return running;
  }
  // A trace ends with calls that wait for all streams, including the one that is held until the run ends.
  if (stream != nullptr && options.trace != Trace::none)
    throw UsageError("a run within a stream of the caller cannot be traced: trace a run without a stream");
  std::shared_ptr<StreamGap> gap = stream == nullptr ? nullptr : device.open_gap(stream);
  Running running;
  options.stop = [also = std::move(options.stop), token = running.stop_.get_token()] {
    return token.stop_requested() || (also && also());
  };
  const Seconds began = steady_time();
  std::packaged_task<RunResult()> task([&prepared, gap, began, options = std::move(options)]() mutable {
    if (!gap) return prepared.run(options);
    const std::unique_ptr<StreamGap, void (*)(StreamGap*)> released(gap.get(), [](StreamGap* g) { g->release(); });
    gap->wait(options.limit, options.stop);
    if (options.limit > Seconds{0}) options.limit = std::max(options.limit - (steady_time() - began), microseconds(1));
    return prepared.run(options);
  });
  running.result_ = task.get_future();
  running.thread_ = start_thread(std::move(task));
  return running;
}

}  // namespace shiplap
