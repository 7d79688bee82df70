#include "tests/device/cuda/fault_scenarios.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/cuda/handles.hpp"
#include "shiplap/device/move_blocks.hpp"
#include "shiplap/device/probe_kernel.hpp"
#include "shiplap/device/stream_gap.hpp"
#include "shiplap/plan/relays.hpp"
#include "shiplap/profile/profile.hpp"
#include "tests/device/cuda/fake_api.hpp"
#include "tests/device/cuda/fault_memory.hpp"
#include "tests/device/cuda/faults.hpp"
#include "tests/device/suite/transfers.hpp"

namespace shiplap::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

/// Of the calls since they were cleared: behind the work in a stream the host has waited for it.
void expect_nothing_in_flight() {
  std::map<const void*, bool> in_flight;
  for (const FakeCuda::Call& call : fake_cuda().calls)
    in_flight[call.stream] = call.name != "stream_synchronize" && call.name != "stream_query";
  in_flight.erase(nullptr);  // calls without a stream
  for (const auto& [stream, is] : in_flight) EXPECT_FALSE(is) << "work is in flight behind a call that failed";
}

/// What fails during a run is named by its op and chunk, or by what of the run it is for.
void expect_purpose(const std::string& message) {
  EXPECT_THAT(message, AnyOf(HasSubstr("(op "), HasSubstr("the start mark"), HasSubstr("the stop mark"),
                             HasSubstr("the gate"), HasSubstr("holding a stream"), HasSubstr("joining the streams"),
                             HasSubstr("the end of stream"), HasSubstr("the makespan"), HasSubstr("the trace of ops"),
                             HasSubstr("a graph of 9 ops"), HasSubstr("before this run"), HasSubstr("(cuda:")));
  for (const char* of_ops : {"cudaMemcpyAsync", "cudaMemcpyBatchAsync", "cudaMemcpy2DAsync", "cudaMemPrefetchAsync",
                             "cudaHostRegister", "cudaHostUnregister", "cudaMalloc", "the kernel launch"})
    if (message.find(of_ops) != std::string::npos) {
      EXPECT_THAT(message, HasSubstr("(op "));
    }
}

struct Transfer {
  Schedule schedule;
  RunOptions options{};
  bool inverted = true;
};

void run(Execution& execution, const Transfer& transfer, FaultMemory& memory) {
  // What the fake does of a graph it does when the graph is made.
  if (!transfer.schedule.as_graph) memory.reset();
  fake_cuda().calls.clear();
  execution.run(transfer.options);
  memory.expect_output();
}

void prepare_and_run(MeasurableDevice& device, const Api& api, const Transfer& transfer) {
  FaultMemory memory(device, api, transfer.schedule, transfer.inverted);
  const auto execution = device.prepare(transfer.schedule, memory.bindings);
  try {
    run(*execution, transfer, memory);
  } catch (const Error& error) {
    expect_purpose(error.what());
    memory.expect_whole_chunks();
    if (faults().is_lost()) {
      EXPECT_THROW(execution->run(transfer.options), Error);
    } else {
      expect_nothing_in_flight();
      EXPECT_NO_THROW(run(*execution, transfer, memory)) << "again";
    }
    throw;
  }
}

Scenario transfers(std::string name, std::vector<int> gpus, Transfer transfer) {
  const std::size_t threads = transfer.schedule.agents.size();
  return {.name = std::move(name),
          .gpus = std::move(gpus),
          .work = [transfer](MeasurableDevice& device, const Api& api) { prepare_and_run(device, api, transfer); },
          .threads = threads};
}

/// What any kind of memory is for: it is filled, and holds what it was filled with.
void allocate_every_kind(MeasurableDevice& device, const Api&) {
  constexpr std::uint64_t seed = 5;
  using Kind = MemoryKind;
  std::vector<Memory> all;  // until the end: no address comes twice
  for (const auto& [place, kind] : {std::pair{Place::host(), Kind::pageable},
                                    {Place::host(), Kind::pinned},
                                    {Place::host(), Kind::mapped},
                                    {Place::host(), Kind::driver_pinned},
                                    {Place::host(), Kind::write_combined},
                                    {Place::host(), Kind::managed},
                                    {Place::gpu(), Kind::managed},
                                    {Place::gpu(), Kind::device}}) {
    const Memory& memory = all.emplace_back(device.allocate(place, kind, 1000_B));
    device.fill(memory, seed);
    EXPECT_EQ(device.mismatches(memory, 0_B, memory.size(), seed, 0_B), 0u) << to_string(kind);
    memory.data()[8] ^= std::byte{1};  // the fake's memory is the host's
    EXPECT_EQ(device.mismatches(memory, 8_B, 16_B, seed, 8_B), 1u) << to_string(kind);
  }
}

/// A run passes its time limit, and once it has ended the execution runs again.
void run_overdue(MeasurableDevice& device, const Api& api) {
  const Schedule schedule = three_streams_inverting();
  FaultMemory memory(device, api, schedule, true);
  const auto execution = device.prepare(schedule, memory.bindings);
  const struct Busy {
    Busy() { FakeCuda::busy = true; }
    ~Busy() { FakeCuda::busy = false; }
  } busy;
  try {
    execution->run({.limit = microseconds(1)});
  } catch (const TimedOut& error) {
    if (std::string_view(error.what()).find(" failed (") != std::string_view::npos) throw;
    EXPECT_TRUE(execution->overdue() || faults().struck());
  }
  FakeCuda::busy = false;
  execution->run();
  memory.expect_output();
}

/// Two runs in the same streams. What is in flight still ends, and both run again.
void run_in_shared_streams(MeasurableDevice& device, const Api& api) {
  const Schedule schedule = three_streams_inverting();
  FaultMemory a(device, api, schedule, true);
  FaultMemory b(device, api, schedule, true);
  const auto first = device.prepare(schedule, a.bindings);
  const auto second = device.prepare_behind(*first, schedule, b.bindings);
  bool in_flight = false;
  try {
    first->submit();
    in_flight = true;
    second->submit();
    in_flight = false;
    first->wait();
    second->wait();
  } catch (const Error&) {
    if (faults().is_lost()) throw;
    if (in_flight) first->wait();
    for (Execution* execution : {first.get(), second.get()}) {
      try {
        execution->wait();
      } catch (const Error&) {
      }
      EXPECT_NO_THROW(execution->run());
    }
    a.expect_output();
    b.expect_output();
    throw;
  }
}

void run_every_probe(MeasurableDevice& device, const Api&) {
  using Kind = ProbeKind;
  const Memory from = device.allocate(Place::gpu(), MemoryKind::device, 256_B);
  const Memory to = device.allocate(Place::gpu(), MemoryKind::device, 256_B);
  device.fill(from, 1);
  device.fill(to, 2);
  for (const Kind kind :
       {Kind::empty, Kind::spin, Kind::stream, Kind::multiply_add, Kind::map, Kind::touch, Kind::chase}) {
    const ProbeKernel probe = device.probe_kernel(kind, 2, kind == Kind::map ? 16 : 256);
    Schedule s;
    std::vector<Access> operands{{{s.add_buffer({"from", Place::gpu(), MemoryKind::device, 256_B}), 0_B, 256_B}}};
    const BufferId second = s.add_buffer({"to", Place::gpu(), MemoryKind::device, 256_B});
    if (kind == Kind::map) operands.push_back({{second, 0_B, 256_B}, AccessMode::write});
    s.add({.what = Kernel{.kernel = s.add_kernel("probe"), .items = 1, .operands = operands, .flows = {}},
           .stream = s.add_stream("compute"),
           .agent = AgentId{0},
           .after = {}});
    device.prepare(s, {.buffers = {from.data(), to.data()}, .kernels = {probe.binding}})->run();
  }
  EXPECT_EQ(device.mismatches(to, 0_B, 256_B, 1, 0_B), 0u);
}

/// Moves two blocks by a batch in a stream of the caller.
void move_directly(MeasurableDevice& device, const Api& api) {
  const Memory pool = device.allocate(Place::host(), MemoryKind::pinned, 256_B);
  const Memory packed = device.allocate(Place::gpu(), MemoryKind::device, 256_B);
  const StreamHandle stream = make_stream(api, "a direct move");
  const std::array<std::uint32_t, 2> indices{1, 0};
  const Mover batch{.kind = Mover::Kind::batch};
  const BlockMove move{.pool = pool.data(),
                       .packed = packed.data(),
                       .indices = indices.data(),
                       .count = indices.size(),
                       .block = 128_B,
                       .pitch = 128_B};
  device.move_blocks(move, std::span(&batch, 1), stream.get());
  check(api, api.stream_synchronize(stream.get()), "cudaStreamSynchronize", "a direct move");
}

void pin_twice(MeasurableDevice& device, const Api&) {
  std::vector<std::byte> data(8192);
  const Memory whole = device.pin(data.data(), 8_KiB);
  const Memory part = device.pin(data.data() + 4096, 4_KiB);
  EXPECT_EQ(device.kind_of(data.data(), 8_KiB), MemoryKind::pinned);
}

/// A run with a copy of the host becomes a part of a graph of the caller.
void capture_a_run(MeasurableDevice& device, const Api& api) {
  Schedule schedule;
  const BufferId from = schedule.add_buffer({"from", Place::host(), MemoryKind::pageable, 256_B});
  const BufferId ring = schedule.add_buffer({"ring", Place::host(), MemoryKind::pinned, 256_B});
  const BufferId gpu = schedule.add_buffer({"gpu", Place::gpu(), MemoryKind::device, 256_B});
  const OpId filled = schedule.add(
      {.what = HostCopy{{from, 0_B, 256_B}, {ring, 0_B, 256_B}}, .stream = {}, .agent = AgentId{0}, .after = {}});
  schedule.add({.what = Copy{{ring, 0_B, 256_B}, {gpu, 0_B, 256_B}},
                .stream = schedule.add_stream("in"),
                .agent = AgentId{0},
                .after = {filled}});
  std::vector<Memory> memory;
  Bindings bindings;
  for (const Buffer& buffer : schedule.buffers) {
    memory.push_back(device.allocate(buffer.place, buffer.memory, buffer.size));
    bindings.buffers.push_back(memory.back().data());
  }
  const auto execution = device.prepare(schedule, bindings);
  const StreamHandle stream = make_stream(api, "a captured run");
  check(api, api.stream_begin_capture(stream.get(), cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture",
        "a captured run");
  EXPECT_TRUE(device.is_capturing(stream.get()));
  execution->capture(stream.get());
  cudaGraph_t graph = nullptr;
  check(api, api.stream_end_capture(stream.get(), &graph), "cudaStreamEndCapture", "a captured run");
  const Graph owned(graph, Graph::deleter_type(api));
}

/// A copy over the links of two GPUs is enqueued in a stream of the caller.
void enqueue_a_run(MeasurableDevice& device, const Api& api) {
  const Schedule schedule = schedule_of_copy(64_KiB, {.in = true}, {.through = {{1, 0.5}}, .piece = 8_KiB});
  std::vector<Memory> memory;
  Bindings bindings;
  for (const Buffer& buffer : schedule.buffers) {
    memory.push_back(device.allocate(buffer.place, buffer.memory, buffer.size));
    bindings.buffers.push_back(memory.back().data());
  }
  const auto execution = device.prepare(schedule, bindings);
  const StreamHandle stream = make_stream(api, "an enqueued run");
  execution->enqueue(stream.get());
  check(api, api.stream_synchronize(stream.get()), "cudaStreamSynchronize", "an enqueued run");
}

}  // namespace

std::vector<Scenario> fault_scenarios() {
  Schedule graph = three_streams_inverting();
  graph.as_graph = true;
  Schedule through_the_host = two_gpus_inverting_twice();
  through_the_host.peer_access = false;
  Schedule advised = prefetches_inverting();
  advised.buffers.front().advice = MemoryAdvice::read_mostly;
  advised.buffers.back().advice = MemoryAdvice::prefer_host;
  constexpr StreamId compute{1};
  return {
      {.name = "facts", .gpus = {0}, .work = [](MeasurableDevice& device, const Api&) { device.info(); }},
      {.name = "every_kind_of_memory", .gpus = {0}, .work = allocate_every_kind},
      {.name = "every_probe", .gpus = {0}, .work = run_every_probe},
      {.name = "gap_in_a_stream",
       .gpus = {0},
       .work =
           [](MeasurableDevice& device, const Api&) {
             const auto gap = device.open_gap(nullptr);
             gap->wait(Seconds{10}, {});
             gap->release();
           }},
      {.name = "pins_of_the_caller", .gpus = {0}, .work = pin_twice},
      {.name = "captured_run", .gpus = {0}, .work = capture_a_run},
      {.name = "enqueued_run", .gpus = {0, 1}, .work = enqueue_a_run},
      {.name = "shared_streams", .gpus = {0}, .work = run_in_shared_streams},
      transfers("plain", {0}, {three_streams_inverting()}),
      {.name = "overdue", .gpus = {0}, .work = run_overdue},
      transfers("with_a_time_limit", {0}, {three_streams_inverting(), {.limit = Seconds{10}}}),
      transfers("held", {0}, {three_streams_inverting(), {.hold = true}}),
      transfers("one_stream_timed", {0}, {three_streams_inverting(), {.hold = true, .timed = compute}}),
      transfers("traced_by_events", {0}, {three_streams_inverting(), {.trace = Trace::events}}),
      transfers("several_streams_that_end", {0},
                {stream_per_chunk_inverting(), {.hold = true, .trace = Trace::events}}),
      transfers("graph", {0}, {graph, {.hold = true}}),
      transfers("batches", {0}, {batches_inverting_nothing(), {}, false}),
      transfers("blocks", {0}, {blocks_inverting()}),
      {.name = "direct_move", .gpus = {0}, .work = move_directly},
      transfers("prefetches", {0}, {prefetches_inverting()}),
      transfers("advice", {0}, {advised}),
      transfers("host_agents", {0}, {host_agents_inverting()}),
      transfers("two_gpus", {0, 1}, {two_gpus_inverting_twice(), {.hold = true}, false}),
      transfers("two_gpus_through_the_host", {1, 0}, {through_the_host, {}, false}),
  };
}

}  // namespace shiplap::testing
