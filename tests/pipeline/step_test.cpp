#include "shiplap/pipeline/step.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "shiplap/core/error.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/validate.hpp"
#include "tests/support/drawn_jobs.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;

Node planted_node() { return node_of(*open_virtual(planted_profile(), "virtual:planted"), planted_profile()); }

/// A step of random kernels, with parts of the host between some of them.
class DrawnStep {
 public:
  explicit DrawnStep(std::uint32_t seed) : drawn_(seed) {
    step_.name = "drawn";
    for (const Job& job : drawn_.jobs()) {
      step_ = step_.kernel(job);
      if (drawn_.between(0, 3) == 0) add_host();
    }
    step_ = step_.repeated(drawn_.between(1, 3));
    for (const StepArray& one : arrays_of(step_).arrays)
      if (drawn_.between(0, 3) == 0 && one.array.name != "sum") step_ = step_.stays_on_gpu(one.array.name);
  }
  DrawnStep(const DrawnStep&) = delete;
  DrawnStep& operator=(const DrawnStep&) = delete;

  const Step& step() const { return step_; }
  DrawnJobs& drawn() { return drawn_; }

  void run_on_host() {
    for (std::uint64_t r = 0; r < step_.repeats; ++r)
      for (const auto& part : step_.parts)
        if (const Job* const job = std::get_if<Job>(&part))
          DrawnJobs::run_on_host({*job});
        else
          std::get<HostPart>(part).work();
  }

 private:
  /// Adds a part that changes a few values of one array by those of another.
  void add_host() {
    auto& data = drawn_.data();
    std::vector<std::uint32_t>& from = data[drawn_.between(0, data.size() - 1)];
    std::vector<std::uint32_t>& to = data[drawn_.between(0, data.size() - 1)];
    const std::span<std::uint32_t> read = part_of(from);
    const std::span<std::uint32_t> written = part_of(to);
    if (!is_used(read) || !is_used(written)) return;
    step_ = step_.host(
        "exchange", {reads(read), writes(written)},
        [=] {
          const std::uint32_t sum = std::accumulate(read.begin(), read.end(), 17u);
          for (std::uint32_t& value : written) value = value * 3 + sum;
        },
        Seconds{1e-6});
  }
  std::span<std::uint32_t> part_of(std::vector<std::uint32_t>& all) {
    const std::size_t first = drawn_.between(0, all.size() - 1);
    return std::span(all).subspan(first, drawn_.between(1, all.size() - first));
  }
  bool is_used(std::span<std::uint32_t> part) const {
    for (const Job& job : drawn_.jobs())
      for (const Array& array : job.arrays)
        if (reinterpret_cast<std::byte*>(part.data()) >= array.data &&
            reinterpret_cast<std::byte*>(part.data()) < array.data + array.size.count)
          return true;
    return false;
  }

  DrawnJobs drawn_;
  Step step_;
};

TEST(Step, of_random_kernels_gives_what_the_host_gives_and_is_never_slower_than_its_parts) {
  unsigned fused = 0;
  unsigned with_homes = 0;
  unsigned hosts = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    DrawnStep drawn(seed);
    const auto before = drawn.drawn().data();
    drawn.run_on_host();
    drawn.run_on_host();
    const auto expected = drawn.drawn().data();
    const auto expected_sum = drawn.drawn().sum();
    drawn.drawn().data() = before;
    std::ranges::fill(drawn.drawn().sum(), 0u);

    const Node node = planted_node();
    const bool is_quick = seed % 5 != 0;  // a full plan takes ten times as long
    const Bytes memory{drawn.drawn().between(6000, 20000)};
    std::optional<StepPlan> plan;
    try {
      plan = shiplap::plan(node, drawn.step(), {.device_memory = memory, .quick = is_quick});
    } catch (const Unsupported&) {
      plan = shiplap::plan(node, drawn.step(), {.quick = is_quick});
    }
    EXPECT_TRUE(problems(*plan->schedule).empty()) << problems(*plan->schedule).front();
    // A pass waits for events of the one before, which the times of single plans do not contain.
    const double handovers = 2.5e-6 * static_cast<double>(plan->passes.size() - 1);
    if (!is_quick) {
      EXPECT_LE(plan->predicted.value.count(), plan->part_by_part.count() * (1 + 1e-9) + handovers);
    }
    EXPECT_GE(plan->predicted.value.count(), plan->bound.count() * (1 - 1e-9));
    for (const StepPass& pass : plan->passes) fused += pass.parts > 1 ? 1 : 0;
    with_homes += static_cast<unsigned>(std::ranges::count(plan->at_home, true));
    for (const auto& part : drawn.step().parts) hosts += std::holds_alternative<HostPart>(part) ? 1 : 0;

    PreparedStep prepared(*node.device, *plan, drawn.step());
    prepared.run();
    prepared.run();
    for (const StepArray& one : plan->arrays.arrays)
      if (one.between == Between::gpu) prepared.fetch(one.array.name);
    EXPECT_FALSE(drawn.drawn().was_out_of_bounds());
    EXPECT_EQ(drawn.drawn().sum(), expected_sum);
    for (std::size_t a = 0; a < expected.size(); ++a)
      EXPECT_TRUE(drawn.drawn().data()[a] == expected[a]) << "array " << a;
  }
  EXPECT_GT(fused, 50u);
  EXPECT_GT(with_homes, 50u);
  EXPECT_GT(hosts, 30u);
}

constexpr std::uint64_t levels = 64;
constexpr std::uint64_t level_size = 1024;

Array floats(const char* name, Role role, std::vector<float>& data, Reach reach = {}) {
  return {.name = name,
          .role = role,
          .size = Bytes{data.size() * sizeof(float)},
          .element = Bytes{sizeof(float)},
          .memory = MemoryKind::pinned,
          .reach = std::move(reach),
          .data = reinterpret_cast<std::byte*>(data.data())};
}
Job kernel_over(const char* name, std::vector<Array> arrays, Seconds time = Seconds{20e-6}) {
  Job job;
  job.items = levels;
  job.name = name;
  job.arrays = std::move(arrays);
  job.cost = {.points = {{levels, Interval<Seconds>::exact(time)}}, .origin = "stated"};
  job.binding.host = [](const Launch&) {};
  return job;
}
std::vector<float> field() { return std::vector<float>(levels * level_size); }
const Bytes field_size{levels * level_size * sizeof(float)};

// Two subroutines of an ocean model: the second reads what the first has written.
TEST(Step, of_two_kernels_brings_each_array_once) {
  auto t = field();
  auto s = field();
  auto rho = field();
  auto drho = field();
  const Step step =
      Step{"ocean"}
          .kernel(
              kernel_over("state", {floats("t", Role::in, t), floats("s", Role::in, s), floats("rho", Role::out, rho)}))
          .kernel(kernel_over("buoydiff", {floats("rho", Role::in, rho, halo(1, 0)), floats("drho", Role::out, drho)}));
  const StepPlan both = plan(planted_node(), step);
  EXPECT_EQ(both.in, field_size * 2);
  EXPECT_EQ(both.out, field_size * 2);
  EXPECT_LT(both.predicted.value, both.part_by_part);
  const StepPlan one_result = plan(planted_node(), step.temporary("rho"));
  EXPECT_EQ(one_result.out, field_size);
}

TEST(Step, that_fits_stays_on_the_gpu_for_all_repeats) {
  constexpr Seconds short_time{1e-6};
  auto u = field();
  auto v = field();
  const Step step =
      Step{"diffusion"}
          .kernel(kernel_over("there", {floats("u", Role::in, u, halo(1, 1)), floats("v", Role::out, v)}, short_time))
          .kernel(kernel_over("back", {floats("v", Role::in, v, halo(1, 1)), floats("u", Role::out, u)}, short_time))
          .repeated(256)
          .temporary("v");
  const StepPlan fits = plan(planted_node(), step);
  EXPECT_EQ(fits.in, field_size);
  EXPECT_EQ(fits.out, field_size);
  // Nothing fits: a chunk passes through many kernels at a time.
  const StepPlan larger = plan(planted_node(), step, {.device_memory = field_size});
  EXPECT_LT(larger.passes.size(), 512u / 2);
  EXPECT_LT(larger.predicted.value, larger.part_by_part);
}

// 512 steps of a diffusion of which half fits: whoever cuts each pass by itself lets the kernels wait at its beginning.
TEST(Step, of_many_passes_keeps_the_gpu_computing_from_pass_to_pass) {
  constexpr std::uint64_t rows = 8192;
  constexpr Bytes size{rows * 8192 * sizeof(float)};
  const auto memory = std::make_unique_for_overwrite<std::byte[]>(2 * size.count);  // never touched
  const Array u{.name = "u", .size = size, .element = Bytes{4}, .memory = MemoryKind::pinned, .data = memory.get()};
  Array v = u;
  v.name = "v";
  v.data += size.count;
  const auto smooth = [](const char* name, Array from, Array to) {
    from.reach = halo(1, 1);
    to.role = Role::out;
    Job job{.items = rows, .name = name, .arrays = {std::move(from), std::move(to)}};
    job.cost = {
        .points = {{1, Interval<Seconds>::exact(Seconds{1.3e-6})}, {rows, Interval<Seconds>::exact(Seconds{233e-6})}},
        .origin = "stated"};
    return job;
  };
  const Step step = Step{"diffusion"}.kernel(smooth("there", u, v)).kernel(smooth("back", v, u)).repeated(256);
  const StepPlan half_fits = plan(node_of(find_profile("h200")), step.temporary("v"), {.device_memory = size});
  EXPECT_GT(half_fits.passes.size(), 10u);
  EXPECT_GT(busy_time(half_fits.timeline, Engine::compute) / half_fits.timeline.makespan, 0.98);
}

TEST(Step, brings_the_host_no_more_than_it_names_of_an_array_that_stays) {
  auto u = field();
  auto v = field();
  const std::span edge(u.data(), level_size);
  const Step step = Step{"stencil"}
                        .kernel(kernel_over("there", {floats("u", Role::in, u, halo(1, 1)), floats("v", Role::out, v)}))
                        .kernel(kernel_over("back", {floats("v", Role::in, v, halo(1, 1)), floats("u", Role::out, u)}))
                        .host("exchange", {reads(edge), writes(edge)}, [] {})
                        .temporary("v")
                        .stays_on_gpu("u");
  const StepPlan plan = shiplap::plan(planted_node(), step);
  EXPECT_EQ(plan.out, Bytes{edge.size_bytes()});
  EXPECT_EQ(plan.in, Bytes{edge.size_bytes()});
}

// The second part reads on the host what the first has written there, although the GPU holds the array.
TEST(Step, hands_what_one_part_of_the_host_writes_to_the_next) {
  std::vector<std::uint32_t> u(levels * 4, 1);
  std::vector<std::uint32_t> seen;
  const Job twice = [&] {
    Job job;
    job.items = levels;
    job.name = "twice";
    job.arrays = {{.name = "u",
                   .role = Role::inout,
                   .size = Bytes{u.size() * sizeof(std::uint32_t)},
                   .element = Bytes{sizeof(std::uint32_t)},
                   .memory = MemoryKind::pinned,
                   .data = reinterpret_cast<std::byte*>(u.data())}};
    job.cost = {.points = {{levels, Interval<Seconds>::exact(Seconds{1e-6})}}, .origin = "stated"};
    job.binding.host = [](const Launch& launch) {
      auto* const values = reinterpret_cast<std::uint32_t*>(launch.operands[0]);
      for (std::size_t k = 0; k < launch.lengths[0].count / sizeof(std::uint32_t); ++k) values[k] *= 2;
    };
    return job;
  }();
  const std::span edge(u.data(), 4);
  const Step step = Step{"two exchanges"}
                        .kernel(twice)
                        .host("first", {writes(edge)}, [=] { edge[0] += 100; })
                        .host("second", {reads(edge)}, [&] { seen.push_back(edge[0]); })
                        .kernel(twice)
                        .stays_on_gpu("u");
  const Node node = planted_node();
  PreparedStep prepared(*node.device, plan(node, step), step);
  prepared.run();
  prepared.run();
  prepared.fetch("u");
  EXPECT_THAT(seen, ::testing::ElementsAre(102u, 508u));
  EXPECT_EQ(u[0], 1016u);
  EXPECT_EQ(u[4], 16u);
}

TEST(Step, lets_the_host_work_while_kernels_run_that_it_does_not_concern) {
  auto u = field();
  auto v = field();
  auto w = field();
  const std::span edge(v.data(), level_size);
  const auto step_with = [&](Seconds host) {
    return Step{"output"}
        .kernel(kernel_over("first", {floats("u", Role::in, u), floats("v", Role::out, v)}, Seconds{2e-3}))
        .host(
            "write", {reads(edge)}, [] {}, host)
        .kernel(kernel_over("second", {floats("u", Role::in, u), floats("w", Role::out, w)}, Seconds{2e-3}));
  };
  const Seconds none = plan(planted_node(), step_with(Seconds{0})).predicted.value;
  const Seconds hidden = plan(planted_node(), step_with(Seconds{1.5e-3})).predicted.value;
  EXPECT_NEAR(hidden / none, 1, 0.02);
}

TEST(Step, is_refused_with_the_part_at_fault) {
  auto u = field();
  auto v = field();
  const Job job = kernel_over("k", {floats("u", Role::in, u), floats("v", Role::out, v)});
  const Node node = planted_node();
  const auto refusal = [&](const Step& step) { return message_of([&] { plan(node, step); }); };
  EXPECT_THAT(refusal(Step{"empty"}), HasSubstr("needs a kernel"));
  EXPECT_THAT(refusal(Step{"s"}.kernel(job).temporary("w")), HasSubstr("no kernel has an array w"));
  EXPECT_THAT(refusal(Step{"s"}.kernel(job).repeated(0)), HasSubstr("`repeated` 0"));
  std::vector<float> other(4);
  EXPECT_THAT(refusal(Step{"s"}.kernel(job).host("h", {reads(other)}, [] {})), HasSubstr("no part of an array"));
  EXPECT_THAT(refusal(Step{"s"}.kernel(job).temporary("u")), HasSubstr("reads it before a kernel has written it"));
  EXPECT_THAT(
      refusal(Step{"s"}.kernel(kernel_over("k", {floats("u", Role::in, u, halo(1, 1)), floats("same", Role::out, u)}))),
      HasSubstr("in one memory"));
  auto w = field();
  EXPECT_THAT(refusal(Step{"s"}
                          .kernel(job)
                          .kernel(kernel_over("k2", {floats("v", Role::in, v), floats("u", Role::out, w)}))
                          .stays_on_gpu("u")),
              HasSubstr("several arrays are called u"));
  EXPECT_THROW(PreparedStep(*node.device, plan(node, Step{"s"}.kernel(job)), Step{"s"}.kernel(job).kernel(job)),
               UsageError);
  PreparedStep prepared(*node.device, plan(node, Step{"s"}.kernel(job)), Step{"s"}.kernel(job));
  EXPECT_THROW(prepared.fetch("u"), UsageError);
}

}  // namespace
}  // namespace shiplap
