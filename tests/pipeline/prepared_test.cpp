#include "shiplap/pipeline/prepared.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/pinned_vector.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/pipeline/node.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/pipeline/run.hpp"
#include "shiplap/profile/more_gpus.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

/// Each item is looked up in a table that stays on the GPU.
struct Lookup {
  std::vector<std::uint32_t> keys = std::vector<std::uint32_t>(1 << 12);
  std::vector<float> table = std::vector<float>(256, 1.0f);
  std::vector<float> found = std::vector<float>(1 << 12);

  Lookup() {
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::uint32_t>(i % table.size());
  }
  Job job() {
    Job job = Job{keys.size(), "lookup"}
                  .in("keys", keys)
                  .kept("table", table)
                  .out("found", found)
                  .kernel_time(microseconds(5))
                  .host_kernel([](Chunk chunk, auto key, auto values, auto to) {
                    for (std::uint64_t i = chunk.first; i < chunk.end(); ++i) to[i] = values[key[i]];
                  });
    for (Array& array : job.arrays) array.memory = MemoryKind::pageable;
    return job;
  }
};

/// A state that grows by 1 in each run and stays on the GPU.
struct Growing {
  std::vector<double> state = std::vector<double>(64, 0.0);

  Job job() {
    return Job{state.size(), "growing"}
        .kept_state("state", state)
        .kernel_time(microseconds(5))
        .host_kernel([](Chunk chunk, auto all) {
          for (std::uint64_t i = chunk.first; i < chunk.end(); ++i) all[i] += 1;
        });
  }
};

Prepared ready(Device& device, const Job& job, const Choice& choice) {
  return prepare(device, job, choice, limits_of(planted_profile()));
}

const Choice copied{.strategy = "pageable", .chunks = 1};

TEST(KeptArrays, are_copied_by_the_first_run_and_again_when_they_have_changed) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  Lookup lookup;
  Prepared prepared = ready(*gpu, lookup.job(), copied);
  prepared.run();
  EXPECT_THAT(lookup.found, Each(1.0f));
  lookup.table.assign(256, 2.0f);
  prepared.run();
  EXPECT_THAT(lookup.found, Each(1.0f)) << "the copy on the GPU";
  prepared.changed("table");
  prepared.run();
  EXPECT_THAT(lookup.found, Each(2.0f));
}

TEST(KeptArrays, cross_the_link_in_no_run) {
  Lookup lookup;
  const Job kept = lookup.job();
  const Schedule schedule = find_strategy("pageable").schedule(kept, copied, limits_of(planted_profile()));
  Bytes sent;
  for (const Op& op : schedule.ops)
    if (const auto* copy = std::get_if<Copy>(&op.what))
      if (direction(schedule, *copy) == CopyDirection::host_to_device) sent += copy->to.length;
  EXPECT_EQ(sent, Bytes{lookup.keys.size() * 4});
}

TEST(KeptArrays, that_kernels_write_come_back_when_they_are_fetched) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  Growing growing;
  Prepared prepared = ready(*gpu, growing.job(), copied);
  for (int step = 0; step < 1000; ++step) prepared.run();
  EXPECT_THAT(growing.state, Each(0.0));
  prepared.fetch("state");
  EXPECT_THAT(growing.state, Each(1000.0));
  growing.state.assign(64, 7.0);
  prepared.changed("state");
  prepared.run();
  prepared.fetch("state");
  EXPECT_THAT(growing.state, Each(8.0));
}

// Each GPU has two kept arrays, in this order: table and factor of the first GPU, table and factor of the second.
TEST(KeptArrays, are_on_every_gpu_that_runs_chunks_before_and_after_a_change) {
  const auto gpus = open_virtual(with_gpus(planted_profile(), 2), "virtual:planted:2");
  Lookup lookup;
  std::vector<float> factor(1, 1.0f);
  Job job = Job{lookup.keys.size(), "scaled-lookup"}
                .in("keys", lookup.keys)
                .kept("table", lookup.table)
                .kept("factor", factor)
                .out("found", lookup.found)
                .kernel_time(microseconds(5))
                .host_kernel([](Chunk chunk, auto key, auto values, auto by, auto to) {
                  for (std::uint64_t i = chunk.first; i < chunk.end(); ++i) to[i] = values[key[i]] * by[0];
                });
  const Memory keys = gpus->pin(reinterpret_cast<std::byte*>(lookup.keys.data()), Bytes{lookup.keys.size() * 4});
  const Memory found = gpus->pin(reinterpret_cast<std::byte*>(lookup.found.data()), Bytes{lookup.found.size() * 4});
  job.arrays[1].memory = job.arrays[2].memory = MemoryKind::pageable;
  Prepared prepared = ready(*gpus, job, {.strategy = "streams", .chunks = 4, .gpus = 2});
  EXPECT_EQ(prepared.schedule().kept.size(), 4u);
  prepared.check_kept(true);
  prepared.run();
  EXPECT_THAT(lookup.found, Each(1.0f));
  lookup.table.assign(256, 2.0f);
  prepared.changed("table");
  prepared.run();
  EXPECT_THAT(lookup.found, Each(2.0f));
  factor[0] = 3;
  prepared.changed("factor");
  prepared.run();
  EXPECT_THAT(lookup.found, Each(6.0f));
}

TEST(KeptArrays, that_a_failed_run_may_have_changed_are_not_used) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  std::vector<double> state(64, 0.0);
  bool fails = false;
  Job job = Job{state.size(), "failing"}
                .kept_state("state", state)
                .kernel_time(microseconds(5))
                .host_kernel([&fails](Chunk chunk, auto all) {
                  for (std::uint64_t i = chunk.first; i < chunk.end(); ++i) {
                    if (fails && i == chunk.end() / 2) throw Error("enough");
                    all[i] += 1;
                  }
                });
  job.arrays[0].memory = MemoryKind::pageable;
  Prepared prepared = ready(*gpu, job, copied);
  prepared.run();
  fails = true;
  EXPECT_THROW(prepared.run(), Error);
  fails = false;
  EXPECT_THAT(message_of<Error>([&] { prepared.run(); }), HasSubstr("a run that writes it has failed"));
  EXPECT_THAT(message_of<Error>([&] { prepared.fetch("state"); }), HasSubstr("a run that writes it has failed"));
  prepared.changed("state");
  prepared.run();
  prepared.fetch("state");
  EXPECT_THAT(state, Each(1.0));
}

TEST(KeptArrays, are_copied_again_by_the_run_after_one_whose_time_limit_their_copy_has_passed) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  Lookup lookup;
  Prepared prepared = ready(*gpu, lookup.job(), copied);
  EXPECT_THROW(prepared.run({.limit = Seconds{1e-9}}), TimedOut);
  lookup.table.assign(256, 4.0f);
  prepared.run();
  EXPECT_THAT(lookup.found, Each(4.0f));
}

TEST(KeptArrays, that_kernels_write_stay_defined_when_a_wait_finds_no_run) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  Growing growing;
  Prepared prepared = ready(*gpu, growing.job(), copied);
  prepared.run();
  EXPECT_THROW(prepared.wait(), Error);
  prepared.fetch("state");
  EXPECT_THAT(growing.state, Each(1.0));
}

TEST(KeptArrays, are_not_copied_while_a_run_uses_them) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  Lookup lookup;
  Prepared prepared = ready(*gpu, lookup.job(), copied);
  prepared.submit();
  lookup.table.assign(256, 2.0f);
  prepared.changed("table");
  EXPECT_THROW(prepared.submit(), Error);
  prepared.wait();
  EXPECT_THAT(lookup.found, Each(1.0f));
  prepared.run();
  EXPECT_THAT(lookup.found, Each(2.0f));
}

TEST(KeptArrays, that_changed_in_silence_are_found_by_a_checked_run) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  Lookup lookup;
  Prepared prepared = ready(*gpu, lookup.job(), copied);
  prepared.check_kept(true);
  prepared.run();
  EXPECT_NO_THROW(prepared.run());
  lookup.table[17] = 3.0f;
  EXPECT_THAT(message_of<Error>([&] { prepared.run(); }), HasSubstr("call `changed(\"table\")`"));
  prepared.changed("table");
  prepared.run();
  EXPECT_EQ(lookup.found[17], 3.0f);
}

TEST(KeptArrays, refuse_what_they_cannot_do) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  Lookup lookup;
  Prepared prepared = ready(*gpu, lookup.job(), copied);
  EXPECT_THAT(message_of<UsageError>([&] { prepared.changed("keys"); }), HasSubstr("no array of this name stays"));
  EXPECT_THAT(message_of<UsageError>([&] { prepared.fetch("table"); }), HasSubstr("no kernel writes this array"));
  Growing growing;
  Prepared grows = ready(*gpu, growing.job(), copied);
  EXPECT_THAT(message_of<Error>([&] { grows.fetch("state"); }), HasSubstr("run first"));
  grows.submit();
  EXPECT_THAT(message_of<Error>([&] { grows.fetch("state"); }), HasSubstr("in flight"));
  grows.wait();
  EXPECT_NO_THROW(grows.fetch("state"));
  grows.check_kept(true);
  grows.run();
  grows.fetch("state");
  growing.state[3] = 99;
  EXPECT_THAT(message_of<Error>([&] { grows.run(); }), HasSubstr("changed(\"state\")")) << "after it was fetched";

  Job cut = lookup.job();
  cut.arrays[0].kept = true;
  const Node node = node_of(*gpu, planted_profile());
  EXPECT_THAT(message_of<UsageError>([&] { plan(node, cut); }), HasSubstr("is cut into chunks"));
  Job managed = lookup.job();
  for (Array& array : managed.arrays) array.memory = MemoryKind::managed;
  EXPECT_THAT(message_of<Unsupported>([&] {
                find_strategy("managed").schedule(managed, {.strategy = "managed", .threads = 4},
                                                  limits_of(planted_profile()));
              }),
              HasSubstr("stays on the GPU from run to run"));
}

TEST(KeptArrays, are_planned_without_the_time_of_their_copy) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  const Node node = node_of(*gpu, planted_profile());
  std::vector<float> table(16 << 20, 1.0f);
  Lookup lookup;
  Job job = lookup.job();
  job.arrays[1].size = Bytes{table.size() * 4};
  job.arrays[1].data = reinterpret_cast<std::byte*>(table.data());
  const Plan kept = plan(node, job);
  job.arrays[1].kept = false;
  const Plan each_run = plan(node, job);
  EXPECT_GT(each_run.chosen.predicted.value, milliseconds(1)) << "64 MiB cross the link";
  EXPECT_LT(kept.chosen.predicted.value, microseconds(200));
  EXPECT_LE(kept.ranking.bound.time, kept.chosen.predicted.value);
  EXPECT_GT(kept.time_of_kept_copies, milliseconds(1));
  EXPECT_EQ(each_run.time_of_kept_copies, Seconds{0});
  EXPECT_THAT(kept.explain(), HasSubstr("The first run takes"));
}

TEST(KeptArrays, are_as_after_a_single_run_when_a_report_repeats_it) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  const Node node = node_of(*gpu, planted_profile());
  for (const unsigned repeats : {1u, 5u}) {
    Growing growing;
    const Plan planned = plan(node, growing.job());
    run(*gpu, planned, growing.job(), {.repeats = repeats});
    EXPECT_THAT(growing.state, Each(1.0)) << repeats;
  }
}

TEST(KeptArrays, alone_make_a_job_of_a_step_without_copies) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  const Node node = node_of(*gpu, planted_profile());
  Growing growing;
  const Plan planned = plan(node, growing.job());
  EXPECT_LT(planned.chosen.predicted.value, microseconds(30));
  Prepared prepared = prepare(*gpu, planned, growing.job());
  for (int step = 0; step < 3; ++step) prepared.run();
  prepared.fetch("state");
  EXPECT_THAT(growing.state, Each(3.0));
}

}  // namespace
}  // namespace shiplap
