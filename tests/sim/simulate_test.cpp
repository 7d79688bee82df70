#include "shiplap/sim/simulate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string_view>

#include "shiplap/core/error.hpp"
#include "shiplap/model/van_werkhoven_2014.hpp"
#include "shiplap/schedule/validate.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "tests/support/jobs.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

using van_werkhoven_2014::Category;
using van_werkhoven_2014::Work;

// Whole-GPU kernels, so that they run one after the other as the papers assume.
const Limits one_kernel_at_a_time{.device_memory = 64_GiB, .resident_threads = 1};

struct EqualChunks {
  Work work;
  std::uint32_t chunks;
};

// Equal chunks with every regime: copies dominate, kernel dominates, either direction larger, tiny outputs.
std::vector<EqualChunks> random_equal_chunks(unsigned count) {
  std::mt19937_64 random(20141);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  std::vector<EqualChunks> cases;
  while (cases.size() < count) {
    const auto chunks = static_cast<std::uint32_t>(std::exp2(uniform(0, 8)));
    const auto size = [&](double low, double high) {
      return Bytes{static_cast<std::uint64_t>(std::exp2(uniform(low, high))) * chunks};
    };
    const auto direction = [&] {
      return van_werkhoven_2014::Direction{microseconds(uniform(1, 20)), PerByte{uniform(2e-11, 2e-10)},
                                           microseconds(uniform(0, 6))};
    };
    Work w{.h2d = direction(), .d2h = direction(), .in = size(10, 22), .out = size(4, 22), .kernel = Seconds{0}};
    w.kernel = (w.in * w.h2d.per_byte + w.out * w.d2h.per_byte) * std::exp2(uniform(-4, 3));
    cases.push_back({w, chunks});
  }
  return cases;
}

Profile profile_of(const Work& w, unsigned engines, ImplicitSync sync) {
  return paper_profile({.copy_engines = engines,
                        .implicit_sync = sync,
                        .h2d = {w.h2d.latency_overhead, w.h2d.per_byte, w.h2d.gap},
                        .d2h = {w.d2h.latency_overhead, w.d2h.per_byte, w.d2h.gap}});
}

Seconds simulated(const EqualChunks& c, unsigned engines, ImplicitSync sync, IssueOrder order = IssueOrder::breadth,
                  Layout layout = Layout::per_chunk) {
  const Job job = in_out_job(c.work.in, c.work.out, c.work.kernel, c.chunks);
  const Choice choice{.strategy = "streams", .chunks = c.chunks, .layout = layout, .order = order};
  return simulate(find_strategy("streams").schedule(job, choice, one_kernel_at_a_time),
                  profile_of(c.work, engines, sync))
      .timeline.makespan;
}

void expect_close(Seconds a, Seconds b, const EqualChunks& c) {
  EXPECT_NEAR(a / b, 1.0, 1e-9) << c.chunks << " chunks, in " << c.work.in.count << ", out " << c.work.out.count
                                << ", kernel " << c.work.kernel.count();
}

TEST(Simulate, agrees_with_the_critical_path_of_two_copy_engines) {
  for (const EqualChunks& c : random_equal_chunks(600)) {
    expect_close(simulated(c, 2, ImplicitSync::none), streams_time(c.work, c.chunks, Category::two_engines), c);
    expect_close(simulated(c, 2, ImplicitSync::none, IssueOrder::depth, Layout::three),
                 streams_time(c.work, c.chunks, Category::two_engines), c);
  }
}

TEST(Simulate, agrees_with_the_critical_path_of_one_copy_engine) {
  for (const EqualChunks& c : random_equal_chunks(600))
    expect_close(simulated(c, 1, ImplicitSync::none), streams_time(c.work, c.chunks, Category::one_engine), c);
}

TEST(Simulate, agrees_with_the_critical_path_of_implicit_synchronisation_until_the_last_kernel_ended) {
  for (const EqualChunks& c : random_equal_chunks(600))
    expect_close(simulated(c, 1, ImplicitSync::until_ended),
                 streams_time(c.work, c.chunks, Category::implicit_sync_one_engine), c);
}

TEST(Simulate, shows_no_overlap_for_depth_first_issue_on_one_copy_engine) {
  for (const EqualChunks& c : random_equal_chunks(100)) {
    // Every copy turns the engine around and pays its L+o: n · (L+o)hd + Thd + tE + n · (L+o)dh + Tdh.
    const Work& w = c.work;
    const Seconds serial = (w.h2d.latency_overhead + w.d2h.latency_overhead) * c.chunks + w.in * w.h2d.per_byte +
                           w.kernel + w.out * w.d2h.per_byte;
    expect_close(simulated(c, 1, ImplicitSync::none, IssueOrder::depth), serial, c);
  }
}

// Implicit synchronisation as the hardware does it: copies back wait until the last kernel's blocks have all started.
// With kernels of one wave, that is when the last kernel starts.
TEST(Simulate, releases_copies_when_the_last_kernel_started_at_most_one_kernel_earlier_than_when_it_ended) {
  for (const EqualChunks& c : random_equal_chunks(200)) {
    const Seconds started = simulated(c, 1, ImplicitSync::until_started);
    const Seconds ended = simulated(c, 1, ImplicitSync::until_ended);
    const Seconds one_kernel = c.work.kernel / c.chunks;
    EXPECT_LE(started.count(), ended.count() * (1 + 1e-12));
    EXPECT_GE(started.count(), (ended - one_kernel).count() * (1 - 1e-12));
  }
}

TEST(Simulate, gains_exactly_one_kernel_from_the_started_rule_when_the_kernel_dominates) {
  // Two chunks, kernel 10 ms each, copies of about 1 ms: D2H of chunk 0 runs inside kernel 1 instead of after it.
  const Work w{.h2d = {Seconds{0}, PerByte{1e-9}, Seconds{0}},
               .d2h = {Seconds{0}, PerByte{1e-9}, Seconds{0}},
               .in = Bytes{2'000'000},
               .out = Bytes{2'000'000},
               .kernel = milliseconds(20)};
  const EqualChunks c{w, 2};
  EXPECT_NEAR(in_milliseconds(simulated(c, 1, ImplicitSync::until_ended)), 1 + 20 + 2, 1e-9);
  EXPECT_NEAR(in_milliseconds(simulated(c, 1, ImplicitSync::until_started)), 1 + 20 + 1, 1e-9);
}

TEST(Simulate, agrees_with_worked_values_of_table_1) {
  // The ocean model's state with 1 output, Table I of van Werkhoven 2014, 42 chunks (milliseconds, 60-digit decimals).
  const Work state{.h2d = {microseconds(9.42), PerByte{8.318392e-11}, microseconds(2.503)},
                   .d2h = {microseconds(9.023), PerByte{7.924734e-11}, microseconds(2.674)},
                   .in = Bytes{704643072},
                   .out = Bytes{352321536},
                   .kernel = milliseconds(5)};
  EXPECT_NEAR(in_milliseconds(simulated({state, 42}, 1, ImplicitSync::until_ended)), 86.8852651015641, 1e-9);
  EXPECT_NEAR(in_milliseconds(simulated({state, 42}, 1, ImplicitSync::none)), 86.76621748251648, 1e-9);
  EXPECT_NEAR(in_milliseconds(simulated({state, 42}, 2, ImplicitSync::none)), 59.519861419152576, 1e-9);
  EXPECT_NEAR(in_milliseconds(simulated({state, 1}, 2, ImplicitSync::none)), 91.55396048251647, 1e-9);
}

Schedule copies_both_ways(Bytes in, Bytes out) {
  Schedule s;
  const BufferId host_in = s.add_buffer({"a", Place::host(), MemoryKind::pinned, in});
  const BufferId host_out = s.add_buffer({"b", Place::host(), MemoryKind::pinned, out});
  const BufferId gpu_in = s.add_buffer({"c", Place::gpu(), MemoryKind::device, in});
  const BufferId gpu_out = s.add_buffer({"d", Place::gpu(), MemoryKind::device, out});
  const StreamId q = s.add_stream("in");
  const StreamId r = s.add_stream("out");
  s.add({.what = Copy{{host_in, {}, in}, {gpu_in, {}, in}}, .stream = q, .after = {}});
  s.add({.what = Copy{{gpu_out, {}, out}, {host_out, {}, out}}, .stream = r, .after = {}});
  return s;
}

Profile duplex_profile() {
  Profile p =
      paper_profile({.h2d = {Seconds{0}, PerByte{1e-9}, Seconds{0}}, .d2h = {Seconds{0}, PerByte{1e-9}, Seconds{0}}});
  for (DirectionModel* d : {&p.links[0].h2d, &p.links[0].d2h})
    d->duplex = DuplexModel{Interval<PerByte>::exact({2e-9}), {{Bytes{1}, Interval<Seconds>::exact(Seconds{0})}}};
  return p;
}

TEST(Simulate, shares_the_link_as_a_fluid_while_both_directions_are_busy) {
  // 1 MB out at half rate takes 2 ms; in that time 1 MB of the 3 MB in has moved, the other 2 MB go at full rate.
  const Timeline t = simulate(copies_both_ways(Bytes{3'000'000}, Bytes{1'000'000}), duplex_profile()).timeline;
  EXPECT_NEAR(in_milliseconds(t.spans[1].end), 2.0, 1e-9);
  EXPECT_NEAR(in_milliseconds(t.spans[0].end), 4.0, 1e-9);
}

TEST(Simulate, runs_blocks_in_waves_and_lets_a_second_kernel_use_what_the_last_wave_leaves_free) {
  Profile p = paper_profile();
  p.gpus[0].concurrent_kernels = true;
  Schedule s;
  const KernelId k = s.add_kernel("k");
  const auto add = [&](std::uint64_t blocks) {
    Kernel kernel{.kernel = k,
                  .items = 1,
                  .work = milliseconds(static_cast<double>((blocks + 9) / 10)),
                  .blocks = blocks,
                  .resident_blocks = 10,
                  .full_rate_blocks = 10,
                  .operands = {},
                  .flows = {}};
    s.add({.what = kernel, .stream = s.add_stream("q"), .after = {}});
  };
  add(25);  // waves of 10, 10, 5 blocks: 3 ms
  add(10);  // 5 blocks start at 2 ms beside the last wave, 5 at 3 ms
  const Timeline t = simulate(s, p).timeline;
  EXPECT_NEAR(in_milliseconds(t.spans[0].end), 3.0, 1e-9);
  EXPECT_NEAR(in_milliseconds(t.spans[1].start), 2.0, 1e-9);
  EXPECT_NEAR(in_milliseconds(t.spans[1].end), 4.0, 1e-9);
  p.gpus[0].concurrent_kernels = false;
  EXPECT_NEAR(in_milliseconds(simulate(s, p).timeline.spans[1].start), 3.0, 1e-9);
}

TEST(Simulate, cannot_start_an_op_before_the_host_has_submitted_it) {
  Profile p = paper_profile();
  p.submission.copy = Interval<Seconds>::exact(microseconds(100));
  const Schedule s = copies_both_ways(1_B, 1_B);
  const Prediction free_running = simulate(s, p);
  EXPECT_GE(in_microseconds(free_running.timeline.spans[1].start), 200);
  EXPECT_NEAR(in_microseconds(free_running.submission), 200, 1e-9);
  EXPECT_LT(in_microseconds(simulate(s, p, {.held = true}).timeline.spans[1].start), 10);
}

TEST(Simulate, submits_every_launch_of_a_kernel_that_makes_several_before_what_comes_next) {
  Profile p = paper_profile();
  p.submission.launch = Interval<Seconds>::exact(microseconds(50));
  Job job = in_out_job(0_B, 0_B, microseconds(1), 2);
  job.launches = 5;
  const Schedule two = find_strategy("streams").schedule(job, {.chunks = 2}, one_kernel_at_a_time);
  const Timeline t = simulate(two, p).timeline;
  // The first of five launches is enough to begin.
  EXPECT_NEAR(in_microseconds(t.spans[1].start - t.spans[0].start), 5 * 50, 1);
  EXPECT_NEAR(in_microseconds(simulate(two, p).submission), 10 * 50, 1);
}

TEST(Simulate, is_the_same_to_the_last_bit_when_repeated) {
  for (const EqualChunks& c : random_equal_chunks(20))
    EXPECT_EQ(simulated(c, 2, ImplicitSync::none).count(), simulated(c, 2, ImplicitSync::none).count());
}

TEST(Simulate, predicts_a_concatenation_as_the_second_schedule_queued_behind_the_first) {
  const Job job = in_out_job(4_MiB, 4_MiB, milliseconds(1), 16);
  const Schedule once = find_strategy("streams").schedule(job, {.chunks = 4}, one_kernel_at_a_time);
  const Schedule twice = concatenate(once, once);
  EXPECT_TRUE(problems(twice).empty()) << problems(twice).front();
  const Profile p = planted_profile();
  const Timeline t1 = simulate(once, p).timeline;
  const Timeline t2 = simulate(twice, p).timeline;
  // The first half is what it was alone until the second one's copies come in; the second does not wait for the drain.
  EXPECT_EQ(t1.spans[0].end, t2.spans[0].end);
  EXPECT_LT(t2.makespan.count(), 2 * t1.makespan.count());
  EXPECT_GT(t2.makespan.count(), t1.makespan.count());
}

TEST(Simulate, names_what_the_profile_lacks) {
  Profile p = planted_profile();
  p.submission.launch.reset();
  const Prediction result = simulate(copies_both_ways(1_MiB, 1_MiB), p);
  ASSERT_EQ(result.assumptions.size(), 1u);
  EXPECT_NE(result.assumptions[0].find("submission.launch"), std::string::npos);
}

TEST(Simulate, refuses_more_device_memory_than_the_gpu_has_with_the_numbers) {
  Profile p = planted_profile();
  p.gpus[0].memory = 1_MiB;
  try {
    simulate(copies_both_ways(1_MiB, 1_MiB), p);
    FAIL() << "2 MiB fitted into 1 MiB";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("2 MiB"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("1 MiB"), std::string::npos) << e.what();
  }
}

// A profile that is built in C++ was read by nobody, so its figures may be anything.
TEST(Simulate, refuses_times_that_are_not_finite_or_do_not_advance) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::vector<std::function<void(Profile&, double)>> figures{
      [](Profile& p, double x) { p.gpus[0].launch_latency->value = Seconds{x}; },
      [](Profile& p, double x) {
        for (CopyCost& cost : p.links[0].h2d.costs) cost.latency_overhead.value = Seconds{x};
      },
      [](Profile& p, double x) {
        for (CopyCost& cost : p.links[0].h2d.costs) cost.gap.value = Seconds{x};
        p.links[0].h2d.duplex.reset();
      },
      [](Profile& p, double x) { p.links[0].h2d.per_byte.value = PerByte{x}; },
      [](Profile& p, double x) { p.submission.launch->value = Seconds{x}; }};
  const Job job = in_out_job(1_MiB, 1_MiB, microseconds(50), 1 << 18);
  const Schedule schedule = find_strategy("streams").schedule(job, {.chunks = 3}, roomy);
  for (std::size_t f = 0; f < figures.size(); ++f)
    for (const double value : {infinity, std::nan(""), 5e-324, 1e300, -infinity}) {
      Profile profile = planted_profile();
      figures[f](profile, value);
      try {
        EXPECT_TRUE(std::isfinite(simulate(schedule, profile).timeline.makespan.count())) << f << ' ' << value;
        EXPECT_TRUE(std::isfinite(value)) << f << ' ' << value << " was simulated";
      } catch (const Error& error) {
        EXPECT_NE(std::string_view(error.what()).find("time"), std::string_view::npos) << error.what();
      }
    }
}

TEST(Simulate, ends_with_any_number_of_blocks) {
  const std::uint64_t numbers[] = {0, 1, 7, 1u << 20, std::uint64_t{1} << 53, ~std::uint64_t{0}};
  for (const std::uint64_t blocks : numbers)
    for (const std::uint64_t resident_blocks : numbers)
      for (const std::uint64_t full_rate_blocks : numbers)
        for (const std::uint64_t launches : {1, 3}) {
          Kernel kernel;
          kernel.work = milliseconds(1);
          kernel.launches = launches;
          kernel.blocks = blocks;
          kernel.resident_blocks = resident_blocks;
          kernel.full_rate_blocks = full_rate_blocks;
          Schedule schedule;
          kernel.kernel = schedule.add_kernel("k");
          schedule.add({.what = kernel, .stream = schedule.add_stream("q"), .after = {}});
          const Seconds time = simulate(schedule, planted_profile()).timeline.makespan;
          EXPECT_GE(time, milliseconds(1)) << blocks << ' ' << resident_blocks << ' ' << full_rate_blocks;
          EXPECT_LT(time, milliseconds(2.1)) << blocks << ' ' << resident_blocks << ' ' << full_rate_blocks;
        }
}

TEST(Simulate, ends_and_says_so_where_ops_wait_for_each_other) {
  Schedule s;
  const KernelId k = s.add_kernel("k");
  for (const std::uint32_t other : {1u, 0u})
    s.add({.what = Kernel{.kernel = k, .items = 1, .work = microseconds(1), .operands = {}, .flows = {}},
           .stream = s.add_stream(std::to_string(other)),
           .after = {OpId{other}}});
  const std::string message = message_of([&] { simulate(s, paper_profile()); });
  EXPECT_NE(message.find("before op 0 could start, because ops of the schedule wait for each other"), std::string::npos)
      << message;
}

}  // namespace
}  // namespace shiplap
