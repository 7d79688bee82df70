// Steps whose kernels use overlapping parts of a few arrays, on the virtual device, against the same kernels on the
// host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/pipeline/step.hpp"
#include "shiplap/schedule/validate.hpp"
#include "shiplap/workload/described_job.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

using Values = std::span<std::uint32_t>;

/// out[i] = 3 out[i] + in[i - halo] + in[i + halo], within the part.
Job mixing(const std::string& name, Values in, Values out, std::uint64_t width) {
  const std::uint64_t last = in.size() - 1;
  Job job = Job{out.size(), name}
                .in("in", in, halo(width, width))
                .inout("out", out)
                .host_kernel([=](Chunk chunk, auto from, auto to) {
                  for (std::uint64_t i = chunk.first; i < chunk.end(); ++i)
                    to[i] = 3 * to[i] + from[i < width ? 0 : i - width] + from[std::min(i + width, last)];
                });
  job.cost = {.points = {{job.items, Interval<Seconds>::exact(Seconds{5e-6})}}, .limited = {}, .origin = "stated"};
  return job;
}

/// A random step over parts of three arrays, and the same on the host.
struct DrawnParts {
  static constexpr std::size_t arrays = 3;
  static constexpr std::size_t length = 512;
  std::vector<std::vector<std::uint32_t>> data{arrays, std::vector<std::uint32_t>(length)};
  Step step{"parts"};

  explicit DrawnParts(std::uint32_t seed) : random_(seed) {
    for (auto& one : data)
      for (auto& value : one) value = static_cast<std::uint32_t>(random_());
    const std::size_t kernels = between(2, 6);
    for (std::size_t k = 0; k < kernels; ++k) {
      const std::size_t from = between(0, arrays - 1);
      const std::size_t to = (from + between(1, arrays - 1)) % arrays;
      const std::size_t size = between(1, length);
      step = step.kernel(mixing("k" + std::to_string(k), part(from, size), part(to, size), between(0, 4)));
      if (between(0, 2) == 0) add_host();
    }
    step = step.repeated(between(1, 3));
  }

  std::size_t between(std::size_t low, std::size_t high) { return low + random_() % (high - low + 1); }

  void run_on_host() {
    for (std::uint64_t r = 0; r < step.repeats; ++r)
      for (const auto& one : step.parts)
        if (const Job* const job = std::get_if<Job>(&one))
          run_on_host(*job);
        else
          std::get<HostPart>(one).work();
  }

 private:
  static void run_on_host(const Job& job) {
    std::vector<std::byte*> operands;
    std::vector<Bytes> lengths;
    const std::vector<Bytes> origins(job.arrays.size());
    for (const Array& array : job.arrays) {
      operands.push_back(array.data);
      lengths.push_back(array.size);
    }
    job.binding.host(
        {.first_item = 0, .items = job.items, .operands = operands, .lengths = lengths, .origins = origins});
  }
  Values part(std::size_t array, std::size_t size) {
    return Values(data[array]).subspan(between(0, length - size), size);
  }
  /// A part of the host that changes some of what the last kernel has read.
  void add_host() {
    const Job& last = std::get<Job>(step.parts.back());
    const Array& read = last.arrays[0];
    const std::size_t first = between(0, last.items - 1);
    const Values changed(reinterpret_cast<std::uint32_t*>(read.data) + first, between(1, last.items - first));
    step = step.host("change", {writes(changed)}, [changed] {
      for (std::uint32_t& value : changed) value = value * 5 + 1;
    });
  }

  std::mt19937 random_;
};

/// Between two halves of a field the host changes the edge of the first while a kernel works on the rest.
TEST(StepsOverParts, let_a_part_of_the_host_run_beside_the_kernel_of_the_rest) {
  const Node node = node_of(*open_virtual(planted_profile(), "virtual:planted"), planted_profile());
  std::vector<std::uint32_t> u(1 << 16, 1);
  std::vector<std::uint32_t> v(1 << 16, 1);
  const std::size_t edge = 64;
  const auto over = [&](const char* name, std::size_t first, std::size_t count, Seconds time) {
    Job job = mixing(name, Values(u).subspan(first, count), Values(v).subspan(first, count), 0);
    job.cost.points.front().work = Interval<Seconds>::exact(time);
    return job;
  };
  const Seconds long_time{1e-3};
  const auto with_host = [&](Seconds time) {
    return Step{"edges"}
        .kernel(mixing("all", u, v, 1))
        .kernel(over("edge", 0, edge, Seconds{5e-6}))
        .host(
            "exchange", {writes(Values(v).first(edge))}, [] {}, time)
        .kernel(over("rest", edge, u.size() - edge, long_time))
        .stays_on_gpu("in")
        .stays_on_gpu("out");
  };
  const StepPlan without = shiplap::plan(node, with_host(Seconds{0}), {.quick = true});
  const StepPlan beside = shiplap::plan(node, with_host(long_time * 0.8), {.quick = true});
  EXPECT_TRUE(std::ranges::all_of(beside.at_home, std::identity())) << beside.explain();
  EXPECT_LT(beside.predicted.value.count(), without.predicted.value.count() + 0.1 * long_time.count());
  EXPECT_LT(beside.in.count + beside.out.count, 4 * edge * sizeof(std::uint32_t));
}

TEST(StepsOverParts, give_what_the_host_gives) {
  unsigned with_homes = 0;
  unsigned with_hosts = 0;
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    DrawnParts drawn(seed);
    const auto before = drawn.data;
    drawn.run_on_host();
    drawn.run_on_host();
    const auto expected = drawn.data;
    for (std::size_t a = 0; a < before.size(); ++a) std::ranges::copy(before[a], drawn.data[a].begin());
    const Node node = node_of(*open_virtual(planted_profile(), "virtual:planted"), planted_profile());
    std::optional<StepPlan> plan;
    try {
      plan = shiplap::plan(node, drawn.step, {.device_memory = Bytes{drawn.between(2000, 9000)}, .quick = true});
    } catch (const Unsupported&) {
      plan = shiplap::plan(node, drawn.step, {.quick = true});
    }
    EXPECT_TRUE(problems(*plan->schedule).empty()) << problems(*plan->schedule).front();
    for (std::size_t a = 0; a < plan->at_home.size(); ++a)
      with_homes += plan->at_home[a] && plan->arrays.arrays[a].array.reach.elements ? 1 : 0;
    with_hosts += static_cast<unsigned>(
        std::ranges::count_if(drawn.step.parts, [](const auto& one) { return std::holds_alternative<HostPart>(one); }));
    PreparedStep prepared(*node.device, *plan, drawn.step);
    prepared.run();
    prepared.run();
    for (std::size_t a = 0; a < expected.size(); ++a) ASSERT_TRUE(drawn.data[a] == expected[a]) << "array " << a;
  }
  EXPECT_GT(with_homes, 30u);
  EXPECT_GT(with_hosts, 30u);
}

}  // namespace
}  // namespace shiplap
