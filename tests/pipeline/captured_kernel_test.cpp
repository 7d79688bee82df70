// Captures that fail. What captures of kernels find is tested on a GPU.
#include "shiplap/pipeline/captured_kernel.hpp"

#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/workload/described_job.hpp"
#include "tests/support/forwarding_device.hpp"
#include "tests/support/jobs.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_gpu.hpp"

namespace shiplap {
namespace {

/// A device that passes for a GPU and answers every graph with an error.
class CapturesNothing : public ForwardingDevice {
 public:
  explicit CapturesNothing(std::function<void()> fail) : ForwardingDevice(planted_gpu()), fail_(std::move(fail)) {}
  DeviceInfo info() const override {
    DeviceInfo info = ForwardingDevice::info();
    info.is_virtual = false;
    info.simulated.reset();
    return info;
  }
  std::unique_ptr<Execution> prepare(const Schedule& schedule, const Bindings& bindings) override {
    if (schedule.as_graph) fail_();
    return ForwardingDevice::prepare(schedule, bindings);
  }

 private:
  std::function<void()> fail_;
};

Job capturable_job() {
  static std::vector<float> x(128);
  return Job{x.size(), "mine"}.inout("x", x).host_kernel([](Chunk, auto) {});
}

TEST(AsCaptured, says_what_a_kernel_may_not_do_and_what_the_driver_said) {
  CapturesNothing gpu([] { throw Error("cudaErrorStreamCaptureUnsupported"); });
  const auto capture = [&] { as_captured(gpu, capturable_job(), roomy); };
  EXPECT_EQ(message_of(capture),
            "the kernel of mine cannot be captured: it must only enqueue work on the stream it is given, and "
            "neither wait nor allocate (cudaErrorStreamCaptureUnsupported)");
  try {
    capture();
  } catch (const Error& error) {
    EXPECT_EQ(message_of([&] { std::rethrow_if_nested(error); }), "cudaErrorStreamCaptureUnsupported");
  }
}

TEST(AsCaptured, hands_on_that_a_device_does_not_capture_and_that_it_was_stopped) {
  CapturesNothing old([] { throw Unsupported("graphs need CUDA 12"); });
  EXPECT_EQ(message_of<Unsupported>([&] { as_captured(old, capturable_job(), roomy); }), "graphs need CUDA 12");
  CapturesNothing stopped([] { throw Cancelled("stopped by the caller"); });
  EXPECT_EQ(message_of<Cancelled>([&] { as_captured(stopped, capturable_job(), roomy); }), "stopped by the caller");
}

TEST(AsCaptured, captures_no_kernel_that_is_not_capturable) {
  CapturesNothing gpu([] { throw Error("captured"); });
  Job job = capturable_job();
  job.capturable = false;
  EXPECT_NO_THROW(as_captured(gpu, job, roomy));
}

}  // namespace
}  // namespace shiplap
