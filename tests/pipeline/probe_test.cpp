// Kernels whose launches on host memory cannot be measured.
#include "shiplap/pipeline/probe.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "shiplap/core/error.hpp"
#include "shiplap/device/pinned_vector.hpp"
#include "shiplap/workload/described_job.hpp"
#include "tests/support/forwarding_device.hpp"
#include "tests/support/jobs.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_gpu.hpp"

namespace shiplap {
namespace {

/// A device that fails where zero-copy is measured, which allocates pinned memory of its own.
class WithoutZeroCopy : public ForwardingDevice {
 public:
  explicit WithoutZeroCopy(std::function<void()> fail) : ForwardingDevice(planted_gpu()), fail_(std::move(fail)) {}
  Memory allocate(Place place, MemoryKind kind, Bytes size) override {
    if (place.is_host() && kind == MemoryKind::pinned && fail_) fail_();
    return ForwardingDevice::allocate(place, kind, size);
  }

 private:
  std::function<void()> fail_;
};

/// Copies `in` to `out`, in pinned memory.
struct ProbedCopy {
  explicit ProbedCopy(MeasurableDevice& gpu) : in(gpu, 4096), out(gpu, 4096) { std::iota(in.begin(), in.end(), 0.0f); }
  Job job(const Reach& reach = own_items) {
    return Job{in.size(), "copy"}
        .in("in", in, reach)
        .out("out", out)
        .takes(microseconds(10))
        .touches_each_byte_once()
        .host_kernel([](Chunk chunk, auto from, auto to) {
          for (std::uint64_t i = chunk.first; i < chunk.end(); ++i) to[i] = from[i];
        });
  }
  pinned_vector<float> in;
  pinned_vector<float> out;
};

KernelCost probed(const std::function<void()>& fail) {
  const auto gpu = planted_gpu();
  ProbedCopy copy(*gpu);
  WithoutZeroCopy failing(fail);
  return probe_kernel(failing, copy.job(), roomy);
}

TEST(ProbeKernel, goes_on_without_zero_copy_where_it_cannot_be_measured_and_says_why) {
  const KernelCost with = probed({});
  EXPECT_FALSE(with.zero_copy.empty());
  EXPECT_EQ(with.origin.find("without zero-copy"), std::string::npos) << with.origin;
  const KernelCost without = probed([] { throw Error("no pinned memory is left"); });
  EXPECT_TRUE(without.zero_copy.empty());
  EXPECT_NE(without.origin.find(", without zero-copy (no pinned memory is left)"), std::string::npos) << without.origin;
  EXPECT_EQ(without.points.size(), with.points.size());
}

TEST(ProbeKernel, ends_with_an_error_of_the_caller_and_where_it_was_stopped) {
  EXPECT_EQ(message_of<UsageError>([] { probed([] { throw UsageError("`kernel`: not so"); }); }), "`kernel`: not so");
  EXPECT_EQ(message_of<Cancelled>([] { probed([] { throw Cancelled("enough"); }); }), "enough");
}

// The whole job reads all elements but the first, which a launch over a part reads.
TEST(ProbeKernel, measures_no_zero_copy_where_a_part_reaches_beyond_the_whole) {
  const auto gpu = planted_gpu();
  ProbedCopy copy(*gpu);
  const std::uint64_t all = copy.in.size();
  const Reach odd = mapped_by([all](ItemRange r) {
    return r.count == all ? ElementRange{1, all - 1} : ElementRange{r.first, r.count};
  });
  Job job = copy.job(odd);
  job.binding.host = [](const Launch&) {};
  const KernelCost cost = probe_kernel(*gpu, job, roomy);
  EXPECT_TRUE(cost.zero_copy.empty());
  EXPECT_NE(cost.origin.find("in: a smaller chunk reaches beyond the middle one, so zero-copy cannot be measured"),
            std::string::npos)
      << cost.origin;
}

}  // namespace
}  // namespace shiplap
