// Strategies for arrays in pageable and in managed memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "shiplap/core/error.hpp"
#include "shiplap/schedule/validate.hpp"
#include "shiplap/sim/simulate.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "tests/support/jobs.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

Job job_in(MemoryKind memory, const std::vector<Role>& roles, std::uint64_t items = 60) {
  Job job = in_out_job(1_B, 1_B, milliseconds(1), items);
  job.arrays.clear();
  for (std::size_t i = 0; i < roles.size(); ++i)
    job.arrays.push_back({.name = "array " + std::to_string(i),
                          .role = roles[i],
                          .size = Bytes{items * 8},
                          .element = Bytes{8},
                          .memory = memory});
  return job;
}

const std::vector<std::vector<Role>> unpinned_roles{
    {Role::in, Role::out},
    {Role::inout},
    {Role::in},
    {Role::out},
    {Role::inout, Role::in, Role::out},
    {Role::out, Role::inout, Role::inout, Role::in, Role::in},
};

std::vector<Choice> staged_choices() {
  std::vector<Choice> choices;
  for (const std::uint32_t chunks : {1u, 2u, 7u, 12u, 13u})
    for (const std::uint32_t threads : {1u, 2u, 3u, 8u})
      for (const std::uint32_t ring : {0u, 1u, 2u, 5u})
        choices.push_back({.strategy = "staged", .chunks = chunks, .ring = ring, .threads = threads});
  return choices;
}

TEST(Staged, gives_sound_schedules_in_every_shape) {
  for (const auto& roles : unpinned_roles)
    for (const Choice& choice : staged_choices()) {
      const auto found = problems(find_strategy("staged").schedule(job_in(MemoryKind::pageable, roles), choice, roomy));
      EXPECT_TRUE(found.empty()) << to_string(choice) << ", ring " << choice.ring << ": " << found.front();
    }
}

TEST(Staged, has_no_dependency_that_could_be_left_out) {
  std::size_t edges = 0;
  for (const auto& roles : unpinned_roles)
    for (const Choice& choice : staged_choices()) {
      const Schedule schedule = find_strategy("staged").schedule(job_in(MemoryKind::pageable, roles), choice, roomy);
      for (std::size_t i = 0; i < schedule.ops.size(); ++i)
        for (std::size_t d = 0; d < schedule.ops[i].after.size(); ++d) {
          Schedule without = schedule;
          without.ops[i].after.erase(without.ops[i].after.begin() + static_cast<std::ptrdiff_t>(d));
          ++edges;
          EXPECT_FALSE(problems(without, 1).empty()) << to_string(choice) << ", ring " << choice.ring << ": "
                                                     << describe(schedule, OpId{static_cast<std::uint32_t>(i)})
                                                     << " after " << describe(schedule, schedule.ops[i].after[d]);
        }
    }
  EXPECT_GT(edges, 1000u);
}

TEST(Staged, has_the_threads_move_every_byte_once_and_the_copy_engines_never_touch_pageable_memory) {
  for (const std::uint32_t threads : {1u, 3u, 8u}) {
    const Job job = job_in(MemoryKind::pageable, {Role::in, Role::inout, Role::out});
    const Schedule schedule =
        find_strategy("staged").schedule(job, {.strategy = "staged", .chunks = 13, .threads = threads}, roomy);
    std::vector<std::vector<int>> read(3, std::vector<int>(480)), written(3, std::vector<int>(480));
    for (const Op& op : schedule.ops) {
      EXPECT_FALSE(blocks_agent(schedule, op) && std::holds_alternative<Copy>(op.what));
      const auto* copy = std::get_if<HostCopy>(&op.what);
      if (copy == nullptr) continue;
      const bool in = copy->from.buffer.index() < 3;
      const Region& array = in ? copy->from : copy->to;
      for (std::uint64_t b = 0; b < array.length.count; ++b)
        ++(in ? read : written)[array.buffer.index()][array.offset.count + b];
    }
    EXPECT_EQ(schedule.agents.size(), 3 + 2 * threads);
    for (int b = 0; b < 480; ++b) {
      EXPECT_EQ(read[0][b] + read[1][b], 2);
      EXPECT_EQ(written[1][b] + written[2][b], 2);
      EXPECT_EQ(read[2][b] + written[0][b], 0);
    }
  }
}

TEST(Staged, has_one_thread_that_copies_nothing_call_the_kernel) {
  for (const auto& roles : unpinned_roles)
    for (const Choice& choice : staged_choices()) {
      const Schedule schedule = find_strategy("staged").schedule(job_in(MemoryKind::pageable, roles), choice, roomy);
      const auto found = problems(schedule);
      EXPECT_TRUE(found.empty()) << to_string(choice) << ", ring " << choice.ring << ": " << found.front();
      for (const Op& op : schedule.ops) {
        EXPECT_TRUE(!std::holds_alternative<Kernel>(op.what) || op.agent == AgentId{0}) << to_string(choice);
        EXPECT_FALSE(std::holds_alternative<HostCopy>(op.what) && op.agent == AgentId{0}) << to_string(choice);
      }
    }
}

TEST(Staged, needs_rings_of_two_places_a_thread_however_large_the_arrays_are) {
  const std::uint64_t items = 1 << 20;
  const Job job = job_in(MemoryKind::pageable, {Role::in, Role::out}, items);  // 8 MiB each
  const Schedule schedule =
      find_strategy("staged").schedule(job, {.strategy = "staged", .chunks = 64, .threads = 4}, roomy);
  Bytes pinned;
  for (const Buffer& buffer : schedule.buffers)
    if (buffer.memory == MemoryKind::pinned) pinned += buffer.size;
  EXPECT_EQ(pinned, 128_KiB * 2 * 4 * 2);
}

TEST(Staged, has_all_threads_copy_pieces_of_one_chunk_and_no_more_pieces_than_a_few_however_large_it_is) {
  for (const std::uint64_t items : {std::uint64_t{8} << 20, std::uint64_t{1} << 30}) {  // 64 MiB and 8 GiB each
    const Job job = job_in(MemoryKind::pageable, {Role::in, Role::out}, items);
    const Schedule schedule = find_strategy("staged").schedule(job, {.strategy = "staged", .chunks = 1, .threads = 8},
                                                               {.device_memory = 64_GiB});
    EXPECT_TRUE(problems(schedule).empty());
    std::map<std::uint32_t, Bytes> of_thread;
    std::size_t pieces = 0;
    for (const Op& op : schedule.ops)
      if (const auto* copy = std::get_if<HostCopy>(&op.what)) {
        of_thread[op.agent.value] += copy->from.length;
        ++pieces;
      }
    EXPECT_EQ(of_thread.size(), 16u);
    for (const auto& [thread, copied] : of_thread) EXPECT_EQ(copied, Bytes{items}) << "an eighth of 8 B an item";
    EXPECT_LE(pieces, 128u);
    EXPECT_GE(pieces, 64u);
  }
}

TEST(Staged, keeps_as_many_threads_busy_as_the_slower_of_host_and_link_allows) {
  // Without fixed costs: 64 chunks of 1 MiB each way. Host threads reach 10 GB/s alone and 34 GB/s by eight, both ways
  // together; the link is faster than that, so that 128 MiB at the rate of all threads is what remains.
  Profile profile = planted_profile();
  profile.host->staging.clear();
  Job job = in_out_job(64_MiB, 64_MiB, microseconds(1), 64 << 10);
  for (Array& array : job.arrays) array.memory = MemoryKind::pageable;
  const auto time = [&](std::uint32_t threads) {
    const Choice choice{.strategy = "staged", .chunks = 64, .threads = threads};
    return simulate(find_strategy("staged").schedule(job, choice, limits_of(profile)), profile).timeline.makespan;
  };
  // Two threads, one each way: 10 + 24/7 GB/s together, by the table's straight line from 1 to 8 threads.
  const Seconds two = 128_MiB / gigabytes_per_second(10 + 24.0 / 7);
  const Seconds eight = 128_MiB / gigabytes_per_second(34);
  EXPECT_GT(time(1), two);
  EXPECT_LT(time(1), two * 1.05);
  EXPECT_GT(time(4), eight);
  EXPECT_LT(time(4), eight * 1.15);
}

TEST(Staged, refuses_to_go_without_threads_and_arrays_that_need_no_staging) {
  const Job pageable = job_in(MemoryKind::pageable, {Role::in, Role::out});
  EXPECT_THROW(find_strategy("staged").schedule(pageable, {.strategy = "staged", .chunks = 2}, roomy), UsageError);
  const Job pinned = job_in(MemoryKind::pinned, {Role::in, Role::out});
  for (const char* name : {"staged", "pageable"}) {
    try {
      find_strategy(name).schedule(pinned, {.strategy = name, .chunks = 2, .threads = 2}, roomy);
      FAIL() << name;
    } catch (const Unsupported& e) {
      EXPECT_NE(std::string(e.what()).find("array 0 is in pinned memory"), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("streams"), std::string::npos) << e.what();
    }
  }
}

TEST(Pageable, is_one_copy_each_way_that_holds_the_host) {
  const Schedule schedule =
      find_strategy("pageable")
          .schedule(job_in(MemoryKind::pageable, {Role::in, Role::out}), {.strategy = "pageable"}, roomy);
  ASSERT_EQ(schedule.ops.size(), 3u);
  EXPECT_TRUE(blocks_agent(schedule, schedule.ops[0]));
  EXPECT_TRUE(blocks_agent(schedule, schedule.ops[2]));
  EXPECT_TRUE(problems(schedule).empty());
}

TEST(Managed, is_one_launch_and_threads_that_touch_all_pages_of_the_results) {
  const Job job = job_in(MemoryKind::managed, {Role::in, Role::inout, Role::out}, 1 << 20);  // 8 MiB each
  for (const std::uint32_t threads : {1u, 3u, 4u, 9u}) {
    const Schedule schedule =
        find_strategy("managed").schedule(job, {.strategy = "managed", .threads = threads}, roomy);
    EXPECT_TRUE(problems(schedule).empty());
    std::map<std::uint32_t, Bytes> touched;
    std::map<std::uint32_t, std::uint64_t> next;
    for (const Op& op : schedule.ops)
      if (const auto* call = std::get_if<HostCall>(&op.what)) {
        const auto buffer = call->region.buffer.value;
        EXPECT_EQ(call->region.offset.count, next[buffer]) << "no page twice, none left out";
        next[buffer] += call->region.length.count;
        touched[buffer] += call->region.length;
      }
    EXPECT_EQ(touched, (std::map<std::uint32_t, Bytes>{{1, 8_MiB}, {2, 8_MiB}}));
  }
}

TEST(ManagedPrefetch, moves_every_page_to_the_gpu_and_the_results_back) {
  for (const auto& roles : unpinned_roles) {
    const Job job = job_in(MemoryKind::managed, roles);
    for (const std::uint32_t chunks : {1u, 2u, 7u}) {
      const Schedule schedule =
          find_strategy("managed-prefetch").schedule(job, {.strategy = "managed-prefetch", .chunks = chunks}, roomy);
      const auto found = problems(schedule);
      EXPECT_TRUE(found.empty()) << found.front();
      Bytes to_gpu, to_host;
      for (const Op& op : schedule.ops)
        if (const auto* prefetch = std::get_if<Prefetch>(&op.what))
          (prefetch->to.is_gpu() ? to_gpu : to_host) += prefetch->region.length;
      EXPECT_EQ(to_gpu, Bytes{roles.size() * 480});
      EXPECT_EQ(to_host, bytes_out(job));
    }
  }
}

TEST(ManagedImplicit, has_the_flows_of_implicit_and_advice_that_pages_stay_on_the_host) {
  for (const auto& roles : unpinned_roles) {
    Job job = job_in(MemoryKind::managed, roles);
    job.each_byte_once = true;
    const Schedule schedule = find_strategy("managed-implicit").schedule(job, {.strategy = "managed-implicit"}, roomy);
    EXPECT_TRUE(problems(schedule).empty());
    Job pinned = job;
    for (Array& array : pinned.arrays) array.memory = MemoryKind::pinned;
    const Schedule of_pinned = find_strategy("implicit").schedule(pinned, {.strategy = "implicit"}, roomy);
    ASSERT_EQ(schedule.ops.size(), 1);
    ASSERT_EQ(of_pinned.ops.size(), 1);
    const auto& kernel = std::get<Kernel>(schedule.ops.front().what);
    const auto& like = std::get<Kernel>(of_pinned.ops.front().what);
    ASSERT_EQ(kernel.flows.size(), like.flows.size());
    for (std::size_t i = 0; i < like.flows.size(); ++i) {
      EXPECT_EQ(kernel.flows[i].buffer, like.flows[i].buffer);
      EXPECT_EQ(kernel.flows[i].mode, like.flows[i].mode);
      EXPECT_EQ(kernel.flows[i].bytes, like.flows[i].bytes);
      EXPECT_EQ(kernel.flows[i].in_flight, like.flows[i].in_flight);
    }
    for (const Buffer& buffer : schedule.buffers) EXPECT_EQ(buffer.advice, MemoryAdvice::prefer_host) << buffer.name;
  }
}

TEST(ManagedImplicit, brings_to_the_gpu_what_stays_there_and_back_what_is_carried) {
  Job job = job_in(MemoryKind::managed, {Role::broadcast, Role::carried, Role::in, Role::out});
  job.each_byte_once = true;
  const Schedule schedule = find_strategy("managed-implicit").schedule(job, {.strategy = "managed-implicit"}, roomy);
  EXPECT_TRUE(problems(schedule).empty());
  std::vector<std::pair<std::uint32_t, bool>> prefetched;
  for (const Op& op : schedule.ops)
    if (const auto* prefetch = std::get_if<Prefetch>(&op.what))
      prefetched.emplace_back(prefetch->region.buffer.value, prefetch->to.is_gpu());
  EXPECT_EQ(prefetched, (std::vector<std::pair<std::uint32_t, bool>>{{0, true}, {1, true}, {1, false}}));
  for (const std::uint32_t a : {0u, 1u}) EXPECT_EQ(schedule.buffers[a].advice, MemoryAdvice::none);
  for (const std::uint32_t a : {2u, 3u}) EXPECT_EQ(schedule.buffers[a].advice, MemoryAdvice::prefer_host);
}

TEST(ManagedImplicit, does_arrays_that_are_larger_than_the_memory_of_the_gpu) {
  Job job = job_in(MemoryKind::managed, {Role::in, Role::out}, 1 << 20);  // 8 MiB each
  job.each_byte_once = true;
  const Choice choice{.strategy = "managed-implicit"};
  EXPECT_NO_THROW(find_strategy("managed-implicit").schedule(job, choice, {.device_memory = 1_MiB}));
  job.arrays.push_back(
      {.name = "scratch", .role = Role::scratch, .size = 8_MiB, .element = Bytes{8}, .memory = MemoryKind::device});
  EXPECT_THROW(find_strategy("managed-implicit").schedule(job, choice, {.device_memory = 1_MiB}), Unsupported);
}

TEST(ManagedImplicit, is_refused_to_kernels_that_may_touch_bytes_repeatedly) {
  Job job = job_in(MemoryKind::managed, {Role::in, Role::out});
  for (const std::optional<bool> once : {std::optional<bool>{}, std::optional(false)}) {
    job.each_byte_once = once;
    EXPECT_THROW(
        static_cast<void>(find_strategy("managed-implicit").schedule(job, {.strategy = "managed-implicit"}, roomy)),
        Unsupported);
  }
}

TEST(UnlockedMemory, goes_one_way_where_a_job_has_nothing_for_the_other) {
  for (const Strategy& strategy : strategies()) {
    if (strategy.memory == ArrayMemory::pinned) continue;
    for (const bool in : {true, false}) {
      Job job = in_out_job(in ? 64_KiB : 0_B, in ? 0_B : 64_KiB, milliseconds(1), 1024);
      for (Array& array : job.arrays)
        array.memory = strategy.memory == ArrayMemory::pageable ? MemoryKind::pageable : MemoryKind::managed;
      const Choice choice{.strategy = std::string(strategy.name), .chunks = 4, .threads = 2};
      const auto found = problems(strategy.schedule(job, choice, roomy));
      EXPECT_TRUE(found.empty()) << to_string(choice) << (in ? ", in: " : ", out: ") << found.front();
    }
  }
}

TEST(Managed, refuses_more_than_the_gpu_may_hold_with_the_numbers) {
  const Job job = job_in(MemoryKind::managed, {Role::in, Role::out}, 1 << 20);
  for (const char* name : {"managed", "managed-prefetch"}) {
    try {
      find_strategy(name).schedule(job, {.strategy = name, .threads = 1}, {.device_memory = 10_MiB});
      FAIL() << name;
    } catch (const Unsupported& e) {
      EXPECT_NE(std::string(e.what()).find("16 MiB"), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("10 MiB"), std::string::npos) << e.what();
    }
  }
}

TEST(Choices, of_unpinned_memory_are_told_by_what_was_chosen) {
  EXPECT_EQ(to_string(Choice{.strategy = "staged", .chunks = 64, .threads = 8}),
            "staged, 64 chunks, 8 threads each way");
  EXPECT_EQ(to_string(Choice{.strategy = "managed", .threads = 1}), "managed, 1 thread");
  EXPECT_EQ(to_string(Choice{.strategy = "managed-prefetch", .chunks = 2}), "managed-prefetch, 2 chunks");
  EXPECT_EQ(to_string(Choice{.strategy = "pageable"}), "pageable");
}

TEST(Managed, needs_arrays_that_stay_on_the_gpu_in_managed_memory_too) {
  Job job = job_in(MemoryKind::managed, {Role::broadcast, Role::inout});
  EXPECT_NO_THROW(find_strategy("managed").schedule(job, {.strategy = "managed", .threads = 1}, roomy));
  job.arrays.front().memory = MemoryKind::pinned;
  for (const char* name : {"managed", "managed-prefetch"}) {
    const std::string message = message_of<Unsupported>(
        [&] { static_cast<void>(find_strategy(name).schedule(job, {.strategy = name, .threads = 1}, roomy)); });
    EXPECT_NE(message.find("array 0 stays on the GPU and is in pinned memory"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace shiplap
