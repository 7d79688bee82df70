#include "shiplap/pipeline/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "shiplap/core/error.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/pipeline/race.hpp"
#include "shiplap/pipeline/run.hpp"
#include "shiplap/schedule/validate.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "tests/support/planted_gpu.hpp"

namespace shiplap {
namespace {

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
        .broadcast("factor", factor)
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

TEST(QuickPlan, compares_a_few_choices_of_copies_and_runs_right) {
  const auto gpu = planted_gpu();
  const Node node = load_or_measure(*gpu);
  Stencil stencil;
  const Job job = stencil.job().zero_copy_suits();
  std::vector<Memory> pinned;
  for (const Array& array : job.arrays) pinned.push_back(gpu->pin(array.data, array.size));
  const auto has_zero_copy = [](const Candidate& c) { return find_strategy(c.choice.strategy).zero_copy; };
  EXPECT_TRUE(std::ranges::any_of(plan(node, job).ranking.candidates, has_zero_copy));
  const Plan quick = plan(node, job, {.quick = true});
  EXPECT_FALSE(std::ranges::any_of(quick.ranking.candidates, has_zero_copy));
  for (const Candidate& candidate : quick.ranking.candidates)
    EXPECT_FALSE(candidate.choice.graph || candidate.choice.batched) << to_string(candidate.choice);
  EXPECT_FALSE(quick.pins);
  run(*gpu, quick, job);
  stencil.expect_right(*quick.chosen.schedule);
}

TEST(PlannedJob, runs_a_halo_a_resident_and_a_carried_array_under_every_choice) {
  const auto gpu = planted_gpu();
  std::size_t runs = 0;
  for (const char* strategy : {"explicit", "streams", "implicit", "hybrid", "hybrid-mirror"})
    for (const Layout layout : {Layout::three, Layout::few, Layout::per_chunk, Layout::one_engine})
      for (const IssueOrder order : {IssueOrder::depth, IssueOrder::breadth})
        for (const std::uint32_t chunks : {1u, 2u, 7u, 60u})
          for (const std::uint32_t ring : {0u, 1u, 2u, 3u}) {
            if (!find_strategy(strategy).chunked && (chunks > 1 || layout != Layout::three || ring > 0)) continue;
            Stencil stencil;
            Job job = stencil.job().zero_copy_suits();
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

TEST(PlannedJob, races_among_as_many_candidates_as_the_time_of_the_race_can_run) {
  const auto gpu = planted_gpu();
  const Node node = node_of(*gpu, planted_profile());
  Stencil stencil;
  const Job job = stencil.job().zero_copy_suits();
  std::vector<Memory> pinned;
  for (const Array& array : job.arrays) pinned.push_back(gpu->pin(array.data, array.size));
  const auto finalists = [&](Seconds race) {
    return plan(node, job, {.race = race, .race_anew = true}).race->finalists.size();
  };
  const Seconds of_a_run = plan(node, job).chosen.predicted.value;
  const std::size_t few = finalists(of_a_run);
  EXPECT_LE(few, 3u + 1u) << "with a variant of the winner";
  EXPECT_GT(finalists(of_a_run * 1000), few);
}

TEST(PlannedJob, plans_vectors_as_they_come_and_runs_them_again_and_again) {
  const auto gpu = planted_gpu();
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

TEST(PlannedJob, names_the_array_and_the_index_of_a_view_that_a_kernel_leaves) {
  const auto gpu = planted_gpu();
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
                         .broadcast("factor", stencil.factor)
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

TEST(PlannedJob, notes_chunks_of_fewer_blocks_than_the_gpu_has_sms) {
  std::vector<float> x(8192);
  const auto job = Job{x.size(), "bodies"}.inout("x", x).with_blocks(256, 256).kernel_time(milliseconds(1));
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

TEST(PlannedJob, has_fewer_chunks_where_a_call_of_the_kernel_costs_the_host_more_and_is_no_graph_uncaptured) {
  std::vector<float> x(1 << 22);
  std::vector<float> y(x.size());
  const auto chosen = [&](Seconds call, bool capturable) {
    auto job = Job{x.size(), "calls"}.in("x", x).out("y", y).kernel_time(microseconds(100));
    job.cost.call = call;
    job.capturable = capturable;
    return plan(node_of(find_profile("h200")), job, {.space = {.strategies = {"streams"}}});
  };
  const Plan cheap = chosen(Seconds{0}, false);
  const Plan dear = chosen(microseconds(100), false);
  EXPECT_GT(cheap.chosen.choice.chunks, 2 * dear.chosen.choice.chunks);
  EXPECT_GT(dear.chosen.predicted.value, dear.chosen.choice.chunks * microseconds(100));
  const auto graphs = [](const Plan& made) {
    return std::ranges::any_of(made.ranking.candidates, [](const Candidate& c) { return c.choice.graph; });
  };
  EXPECT_TRUE(graphs(chosen(microseconds(100), true)));
  EXPECT_FALSE(graphs(dear));
  EXPECT_THAT(dear.ranking.assumptions, ::testing::Contains(::testing::HasSubstr("no candidate is a graph")));
}

TEST(PlannedJob, has_sound_schedules_of_scratch_beside_chunks_that_are_empty) {
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

TEST(PlannedJob, brings_a_prefix_with_the_vector_that_it_is_of) {
  const auto gpu = planted_gpu();
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
  EXPECT_EQ(made.job.arrays[1].memory, made.job.arrays[0].memory) << "where the vector is, so is its prefix";
  run(*gpu, made, job);
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], x[i] * x[i % 10]) << i;
  for (const std::uint32_t no_input_before : {1u, 2u, 99u}) {
    Job wrong = job;
    wrong.arrays[1].prefix_of = no_input_before;
    EXPECT_THROW(plan(node_of(*gpu, planted_profile()), wrong), UsageError);
  }
}

TEST(PlannedJob, has_sound_schedules_of_halos_beside_what_stays_and_of_chunks_that_are_empty) {
  for (const Layout layout : {Layout::three, Layout::few, Layout::per_chunk})
    for (const std::uint32_t ring : {1u, 2u, 3u, 4u})
      for (const std::uint32_t chunks : {3u, 8u, 12u}) {
        const auto job = Job{.items = 24,
                             .cost = {.points = {{24, Interval<Seconds>::exact(microseconds(9))}},
                                      .limited = {},
                                      .origin = "stated"}}
                             .shaped<const float>("halo", Role::in, 24, halo(5, 0))
                             .shaped<const float>("all", Role::broadcast, 7)
                             .shaped<float>("some", Role::out, 24, mapped_by([](ItemRange r) {
                                              const bool none = r.first / 2 % 3 != 0;
                                              return ElementRange{r.first, none ? 0 : r.count};
                                            }))
                             .zero_copy_suits();
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
