#include "shiplap/pipeline/run_async.hpp"

#include <memory>
#include <utility>

namespace shiplap {

Running run_async(Device& device, Prepared& prepared, void* stream, RunOptions options) {
  std::shared_ptr<StreamGap> gap = stream == nullptr ? nullptr : device.open_gap(stream);
  Running running;
  options.stop = running.stop_.get_token();
  std::packaged_task<RunResult()> task([&prepared, gap, options = std::move(options)] {
    if (!gap) return prepared.run(options);
    const std::unique_ptr<StreamGap, void (*)(StreamGap*)> released(gap.get(), [](StreamGap* g) { g->release(); });
    gap->wait();
    return prepared.run(options);
  });
  running.result_ = task.get_future();
  running.thread_ = std::jthread(std::move(task));
  return running;
}

}  // namespace shiplap
