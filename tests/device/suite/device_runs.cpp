// What a device promises of runs: the order of ops, errors, stops and time limits, and the state of the caller.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "shiplap/core/deadline.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/pattern.hpp"
#include "shiplap/device/probe_kernel.hpp"
#include "shiplap/device/stream_gap.hpp"
#include "tests/device/suite/device_suite.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Schedule as_graph(Schedule schedule) {
  schedule.as_graph = true;
  return schedule;
}
Schedule through_the_host(Schedule schedule) {
  schedule.peer_access = false;
  return schedule;
}

const std::vector<RunOptions> ways_to_run{{}, {.hold = true}, {.trace = Trace::events}};

// --- Order and waits ---

TEST_P(DeviceOrder, of_every_kind_of_schedule_brings_every_chunk_through_run_after_run) {
  for (const auto& [schedule, inverted] : {std::pair{three_streams_inverting(), true},
                                           {stream_per_chunk_inverting(), true},
                                           {ring_of_one_chunk_inverting(), true},
                                           {as_graph(three_streams_inverting()), true},
                                           {as_graph(stream_per_chunk_inverting()), true},
                                           {batches_inverting_nothing(), false},
                                           {blocks_inverting(), true},
                                           {prefetches_inverting(), true},
                                           {advised_inverting(), true},
                                           {host_agents_inverting(), true},
                                           {two_gpus_inverting_twice(), false},
                                           {through_the_host(two_gpus_inverting_twice()), false},
                                           {allocation_on_another_gpu_inverting(), true}}) {
    const auto gpus = device_for(schedule);
    if (gpus == nullptr) continue;
    TransferMemory memory(*gpus, tested->inverting_kernel(), schedule, inverted);
    const auto execution = gpus->prepare(schedule, memory.bindings);
    execution->run();
    const std::size_t before = tested->in_use();
    for (int run = 0; run < 10; ++run) {
      SCOPED_TRACE(schedule.streams.front().name + ", " + std::to_string(schedule.ops.size()) + " ops");
      if (!schedule.as_graph || tested->runs_kernels_and_graphs()) memory.reset();
      const RunResult result = execution->run();
      memory.expect_output();
      const auto by_host = std::ranges::count_if(schedule.ops, [](const Op& op) { return op.stream.is_none(); });
      ASSERT_EQ(result.host_spans.size(), by_host > 0 ? schedule.ops.size() : 0u);
      for (const Span& span : result.host_spans) EXPECT_LE(span.start, span.end);
    }
    EXPECT_EQ(tested->in_use(), before) << "what ops have pinned, allocated and created";
  }
}

TEST_P(DeviceOrder, is_the_same_when_a_run_is_held_or_traced_and_spans_are_reported_when_asked_for) {
  const Schedule schedule = three_streams_inverting();
  TransferMemory memory = memory_for(schedule);
  const auto execution = device->prepare(schedule, memory.bindings);
  constexpr Engine engines[] = {Engine::copy_h2d, Engine::compute, Engine::copy_d2h};
  for (const bool hold : {false, true})
    for (const Trace trace : {Trace::none, Trace::events, Trace::kernels}) {
      memory.reset();
      const RunResult result = execution->run({.hold = hold, .trace = trace});
      memory.expect_output();
      EXPECT_GT(result.timeline.makespan, Seconds{0});
      ASSERT_EQ(result.timeline.spans.size(), trace == Trace::none ? 0u : schedule.ops.size());
      EXPECT_EQ(result.trace_source.empty(), trace == Trace::none);
      for (std::size_t i = 0; i < result.timeline.spans.size(); ++i) {
        const Span& span = result.timeline.spans[i];
        const bool is_observed = trace == Trace::events || std::holds_alternative<Kernel>(schedule.ops[i].what);
        EXPECT_EQ(span.end > span.start, is_observed) << i;
        EXPECT_LE(span.end, result.timeline.makespan + microseconds(1)) << i;
        EXPECT_TRUE(trace != Trace::events || span.engine == engines[i % std::size(engines)]) << i;
      }
    }
}

// The agents are numbered with and against the order in which they submit.
TEST_P(DeviceOrder, ends_with_the_op_that_is_submitted_last_whichever_agent_submits_it) {
  const Bytes size = tested->long_copy();
  const Memory on_gpu = device->allocate(Place::gpu(), MemoryKind::device, size);
  const Memory on_host = device->allocate(Place::host(), MemoryKind::pinned, size);
  device->fill(on_gpu, 1);
  for (const std::uint32_t last : {0u, 1u}) {
    Schedule s;
    s.agents = {{.name = "main"}, {.name = "helper"}};
    const BufferId from = s.add_buffer({"from", Place::gpu(), MemoryKind::device, size});
    const BufferId to = s.add_buffer({"to", Place::host(), MemoryKind::pinned, size});
    const StreamId only = s.add_stream("only");
    for (const auto& [agent, begin, length] : {std::tuple{1 - last, 0_B, 4_KiB}, {last, 4_KiB, size - 4_KiB}})
      s.add({.what = Copy{{from, begin, length}, {to, begin, length}},
             .stream = only,
             .agent = AgentId{agent},
             .after = {}});
    const auto execution = device->prepare(s, {.buffers = {on_gpu.data(), on_host.data()}, .kernels = {}});
    device->fill(on_host, 2);
    execution->run();
    EXPECT_EQ(count_mismatches(on_host.bytes().last(4096), 1, size - 4_KiB), 0u) << last;
  }
}

TEST_P(DeviceOrder, of_submitting_and_waiting_is_kept) {
  const Schedule schedule = three_streams_inverting();
  const TransferMemory memory = memory_for(schedule);
  auto execution = device->prepare(schedule, memory.bindings);
  EXPECT_EQ(message_of([&] { execution->wait(); }), "no run was submitted: submit one before waiting for it");
  execution->submit();
  EXPECT_EQ(message_of([&] { execution->submit(); }), "a run was submitted that is still in flight: wait for it first");
  execution->wait();
  EXPECT_THROW(execution->wait(), Error);
  execution->submit();
  execution.reset();  // waits
  memory.expect_output();
}

TEST_P(DeviceOrder, in_each_stream_is_that_of_submission_across_executions_that_share_streams) {
  const Schedule schedule = stream_per_chunk_inverting();
  TransferMemory a = memory_for(schedule);
  TransferMemory b = memory_for(schedule, false);
  b.bindings.buffers.front() = a.bindings.buffers.back();  // inverted twice
  auto first = device->prepare(schedule, a.bindings);
  const auto second = device->prepare_behind(*first, schedule, b.bindings);
  first->submit();
  second->submit();
  const Seconds of_first = first->wait().ended;
  EXPECT_LT(of_first, second->wait().ended);
  b.expect_output();
  first.reset();
  b.reset();
  second->run();
  b.expect_output();
}

// --- Errors and refusals ---

TEST_P(DeviceErrors, of_streams_that_cannot_be_shared_leave_those_of_the_first_execution_alone) {
  const Schedule schedule = three_streams_inverting();
  const Schedule agents = host_agents_inverting();
  const TransferMemory memory = memory_for(schedule);
  const TransferMemory of_agents = memory_for(agents);
  const auto first = device->prepare(schedule, memory.bindings);
  const auto behind = [&](const Execution& other, const Schedule& next, const TransferMemory& used) {
    device->prepare_behind(other, next, used.bindings);
  };
  std::size_t before = 0;
  for (int round = 0; round < 2; ++round) {
    EXPECT_THROW(behind(*first, as_graph(schedule), memory), Unsupported);
    EXPECT_THROW(behind(*first, agents, of_agents), Unsupported);
    EXPECT_THROW(behind(*device->prepare(agents, of_agents.bindings), schedule, memory), Unsupported);
    EXPECT_THROW(behind(*device->prepare(as_graph(schedule), memory.bindings), schedule, memory), Unsupported);
    EXPECT_EQ(message_of([&] { behind(*first, through_the_host(schedule), memory); }),
              "of executions in the same streams, one lets GPUs address each other's memory and another does not");
    EXPECT_EQ(message_of([&] { tested->open(1)->prepare_behind(*first, schedule, memory.bindings); }),
              "an execution can only share the streams of one that the same device has prepared");
    if (round == 0) before = tested->in_use();
  }
  EXPECT_EQ(tested->in_use(), before);
  first->run();
  memory.expect_output();
}

TEST_P(DeviceErrors, of_a_kernels_function_name_the_op_and_leave_whole_chunks_and_nothing_else) {
  std::size_t before = 0;
  for (int round = 0; round < 3; ++round) {
    for (const Schedule& schedule : {three_streams_inverting(), as_graph(three_streams_inverting())})
      for (const RunOptions& options : ways_to_run) {
        if (schedule.as_graph && options.trace != Trace::none) continue;
        TransferMemory memory = memory_for(schedule);
        bool throws = true;
        memory.before_kernel_of(1, [&](const Launch&) {
          if (throws) throw std::runtime_error("no such item");
        });
        std::unique_ptr<Execution> execution;
        EXPECT_THAT(message_of([&] {
                      execution = device->prepare(schedule, memory.bindings);
                      execution->run(options);
                    }),
                    HasSubstr("kernel invert of chunk 1 (op 4): no such item"));
        memory.expect_whole_chunks();
        EXPECT_TRUE(memory.is_complete(0) || schedule.as_graph);
        for (const std::uint32_t chunk : {1u, 2u}) EXPECT_TRUE(memory.is_untouched(chunk)) << chunk;
        throws = false;
        memory.reset();
        if (execution == nullptr) execution = device->prepare(schedule, memory.bindings);
        execution->run(options);
        memory.expect_output();
      }
    if (round == 0) before = tested->in_use();  // the device keeps a gate, and the driver what it likes
  }
  EXPECT_EQ(tested->in_use(), before);
}

TEST_P(DeviceErrors, of_a_kernels_function_keep_their_kind_whatever_it_throws) {
  const Schedule schedule = three_streams_inverting();
  TransferMemory memory = memory_for(schedule);
  std::function<void()> fault = [] { throw 42; };
  memory.before_kernel_of(1, [&](const Launch&) { fault(); });
  const auto execution = device->prepare(schedule, memory.bindings);
  EXPECT_THAT(message_of([&] { execution->run(); }), HasSubstr("kernel invert of chunk 1 (op 4)"));
  fault = [] { throw Unsupported("no tensor cores"); };
  EXPECT_THAT(message_of<Unsupported>([&] { execution->run(); }), HasSubstr("(op 4): no tensor cores"));
  fault = [] { throw Cancelled("nobody wants it any more"); };
  EXPECT_EQ(message_of<Cancelled>([&] { execution->run(); }), "nobody wants it any more");
  memory.expect_whole_chunks();
}

TEST_P(DeviceErrors, of_one_host_thread_stop_the_others) {
  for (const Schedule& schedule : {host_agents_inverting(), two_gpus_inverting_twice()}) {
    const auto gpus = device_for(schedule);
    if (gpus == nullptr) continue;
    TransferMemory memory(*gpus, tested->inverting_kernel(), schedule, gpus == device);
    bool throws = false;
    memory.before_kernel_of(2, [&](const Launch&) {
      if (throws) throw std::runtime_error("no such item");
    });
    const auto execution = gpus->prepare(schedule, memory.bindings);
    execution->run();
    const std::size_t before = tested->in_use();
    throws = true;
    memory.reset();
    EXPECT_THAT(message_of([&] { execution->run(); }), AllOf(HasSubstr("of chunk 2 (op "), HasSubstr("no such item")));
    memory.expect_whole_chunks();
    EXPECT_EQ(tested->in_use(), before) << "what ops had pinned, allocated and created";
    throws = false;
    execution->run();
    memory.expect_output();
  }
}

// CUDA keeps the error of a call for its thread until it is asked for. A function that throws need not have asked. The
// kernels of two GPUs are launched by another thread than the caller's.
TEST_P(DeviceErrors, of_a_refused_launch_name_the_op_and_are_blamed_on_no_later_run) {
  for (const Schedule& schedule :
       {three_streams_inverting(), as_graph(three_streams_inverting()), two_gpus_inverting_twice()})
    for (const bool throws : {false, true}) {
      const auto gpus = device_for(schedule);
      if (gpus == nullptr) continue;
      TransferMemory memory(*gpus, tested->inverting_kernel(), schedule, gpus == device);
      bool refused = true;
      memory.before_kernel_of(1, [&](const Launch& launch) {
        if (!refused) return;
        try {
          tested->refuse_launch(launch);
        } catch (const Error&) {
          if (!throws) throw;
        }
        if (throws) throw Cancelled("nobody wants it any more");
      });
      std::unique_ptr<Execution> execution;
      const std::string message = message_of([&] {
        execution = gpus->prepare(schedule, memory.bindings);
        execution->run();
      });
      EXPECT_THAT(message, throws ? HasSubstr("nobody wants it") : HasSubstr("kernel invert of chunk 1 (op "));
      refused = false;
      if (execution == nullptr) execution = gpus->prepare(schedule, memory.bindings);
      EXPECT_NO_THROW(execution->run());
      memory.expect_output();
    }
}

TEST_P(DeviceErrors, of_unsound_schedules_come_before_a_byte_moves) {
  Schedule racy = three_streams_inverting();
  racy.ops[1].after.clear();
  Schedule pageable = as_graph(three_streams_inverting());
  pageable.buffers[0].memory = MemoryKind::pageable;
  Schedule elsewhere = three_streams_inverting();
  elsewhere.streams[0].place = Place::gpu(3);
  for (const Schedule& schedule : {racy, pageable, elsewhere}) {
    const TransferMemory memory = memory_for(schedule);
    EXPECT_THROW(device->prepare(schedule, memory.bindings), Error);
    EXPECT_TRUE(memory.is_untouched(0));
  }
}

TEST_P(DeviceErrors, of_bindings_that_do_not_fit_the_schedule_name_the_numbers_or_the_kernel) {
  const Schedule schedule = three_streams_inverting();
  const TransferMemory memory = memory_for(schedule);
  Bindings few = memory.bindings;
  few.buffers.pop_back();
  EXPECT_THAT(message_of([&] { device->prepare(schedule, few); }), HasSubstr("3 buffers"));
  Bindings none = memory.bindings;
  none.kernels.clear();
  EXPECT_THAT(message_of([&] { device->prepare(schedule, none); }), HasSubstr("1 kernels"));
  Bindings empty = memory.bindings;
  empty.kernels[0] = {};
  EXPECT_THAT(message_of<Unsupported>([&] { device->prepare(schedule, empty); }), HasSubstr("invert"));
}

TEST_P(DeviceErrors, of_a_time_limit_below_zero_come_before_anything_moves) {
  const TransferMemory memory = memory_for(three_streams_inverting());
  const auto execution = device->prepare(three_streams_inverting(), memory.bindings);
  EXPECT_THROW(execution->run({.limit = Seconds{-1}}), UsageError);
  EXPECT_TRUE(memory.is_untouched(0));
  execution->run({.limit = Seconds{10}});
  memory.expect_output();
}

TEST_P(DeviceErrors, of_runs_that_cannot_be_held_come_before_anything_moves) {
  Schedule pageable = three_streams_inverting();
  pageable.buffers[0].memory = MemoryKind::pageable;
  for (const Schedule& schedule :
       {pageable, host_agents_inverting(), prefetches_inverting(), through_the_host(two_gpus_inverting_twice())}) {
    const auto gpus = device_for(schedule);
    if (gpus == nullptr) continue;
    const TransferMemory memory(*gpus, tested->inverting_kernel(), schedule, gpus == device);
    const auto execution = gpus->prepare(schedule, memory.bindings);
    EXPECT_THAT(message_of<Unsupported>([&] { execution->run({.hold = true}); }), HasSubstr("cannot be held"));
    EXPECT_TRUE(memory.is_untouched(0));
    EXPECT_THROW(execution->wait(), Error) << "nothing is in flight";
    execution->run();
    memory.expect_output();
  }
}

// --- Runs that are stopped or do not end ---

TEST_P(DeviceEnds, when_a_run_is_stopped_leave_whole_chunks_and_an_execution_that_runs_again) {
  const Schedule schedule = three_streams_inverting();
  for (const bool hold : {false, true}) {
    TransferMemory memory = memory_for(schedule);
    const auto execution = device->prepare(schedule, memory.bindings);
    for (std::uint32_t whole = 0; whole < transfer_chunks; ++whole) {
      memory.reset();
      std::uint32_t asked = 0;
      EXPECT_EQ(
          message_of<Cancelled>([&] { execution->run({.hold = hold, .stop = [&] { return asked++ == whole; }}); }),
          "the run was stopped before " + describe(schedule, OpId{3 * whole}));
      EXPECT_EQ(asked, whole + 1) << "before each chunk, until the answer is yes";
      for (std::uint32_t c = 0; c < transfer_chunks; ++c)
        EXPECT_TRUE(c < whole ? memory.is_complete(c) : memory.is_untouched(c)) << c;
    }
    execution->run({.hold = hold, .stop = [] { return false; }});
    memory.expect_output();
  }
}

TEST_P(DeviceEnds, when_a_run_is_stopped_are_those_of_all_host_threads) {
  const Schedule schedule = host_agents_inverting();
  TransferMemory memory = memory_for(schedule);
  const auto execution = device->prepare(schedule, memory.bindings);
  execution->run();
  const std::size_t before = tested->in_use();
  for (int more = 0; more < 6; ++more) {
    memory.reset();
    std::atomic<int> asked{0};
    try {
      execution->run({.stop = [&] { return asked++ >= more; }});
      memory.expect_output();
      EXPECT_LE(asked, more) << "a run that was to stop did not";
    } catch (const Cancelled&) {
      EXPECT_GT(asked, more);
    }
    memory.expect_whole_chunks();
    EXPECT_EQ(tested->in_use(), before) << "what ops had pinned, allocated and created";
  }
  execution->run();
  memory.expect_output();
}

TEST_P(DeviceEnds, when_a_graph_is_stopped_come_before_its_launch) {
  const Schedule schedule = as_graph(three_streams_inverting());
  TransferMemory memory = memory_for(schedule);
  const auto execution = device->prepare(schedule, memory.bindings);
  for (const bool hold : {false, true}) {
    memory.reset();
    EXPECT_EQ(message_of<Cancelled>([&] { execution->run({.hold = hold, .stop = [] { return true; }}); }),
              "the run was stopped before its graph was launched");
    for (std::uint32_t c = 0; c < transfer_chunks; ++c) EXPECT_TRUE(memory.is_untouched(c));
    EXPECT_NO_THROW(execution->run({.hold = hold, .stop = [] { return false; }}));
    if (tested->runs_kernels_and_graphs()) memory.expect_output();
  }
}

constexpr Seconds time_limit = milliseconds(50);
constexpr Seconds host_delay = Seconds{1};  ///< what threads and the driver may add on a busy host

/// Lets no launch end while it lives.
class Endless {
 public:
  explicit Endless(TestedDevice& tested) : tested_(tested) { tested_.set_endless(true); }
  ~Endless() { tested_.set_endless(false); }
  Endless(const Endless&) = delete;
  Endless& operator=(const Endless&) = delete;

 private:
  TestedDevice& tested_;
};

/// Runs what does not end, until the limit passes. Returns the message. Once the work may end, the execution runs
/// again.
std::string overdue_message(TestedDevice& tested, Execution& execution, const TransferMemory& memory,
                            const RunOptions& options) {
  std::string message;
  {
    const Endless endless(tested);
    const Seconds began = steady_time();
    message = message_of([&] { execution.run(options); });
    EXPECT_LT(steady_time() - began, time_limit + host_delay);
    EXPECT_EQ(execution.overdue(), tested.leaves_work_in_flight());
    if (execution.overdue()) {
      EXPECT_GE(steady_time() - began, time_limit);
      EXPECT_THROW(execution.submit(), TimedOut) << "its memory is still in use";
      EXPECT_THROW(execution.wait(), TimedOut);
    } else {
      EXPECT_THROW(execution.wait(), Error) << "nothing is in flight";
    }
  }
  for (const Deadline deadline = Deadline::in(host_delay); execution.overdue() && !deadline.passed();)
    std::this_thread::yield();
  EXPECT_FALSE(execution.overdue());
  execution.run({.limit = Seconds{10}});
  memory.expect_output();
  return message;
}

TEST_P(DeviceEnds, when_the_time_limit_passes_come_at_once_whoever_waits_for_the_run) {
  for (const Schedule& schedule : {three_streams_inverting(), host_copies_inverting()})
    for (const bool hold : {false, true}) {
      if (hold && !can_be_held(schedule)) continue;
      const TransferMemory memory = memory_for(schedule);
      const auto execution = device->prepare(schedule, memory.bindings);
      EXPECT_THAT(overdue_message(*tested, *execution, memory, {.hold = hold, .limit = time_limit}),
                  AllOf(HasSubstr("time limit of " + to_string(time_limit)), HasSubstr("GPU")));
    }
}

TEST_P(DeviceEnds, when_the_time_limit_passes_come_at_once_after_an_error_and_after_a_stop) {
  const Schedule schedule = three_streams_inverting();
  for (const bool stops : {false, true}) {
    TransferMemory memory = memory_for(schedule);
    bool launched = false;
    bool throws = !stops;
    memory.before_kernel_of(0, [&](const Launch&) { launched = true; });
    memory.before_kernel_of(1, [&](const Launch&) {
      if (std::exchange(throws, false)) throw std::runtime_error("no such item");
    });
    const auto execution = device->prepare(schedule, memory.bindings);
    EXPECT_THAT(
        overdue_message(*tested, *execution, memory, {.stop = [&] { return stops && launched; }, .limit = time_limit}),
        HasSubstr(stops ? "was stopped before" : "no such item"));
  }
}

// --- The state of the caller ---

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CallersState);

/// Everything that a user can do with a device, by name.
std::vector<std::pair<std::string, std::function<void(TestedDevice&)>>> uses() {
  const auto on_device = [](std::function<void(MeasurableDevice&)> use) {
    return [use = std::move(use)](TestedDevice& tested) { use(*tested.open(1)); };
  };
  const auto run = [](TestedDevice& tested, const Schedule& schedule, const RunOptions& options, bool throws) {
    const auto device = tested.open(1);
    TransferMemory memory(*device, tested.inverting_kernel(), schedule, true);
    memory.before_kernel_of(1, [&](const Launch&) {
      if (throws) throw std::runtime_error("no such item");
    });
    const auto execution = device->prepare(schedule, memory.bindings);
    if (throws)
      EXPECT_THROW(execution->run(options), Error);
    else
      execution->run(options);
  };
  return {
      {"open", [](TestedDevice& tested) { tested.open(2); }},
      {"info", on_device([](MeasurableDevice& device) { device.info(); })},
      {"allocate", on_device([](MeasurableDevice& device) {
         for (const MemoryKind kind : {MemoryKind::pinned, MemoryKind::pageable})
           device.allocate(Place::host(), kind, 4_KiB);
         for (const MemoryKind kind : {MemoryKind::device, MemoryKind::managed})
           device.allocate(Place::gpu(), kind, 4_KiB);
       })},
      {"pin", on_device([](MeasurableDevice& device) {
         std::vector<std::byte> data(4096);
         const Memory pinned = device.pin(data.data(), 4_KiB);
         device.kind_of(data.data(), 4_KiB);
       })},
      {"probe", on_device([](MeasurableDevice& device) { device.probe_kernel(ProbeKind::empty, 1, 0); })},
      {"fill", on_device([](MeasurableDevice& device) {
         const Memory memory = device.allocate(Place::gpu(), MemoryKind::device, 4_KiB);
         device.fill(memory, 1);
         device.mismatches(memory, 0_B, 4_KiB, 1, 0_B);
       })},
      {"gap that is waited for in another thread", on_device([](MeasurableDevice& device) {
         const auto gap = device.open_gap(nullptr);
         std::thread([&] { gap->wait(Seconds{1}, {}); }).join();
       })},
      {"memory that ends in another thread", on_device([](MeasurableDevice& device) {
         std::vector<std::byte> data(4096);
         std::vector<Memory> all;
         all.push_back(device.allocate(Place::host(), MemoryKind::pinned, 4_KiB));
         all.push_back(device.allocate(Place::gpu(), MemoryKind::device, 4_KiB));
         all.push_back(device.pin(data.data(), 4_KiB));
         std::thread([&] { all.clear(); }).join();
       })},
      {"run", [run](TestedDevice& tested) { run(tested, three_streams_inverting(), {}, false); }},
      {"held run", [run](TestedDevice& tested) { run(tested, three_streams_inverting(), {.hold = true}, false); }},
      {"traced run",
       [run](TestedDevice& tested) { run(tested, three_streams_inverting(), {.trace = Trace::events}, false); }},
      {"run of host threads", [run](TestedDevice& tested) { run(tested, host_agents_inverting(), {}, false); }},
      {"failed run", [run](TestedDevice& tested) { run(tested, three_streams_inverting(), {}, true); }},
      {"runs of every other kind of schedule",
       [run](TestedDevice& tested) {
         for (const Schedule& schedule :
              {stream_per_chunk_inverting(), ring_of_one_chunk_inverting(), blocks_inverting(), prefetches_inverting(),
               advised_inverting(), host_copies_inverting(), as_graph(three_streams_inverting())})
           run(tested, schedule, {}, false);
       }},
      {"runs on several GPUs",
       [](TestedDevice& tested) {
         const auto gpus = tested.open(2);
         if (gpus == nullptr) return;
         for (const bool peer_access : {true, false}) {
           Schedule schedule = two_gpus_inverting_twice();
           schedule.peer_access = peer_access;
           TransferMemory memory(*gpus, tested.inverting_kernel(), schedule, false);
           gpus->prepare(schedule, memory.bindings)->run();
         }
       }},
      {"execution with advice that ends in another thread",
       [](TestedDevice& tested) {
         const auto device = tested.open(1);
         const Schedule schedule = advised_inverting();
         TransferMemory memory(*device, tested.inverting_kernel(), schedule, true);
         auto execution = device->prepare(schedule, memory.bindings);
         execution->run();
         std::thread([&] { execution.reset(); }).join();
       }},
  };
}

TEST_P(CallersState, has_the_current_gpu_that_it_had_or_none_whatever_is_done_with_a_device) {
  for (const auto& [name, use] : uses())
    for (const bool has_one : {false, true})
      std::thread([&, &name = name, &use = use] {
        if (has_one) tested->select_last_gpu();
        void* const before = tested->current_context();
        EXPECT_EQ(before != nullptr, has_one);
        use(*tested);
        EXPECT_EQ(tested->current_context(), before) << name;
      }).join();
}

TEST_P(CallersState, stays_that_of_a_capture_in_which_no_gap_opens) {
  void* const stream = tested->begin_capture();
  EXPECT_TRUE(device->is_capturing(stream));
  EXPECT_THAT(message_of<Unsupported>([&] { device->open_gap(stream); }), HasSubstr("is being captured"));
  EXPECT_TRUE(tested->end_capture());
}

}  // namespace
}  // namespace shiplap::testing
