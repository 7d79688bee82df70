// Kernels whose launches on host memory cannot be measured.
#include "shiplap/pipeline/probe.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "shiplap/core/error.hpp"
#include "shiplap/device/pinned_vector.hpp"
#include "shiplap/device/probe_kernel.hpp"
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
        .kernel_time(microseconds(10))
        .zero_copy_suits()
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

/// A device that says that it is a GPU, so that a plan measures the kernel on it.
class LikeAGpu : public ForwardingDevice {
 public:
  LikeAGpu() : ForwardingDevice(planted_gpu()) {}
  DeviceInfo info() const override {
    DeviceInfo info = ForwardingDevice::info();
    info.is_virtual = false;
    return info;
  }
};

// 48 MiB, so that launches of several sizes write at several positions.
TEST(ProbeKernel, leaves_all_arrays_as_they_were_before_it) {
  LikeAGpu gpu;
  const std::size_t n = 12 << 20;
  pinned_vector<float> x(gpu, n, 1.0f);
  pinned_vector<float> out(gpu, n);
  pinned_vector<float> both(gpu, n, 2.0f);
  std::iota(out.begin(), out.end(), 0.0f);  // results of an earlier job
  std::uint64_t written = 0;
  const auto check = [&](const Job& job) {
    const KernelCost cost = probe_kernel(gpu, job, roomy);
    EXPECT_FALSE(cost.zero_copy.empty());
    EXPECT_GT(written, 0u);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], static_cast<float>(i));
    EXPECT_EQ(std::ranges::count(both, 2.0f), static_cast<std::ptrdiff_t>(n));
  };
  const auto described = Job{n, "map"}.in("x", x).out("out", out);
  const auto stated = [](auto job) { return job.kernel_time(milliseconds(1)).zero_copy_suits(); };
  check(stated(described).host_kernel([&](Chunk c, auto from, auto to) {
    for (std::uint64_t i = c.first; i < c.end(); ++i) to[i] = from[i] - 1;
    written += c.count;
  }));
  check(stated(described.inout("both", both)).host_kernel([&](Chunk c, auto from, auto to, auto also) {
    for (std::uint64_t i = c.first; i < c.end(); ++i) also[i] += to[i] = from[i] - 1;
    written += c.count;
  }));
}

}  // namespace
}  // namespace shiplap
