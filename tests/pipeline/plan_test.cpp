#include "shiplap/pipeline/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "shiplap/core/error.hpp"
#include "shiplap/device/pinned_vector.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/pipeline/run.hpp"
#include "shiplap/schedule/validate.hpp"
#include "tests/support/forwarding_device.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A weighted sum over the rows around each row, with a factor of the whole job and a count of the rows.
struct Stencil {
  static constexpr std::uint64_t rows = 60;
  static constexpr std::uint64_t columns = 5;

  std::vector<double> u = std::vector<double>(rows * columns);
  std::vector<double> factor{2.0, 3.0, 5.0};
  std::vector<double> out = std::vector<double>(rows * columns, -1.0);
  std::vector<std::uint64_t> seen = std::vector<std::uint64_t>(1, 100);

  Stencil() { std::iota(u.begin(), u.end(), 1.0); }

  static double at(const auto& u, const auto& factor, std::uint64_t row, std::uint64_t column) {
    double sum = factor[1] * u[row * columns + column];
    if (row > 0) sum += factor[0] * u[(row - 1) * columns + column];
    if (row > 1) sum += u[(row - 2) * columns + column];
    if (row + 1 < rows) sum += factor[2] * u[(row + 1) * columns + column];
    return sum;
  }

  auto job(Reach reach = halo(2, 1)) {
    return Job{rows, "stencil"}
        .in("u", u, reach)
        .resident("factor", factor)
        .out("out", out)
        .carried("seen", seen)
        .host_kernel([](Chunk chunk, auto from, auto weights, auto to, auto counted) {
          for (std::uint64_t row = chunk.first; row < chunk.end(); ++row)
            for (std::uint64_t c = 0; c < columns; ++c) to[row * columns + c] = at(from, weights, row, c);
          counted[0] = counted[0] * 3 + chunk.count;  // depends on the order
        });
  }

  void expect_right(const Schedule& schedule) {
    for (std::uint64_t row = 0; row < rows; ++row)
      for (std::uint64_t c = 0; c < columns; ++c)
        ASSERT_EQ(out[row * columns + c], at(u, factor, row, c)) << "row " << row;
    std::uint64_t expected = 100;
    for (const Op& op : schedule.ops)
      if (const auto* kernel = std::get_if<Kernel>(&op.what)) expected = expected * 3 + kernel->items;
    ASSERT_EQ(seen[0], expected);
  }
};

std::unique_ptr<MeasurableDevice> planted() { return open_virtual(planted_profile(), "virtual:planted"); }

TEST(PlannedJob, runs_a_halo_a_resident_and_a_carried_array_under_every_choice) {
  const auto gpu = planted();
  std::size_t runs = 0;
  for (const char* strategy : {"explicit", "streams", "implicit", "hybrid", "hybrid-mirror"})
    for (const Layout layout : {Layout::three, Layout::few, Layout::per_chunk, Layout::one_engine})
      for (const IssueOrder order : {IssueOrder::depth, IssueOrder::breadth})
        for (const std::uint32_t chunks : {1u, 2u, 7u, 60u})
          for (const std::uint32_t ring : {0u, 1u, 2u, 3u}) {
            if (!find_strategy(strategy).chunked && (chunks > 1 || layout != Layout::three || ring > 0)) continue;
            Stencil stencil;
            Job job = stencil.job().touches_each_byte_once();
            job.cost = {.points = {{Stencil::rows, Interval<Seconds>::exact(microseconds(100))}},
                        .limited = {},
                        .origin = "stated"};
            std::vector<Memory> pinned;
            for (Array& array : job.arrays) pinned.push_back(gpu->pin(array.data, array.size));
            const Choice choice{.strategy = strategy, .chunks = chunks, .layout = layout, .order = order, .ring = ring};
            SCOPED_TRACE(to_string(choice) + ", ring " + std::to_string(ring));
            Prepared prepared = prepare(*gpu, job, choice, {.device_memory = 1_GiB});
            prepared.run();
            stencil.expect_right(prepared.schedule());
            if (::testing::Test::HasFatalFailure()) return;
            ++runs;
          }
  EXPECT_GT(runs, 300u);
}

TEST(PlannedJob, plans_vectors_as_they_come_and_runs_them_again_and_again) {
  const auto gpu = planted();
  Stencil stencil;
  const auto job = stencil.job();
  const Plan made = plan(node_of(*gpu, planted_profile()), job);
  EXPECT_NE(made.explain().find("stencil"), std::string::npos);
  Prepared prepared = prepare(*gpu, made, job);
  for (int run = 0; run < 3; ++run) {
    stencil.out.assign(stencil.out.size(), -1.0);
    stencil.seen[0] = 100;
    prepared.run();
    stencil.expect_right(prepared.schedule());
  }
  const Report report = run(*gpu, made, job);
  EXPECT_EQ(report.device, "virtual:planted");
  EXPECT_GT(report.observed.value, Seconds{0});
  EXPECT_NEAR(report.observed.value / report.planned.predicted.value, 1, 1e-9);
}

TEST(PlannedJob, refuses_arrays_of_another_shape_and_such_as_are_nowhere) {
  const auto gpu = planted();
  Stencil stencil;
  const auto job = stencil.job();
  const Plan made = plan(node_of(*gpu, planted_profile()), job);
  std::vector<double> longer(Stencil::rows * Stencil::columns * 2);
  EXPECT_THROW(run(*gpu, made, Job{Stencil::rows}.in("u", longer)), UsageError);
  const auto shape_only = Job{Stencil::rows}.shaped<const double>("u", Role::in, 60).shaped<double>("v", Role::out, 60);
  EXPECT_THROW(data_of(shape_only), UsageError);
}

TEST(PlannedJob, names_the_array_and_the_index_of_a_view_that_a_kernel_leaves) {
  const auto gpu = planted();
  Stencil stencil;
  const auto job = stencil.job(own_items);  // the halo is not declared
  PlanOptions options;
  options.space.strategies = {"staged"};
  options.space.chunks = {4};
  const Plan made = plan(node_of(*gpu, planted_profile()), job, options);
  try {
    run(*gpu, made, job);
    FAIL() << "nothing noticed";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("u["), std::string::npos) << error.what();
  }
}

// The array that stays is copied once and remains pageable: the schedule that runs says so of both arrays.
TEST(PlannedJob, pins_only_the_arrays_that_are_cut) {
  const auto gpu = open_virtual(find_profile("h200"), "virtual:h200");
  const Memory x = gpu->allocate(Place::host(), MemoryKind::pageable, 64_MiB);
  std::vector<float> factor(16 << 20, 2.0f);
  const std::span<float> data(reinterpret_cast<float*>(x.data()), 16 << 20);
  const auto job =
      Job{data.size()}.inout("x", data).resident("factor", factor).host_kernel([](Chunk c, auto to, auto by) {
        for (std::uint64_t i = c.first; i < c.end(); ++i) to[i] = 3 * by[i];
      });
  const Plan often = plan(node_of(*gpu, find_profile("h200")), job, {.runs = 1'000'000});
  ASSERT_TRUE(often.pins);
  EXPECT_EQ(often.chosen.schedule->buffers[0].memory, MemoryKind::pinned);
  EXPECT_EQ(often.chosen.schedule->buffers[1].memory, MemoryKind::pageable);
  prepare(*gpu, often, job).run();
  EXPECT_EQ(data[4711], 6.0f);
  EXPECT_EQ(gpu->kind_of(x.data()), MemoryKind::pageable) << "as it was before";
}

TEST(PlannedJob, pins_vectors_that_are_used_often_enough) {
  const auto gpu = open_virtual(find_profile("h200"), "virtual:h200");
  std::vector<float> x(16 << 20, 1.0f);
  std::vector<float> y(16 << 20, 2.0f);
  const auto job = Job{x.size()}.in("x", x).inout("y", y).host_kernel([](Chunk c, auto from, auto to) {
    for (std::uint64_t i = c.first; i < c.end(); ++i) to[i] += from[i];
  });
  const Node node = node_of(*gpu, find_profile("h200"));
  EXPECT_FALSE(plan(node, job, {.runs = 1}).pins);
  const Plan often = plan(node, job, {.runs = 1'000'000});
  EXPECT_TRUE(often.pins);
  EXPECT_GT(often.pinning, Seconds{0});
  {
    Prepared prepared = prepare(*gpu, often, job);
    EXPECT_EQ(gpu->kind_of(reinterpret_cast<const std::byte*>(x.data())), MemoryKind::pinned);
    prepared.run();
  }
  EXPECT_EQ(gpu->kind_of(reinterpret_cast<const std::byte*>(x.data())), MemoryKind::pageable);
  EXPECT_EQ(y[12345], 3.0f);
  PlanOptions as_they_are{.runs = 1'000'000};
  as_they_are.may_pin = false;
  EXPECT_FALSE(plan(node, job, as_they_are).pins);
}

Profile of_two_gpus() {
  Profile profile = planted_profile();
  profile.gpus.push_back(profile.gpus.front());
  profile.links.push_back(profile.links.front());
  profile.links.back().gpu = 1;
  return profile;
}

TEST(PlannedJob, shares_the_rows_of_a_job_with_its_halo_among_two_gpus) {
  const auto gpus = open_virtual(of_two_gpus(), "virtual:two");
  for (const std::uint32_t chunks : {1u, 3u, 30u}) {
    Stencil stencil;
    const auto job = Job{Stencil::rows, "stencil"}
                         .in("u", stencil.u, halo(2, 1))
                         .resident("factor", stencil.factor)
                         .out("out", stencil.out)
                         .host_kernel([](Chunk chunk, auto from, auto weights, auto to) {
                           for (std::uint64_t row = chunk.first; row < chunk.end(); ++row)
                             for (std::uint64_t c = 0; c < Stencil::columns; ++c)
                               to[row * Stencil::columns + c] = Stencil::at(from, weights, row, c);
                         });
    PlanOptions options{.space = {.gpus = 2}};
    options.space.strategies = {"staged"};
    options.space.chunks = {chunks};
    options.space.threads = {2};
    const Plan made = plan(node_of(*gpus, of_two_gpus()), job, options);
    EXPECT_EQ(made.chosen.choice.gpus, 2u);
    Prepared prepared = prepare(*gpus, made, job);
    std::size_t on_second = 0;
    for (const Op& op : prepared.schedule().ops)
      on_second += !op.stream.is_none() && prepared.schedule().streams[op.stream.index()].place == Place::gpu(1);
    EXPECT_GE(on_second, 3u * chunks);
    prepared.run();
    for (std::uint64_t row = 0; row < Stencil::rows; ++row)
      for (std::uint64_t c = 0; c < Stencil::columns; ++c)
        ASSERT_EQ(stencil.out[row * Stencil::columns + c], Stencil::at(stencil.u, stencil.factor, row, c))
            << "row " << row;
  }
}

TEST(PlannedJob, takes_half_the_time_on_two_gpus_whose_links_are_apart) {
  const auto gpus = open_virtual(of_two_gpus(), "virtual:two");
  std::vector<float> x(8 << 20, 1.0f);
  std::vector<float> y(8 << 20);
  const auto px = gpus->pin(reinterpret_cast<std::byte*>(x.data()), Bytes{x.size() * 4});
  const auto py = gpus->pin(reinterpret_cast<std::byte*>(y.data()), Bytes{y.size() * 4});
  const auto job = Job{x.size()}.in("x", x).out("y", y).host_kernel([](Chunk, auto, auto) {});
  Profile of_the_first_link = of_two_gpus();  // as a measurement of two GPUs has it
  of_the_first_link.links.pop_back();
  const Node node = node_of(*gpus, of_the_first_link);
  const Seconds one = plan(node, job).chosen.predicted.value;
  const Plan two = plan(node, job, {.space = {.gpus = 2}});
  EXPECT_GT(one / two.chosen.predicted.value, 1.8);
  EXPECT_FALSE(two.ranking.assumptions.empty());
  EXPECT_THROW(plan(node, job, {.space = {.gpus = 3}}), UsageError);
}

/// What planning says of a job that cannot be planned.
std::string refused_plan(const Node& node, const Job& job, const PlanOptions& options = {}) {
  return message_of<UsageError>([&] { plan(node, job, options); });
}

TEST(PlannedJob, is_refused_when_planned_and_not_when_run) {
  const auto gpu = planted();
  const Node node = node_of(*gpu, planted_profile());
  std::vector<float> x(100);
  std::vector<float> y(100);
  const auto nothing = [](Chunk, auto...) {};
  EXPECT_THAT(refused_plan(node, Job{0, "mine"}.in("x", x).host_kernel(nothing)), HasSubstr("`Job{items}`"));
  const auto job = Job{100, "mine"}.in("x", x).out("y", y).host_kernel(nothing);
  for (const double wrong : {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    EXPECT_THAT(refused_plan(node, job.takes(Seconds{wrong})), HasSubstr("`.takes`"));
  EXPECT_THAT(refused_plan(node, Job{100, "mine"}.in("x", x).out("x", y).host_kernel(nothing)),
              HasSubstr("two arrays are called x"));
  EXPECT_THAT(refused_plan(node, Job{101, "mine"}.in("x", x).out("y", y).host_kernel(nothing)),
              HasSubstr("array x has 100 elements for 101 items"));
  const auto beyond = mapped_by([](ItemRange r) { return ElementRange{r.first + 1, r.count}; });
  EXPECT_THAT(refused_plan(node, Job{100, "mine"}.in("x", x, beyond).out("y", y).host_kernel(nothing)),
              HasSubstr("the mapping of x gives"));
}

TEST(PlannedJob, names_the_options_that_it_refuses_as_its_caller_does) {
  const auto gpu = planted();
  const Node node = node_of(*gpu, planted_profile());
  std::vector<float> x(100);
  const auto job = Job{100}.inout("x", x).host_kernel([](Chunk, auto) {});
  EXPECT_THAT(refused_plan(node, job, {.runs = 0}), HasSubstr("`runs` 0"));
  EXPECT_THAT(refused_plan(node, job, {.space = {.gpus = 0}}), HasSubstr("`gpus` 0"));
  EXPECT_THAT(refused_plan(node, job, {.space = {.strategies = {"steams"}}}), HasSubstr("`strategies` steams"));
  EXPECT_THAT(refused_plan(node, job, {.race = milliseconds(-1)}), HasSubstr("`race` -0.001 s"));
}

/// A device that says that it is a GPU. What it is asked to prepare is what the device behind it prepares.
class SaysItIsReal : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  DeviceInfo info() const override {
    DeviceInfo info = ForwardingDevice::info();
    info.is_virtual = false;
    info.simulated.reset();
    return info;
  }
};

TEST(PlannedJob, needs_the_function_that_its_device_calls_and_without_a_device_none) {
  const auto simulated = planted();
  SaysItIsReal real(planted());
  std::vector<float> x(100);
  const auto neither = Job{100, "mine"}.inout("x", x);
  const auto for_gpus = neither.kernel([](CUstream_st*, Chunk, auto) {});
  const auto for_the_host = neither.host_kernel([](Chunk, auto) {});
  EXPECT_THAT(refused_plan(node_of(*simulated, planted_profile()), neither), HasSubstr("`.host_kernel`"));
  EXPECT_THAT(refused_plan(node_of(*simulated, planted_profile()), for_gpus), HasSubstr("`.host_kernel`"));
  EXPECT_THAT(refused_plan(node_of(real, planted_profile()), neither), HasSubstr("`.kernel`"));
  EXPECT_THAT(refused_plan(node_of(real, planted_profile()), for_the_host), HasSubstr("`.kernel`"));
  EXPECT_NO_THROW(plan(node_of(planted_profile()), neither));
  EXPECT_NO_THROW(plan(node_of(*simulated, planted_profile()), for_the_host));
}

/// A device on which all memory that is asked about is device memory.
class FindsDeviceMemory : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  MemoryKind kind_of(const std::byte*) const override { return MemoryKind::device; }
};

TEST(PlannedJob, with_an_array_in_device_memory_is_refused) {
  FindsDeviceMemory gpu(planted());
  std::vector<float> x(100);
  const auto job = Job{100, "mine"}.inout("x", x).host_kernel([](Chunk, auto) {});
  EXPECT_THAT(refused_plan(node_of(gpu, planted_profile()), job), HasSubstr("array x is in device memory"));
}

TEST(PlannedJob, of_which_only_the_shape_is_known_cannot_be_timed_on_a_gpu) {
  SaysItIsReal real(planted());
  Job job = Job{100, "mine"}.shaped<float>("x", Role::inout, 100);
  job.binding.cuda = [](const Launch&) {};
  job.binding.host = job.binding.cuda;
  EXPECT_THAT(refused_plan(node_of(real, planted_profile()), job), HasSubstr("of array x only the shape is known"));
}

/// Whether a plan considered strategies in which the kernel accesses host memory, and why not.
bool considers_zero_copy(const Plan& plan) {
  return std::ranges::any_of(plan.ranking.candidates,
                             [](const Candidate& c) { return find_strategy(c.choice.strategy).zero_copy; });
}
std::string why_no_zero_copy(const Plan& plan) {
  const auto found = std::ranges::find(plan.ranking.refused, "implicit", &Refused::strategy);
  return found == plan.ranking.refused.end() ? "" : found->reason;
}

TEST(PlannedJob, is_offered_zero_copy_only_where_that_was_said_or_measured) {
  const auto gpu = open_virtual(find_profile("h200"), "virtual:h200");
  const Node node = node_of(*gpu, find_profile("h200"));
  pinned_vector<float> x(*gpu, 1 << 20);
  const auto job = Job{x.size(), "mine"}.inout("x", x).host_kernel([](Chunk, auto) {});
  const Plan unknown = plan(node, job);
  EXPECT_FALSE(considers_zero_copy(unknown));
  EXPECT_THAT(why_no_zero_copy(unknown), HasSubstr("not known to touch each byte about once"));
  EXPECT_TRUE(considers_zero_copy(plan(node, job.touches_each_byte_once())));
  EXPECT_THAT(why_no_zero_copy(plan(node, job.touches_bytes_repeatedly())), HasSubstr("touches bytes repeatedly"));

  const KernelCost::Point at_all{x.size(), Interval<Seconds>::exact(microseconds(100))};
  KernelCost measured{.points = {at_all}, .origin = "measured"};
  EXPECT_FALSE(considers_zero_copy(plan(node, job.takes(measured))));
  measured.zero_copy = {{.in = true, .out = true, .alone = {at_all}, .beside = {}}};
  EXPECT_TRUE(considers_zero_copy(plan(node, job.takes(measured))));
  EXPECT_FALSE(considers_zero_copy(plan(node, job.takes(measured).touches_bytes_repeatedly())));
}

TEST(PlannedJob, refuses_what_makes_no_sense_and_says_what) {
  const auto gpu = planted();
  const Node node = node_of(*gpu, planted_profile());
  std::vector<float> x(100);
  std::vector<float> y(100);
  const auto nothing = [](Chunk, auto...) {};
  // In place is an inout; a halo would be read after it was written.
  const auto aliased = Job{100}.in("x", x, halo(1, 1)).out("y", x).host_kernel(nothing);
  EXPECT_THROW(run(*gpu, plan(node, aliased), aliased), UsageError);
  EXPECT_THROW(static_cast<void>(Job{100}.in("x", x).host_kernel(nothing).out("y", y)), UsageError);
  const auto job = Job{100}.in("x", x).out("y", y).host_kernel(nothing);
  const auto with_halo = Job{100}.in("x", x, halo(1, 0)).out("y", y).host_kernel(nothing);
  EXPECT_THROW(run(*gpu, plan(node, job), with_halo), UsageError);
}

TEST(PlannedJob, says_what_differs_in_the_job_to_run) {
  const auto gpu = planted();
  std::vector<float> x(96);
  std::vector<float> y(96);
  const auto nothing = [](Chunk, auto...) {};
  const auto job = Job{96, "mine"}.in("x", x).out("y", y).host_kernel(nothing);
  const Plan made = plan(node_of(*gpu, planted_profile()), job);
  const auto refusal = [&](const Job& other) { return message_of<UsageError>([&] { run(*gpu, made, other); }); };
  EXPECT_THAT(refusal(Job{48}.in("x", x).out("y", y).host_kernel(nothing)), HasSubstr("has 48 items instead of 96"));
  EXPECT_THAT(refusal(Job{96}.out("y", y).host_kernel(nothing)), HasSubstr("has 1 arrays instead of 2"));
  EXPECT_THAT(refusal(Job{96}.in("x", x).inout("y", y).host_kernel(nothing)),
              HasSubstr("has array y where the plan has y, and they differ in their role"));
}

TEST(PlannedJob, weighs_pinning_for_a_strategy_that_needs_pinned_arrays) {
  const auto gpu = open_virtual(find_profile("h200"), "virtual:h200");
  std::vector<float> x(16 << 20, 1.0f);
  const auto job = Job{x.size(), "mine"}.inout("x", x).host_kernel([](Chunk, auto) {});
  const Node node = node_of(*gpu, find_profile("h200"));
  const SearchSpace streams{.strategies = {"streams"}, .chunks = {8}};
  const Plan often = plan(node, job, {.space = streams, .runs = 1'000'000});
  EXPECT_TRUE(often.pins);
  EXPECT_EQ(often.chosen.choice.strategy, "streams");
  EXPECT_EQ(often.chosen.choice.chunks, 8u);
  const auto once = message_of<Unsupported>([&] { plan(node, job, {.space = streams, .runs = 1}); });
  EXPECT_THAT(once, AllOf(HasSubstr("streams: pinned arrays are needed, and x is in pageable memory"),
                          HasSubstr("`runs` or more over the same arrays, a plan pins them")));
  EXPECT_FALSE(plan(node, job, {.space = {.strategies = {"staged"}}, .runs = 1'000'000}).pins);
}

TEST(PlannedJob, names_the_array_that_makes_all_count_as_pageable) {
  const auto gpu = open_virtual(find_profile("h200"), "virtual:h200");
  pinned_vector<float> x(*gpu, 1 << 20);
  std::vector<float> y(1 << 20);
  const auto job = Job{x.size(), "mine"}.in("x", x).out("y", y).host_kernel([](Chunk, auto...) {});
  const Plan made = plan(node_of(*gpu, find_profile("h200")), job, {.may_pin = false});
  const auto refused = std::ranges::find(made.ranking.refused, "streams", &Refused::strategy);
  ASSERT_NE(refused, made.ranking.refused.end());
  EXPECT_THAT(refused->reason, AllOf(HasSubstr("y is in pageable memory and makes all arrays"), HasSubstr("pin y"),
                                     Not(HasSubstr("x is in"))));
}

TEST(PlannedJob, notes_chunks_of_fewer_blocks_than_the_gpu_has_sms) {
  std::vector<float> x(8192);
  const auto job = Job{x.size(), "bodies"}.inout("x", x).with_blocks(256, 256).takes(milliseconds(1));
  const auto noted = [&](std::vector<std::uint32_t> chunks) {
    const Plan made =
        plan(node_of(find_profile("h200")), job, {.space = {.strategies = {"streams"}, .chunks = chunks}});
    return std::ranges::any_of(made.ranking.assumptions, [](const std::string& assumption) {
      return assumption.find("a chunk has 16 blocks for 132 SMs") != std::string::npos;
    });
  };
  EXPECT_TRUE(noted({2}));
  EXPECT_FALSE(noted({1}));
}

TEST(PlannedJob, keeps_arrays_pinned_until_the_last_one_that_uses_them_has_gone) {
  const auto gpu = planted();
  std::vector<float> x(1 << 16);
  const auto* data = reinterpret_cast<const std::byte*>(x.data());
  const auto lock = [&] { return gpu->pin(reinterpret_cast<std::byte*>(x.data()), Bytes{x.size() * 4}); };
  Memory first = lock();
  Memory second = lock();
  first = Memory();
  EXPECT_EQ(gpu->kind_of(data), MemoryKind::pinned);
  second = Memory();
  EXPECT_EQ(gpu->kind_of(data), MemoryKind::pageable);
}

TEST(PlannedJob, has_sound_schedules_of_scratch_beside_pieces_that_are_empty) {
  for (const Layout layout : {Layout::three, Layout::few, Layout::per_chunk})
    for (const std::uint32_t ring : {1u, 2u, 3u}) {
      const auto job =
          Job{.items = 24,
              .cost = {.points = {{24, Interval<Seconds>::exact(microseconds(9))}}, .limited = {}, .origin = "stated"}}
              .shaped<float>("some", Role::inout, 24, mapped_by([](ItemRange r) {
                               const bool none = r.first / 2 % 3 != 0;
                               return ElementRange{r.first, none ? 0 : r.count};
                             }))
              .scratch<float>("t", 24);
      const Choice choice{.chunks = 12, .layout = layout, .streams = 3, .ring = ring};
      const auto found = problems(find_strategy("streams").schedule(job, choice, {.device_memory = 1_MiB}));
      EXPECT_TRUE(found.empty()) << to_string(choice) << ", ring " << ring << ": " << found.front();
    }
}

TEST(PlannedJob, brings_a_front_with_the_vector_that_it_is_of) {
  const auto gpu = planted();
  std::vector<float> x(1000), y(1000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i + 1);
  const auto job = Job{100, "front"}
                       .in("x", x)
                       .prefix_of<float>("x", "head", 10)
                       .out("y", y)
                       .host_kernel([](Chunk c, auto all, auto head, auto to) {
                         for (std::uint64_t i = 10 * c.first; i < 10 * c.end(); ++i) to[i] = all[i] * head[i % 10];
                       });
  const Plan made = plan(node_of(*gpu, planted_profile()), job);
  EXPECT_EQ(made.job.arrays[1].memory, made.job.arrays[0].memory) << "where the vector is, so is its front";
  run(*gpu, made, job);
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], x[i] * x[i % 10]) << i;
  for (const std::uint32_t no_input_before : {1u, 2u, 99u}) {
    Job wrong = job;
    wrong.arrays[1].prefix_of = no_input_before;
    EXPECT_THROW(plan(node_of(*gpu, planted_profile()), wrong), UsageError);
  }
}

TEST(PlannedJob, has_sound_schedules_of_halos_beside_what_stays_and_of_pieces_that_are_empty) {
  for (const Layout layout : {Layout::three, Layout::few, Layout::per_chunk})
    for (const std::uint32_t ring : {1u, 2u, 3u, 4u})
      for (const std::uint32_t chunks : {3u, 8u, 12u}) {
        const auto job = Job{.items = 24,
                             .cost = {.points = {{24, Interval<Seconds>::exact(microseconds(9))}},
                                      .limited = {},
                                      .origin = "stated"}}
                             .shaped<const float>("halo", Role::in, 24, halo(5, 0))
                             .shaped<const float>("all", Role::resident, 7)
                             .shaped<float>("some", Role::out, 24, mapped_by([](ItemRange r) {
                                              const bool none = r.first / 2 % 3 != 0;
                                              return ElementRange{r.first, none ? 0 : r.count};
                                            }))
                             .touches_each_byte_once();
        for (const char* name : {"streams", "hybrid", "staged"}) {
          Job placed = job;
          if (std::string_view(name) == "staged")
            for (Array& array : placed.arrays) array.memory = MemoryKind::pageable;
          const Choice choice{.strategy = name, .chunks = chunks, .layout = layout, .ring = ring, .threads = 1};
          const auto found = problems(find_strategy(name).schedule(placed, choice, {.device_memory = 1_GiB}));
          EXPECT_TRUE(found.empty()) << to_string(choice) << ", ring " << ring << ": " << found.front();
        }
      }
}

}  // namespace
}  // namespace shiplap
