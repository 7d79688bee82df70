#include "shiplap/pipeline/ideal_overlap.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/workload/described_job.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_gpu.hpp"

namespace shiplap {
namespace {

TEST(PrepareKernel, needs_device_memory_for_what_stays_and_one_item) {
  const auto gpu = planted_gpu();
  std::vector<float> table(1024);
  std::vector<float> x(256);
  const Job job = Job{x.size(), "mine"}
                      .broadcast("table", table)
                      .inout("x", x)
                      .kernel_time(microseconds(10))
                      .host_kernel([](Chunk, auto, auto) {});
  EXPECT_NO_THROW(prepare_kernel(*gpu, job, {.device_memory = 4100_B}));
  EXPECT_EQ(
      message_of([&] { prepare_kernel(*gpu, job, {.device_memory = 4099_B}); }),
      "mine: the arrays that stay on the GPU and one item need 4.004 KiB of device memory, and 4.003 KiB may be used: "
      "allow more device memory, or make the arrays smaller");
}

}  // namespace
}  // namespace shiplap
