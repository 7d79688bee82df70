// Faults put into the table of CUDA functions. Needs no GPU: every call is faked.
#include "shiplap/device/cuda/api.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/cuda_device.hpp"
#include "shiplap/device/cuda/gpu_set.hpp"
#include "tests/device/cuda/fake_api.hpp"
#include "tests/device/cuda/pieces.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using testing::copy_op;
using testing::fake_api;
using testing::fake_cuda;
using testing::FakeCuda;
using ::testing::HasSubstr;
using testing::piece;

constexpr std::uint32_t chunks = 3;

/// Copy in, kernel in place, copy out; a stream for each, three chunks. Op 3c + k is step k of chunk c.
Schedule pipeline(MemoryKind host_memory = MemoryKind::pinned) {
  Schedule s;
  const BufferId host = s.add_buffer({"data", Place::host(), host_memory, piece * chunks});
  const BufferId gpu = s.add_buffer({"data on the GPU", Place::gpu(), MemoryKind::device, piece * chunks});
  const KernelId kernel = s.add_kernel("invert");
  const StreamId in = s.add_stream("in");
  const StreamId compute = s.add_stream("compute");
  const StreamId out = s.add_stream("out");
  for (std::uint32_t c = 0; c < chunks; ++c) {
    const OpId copied = s.add(copy_op(host, gpu, c, in, {}));
    const OpId computed = s.add({.what = Kernel{.kernel = kernel,
                                                .first_item = c,
                                                .items = 1,
                                                .operands = {{{gpu, piece * c, piece}, AccessMode::read},
                                                             {{gpu, piece * c, piece}, AccessMode::write}},
                                                .flows = {}},
                                 .stream = compute,
                                 .agent = AgentId{0},
                                 .after = {copied},
                                 .chunk = c});
    s.add(copy_op(gpu, host, c, out, {computed}));
  }
  return s;
}

struct Fixture : ::testing::Test {
  Fixture() : device(open_cuda(0, api)), host(device->allocate(Place::host(), MemoryKind::pinned, piece * chunks)) {
    gpu = device->allocate(Place::gpu(), MemoryKind::device, piece * chunks);
    before = fake_cuda().live();
  }

  Bindings bindings() {
    Bindings b;
    b.buffers = {host.data(), gpu.data()};
    b.kernels.resize(1);
    b.kernels[0].cuda = [this](const Launch& launch) { kernel(launch); };
    return b;
  }

  Api api = fake_api();
  std::unique_ptr<Device> device;
  Memory host;
  Memory gpu;
  int before = 0;
  std::function<void(const Launch&)> kernel = [](const Launch& launch) {
    for (std::uint64_t i = 0; i < launch.lengths[0].count; ++i) launch.operands[1][i] = ~launch.operands[0][i];
  };
};
using CudaExecutionFake = Fixture;

TEST_F(CudaExecutionFake, moves_every_chunk_through_the_kernel) {
  std::memset(host.data(), 0x5a, host.size().count);
  device->prepare(pipeline(), bindings())->run();
  for (const std::byte b : host.bytes()) ASSERT_EQ(b, std::byte{0xa5});
}

TEST_F(CudaExecutionFake, makes_the_calls_of_the_submission_and_no_others) {
  const auto execution = device->prepare(pipeline(), bindings());
  fake_cuda().calls.clear();
  execution->run();
  // Chunk by chunk: copy, record, wait, kernel, record, wait, copy. One start mark and one end mark more: the other two
  // streams' last ops are waited for.
  EXPECT_EQ(fake_cuda().count("memcpy_async"), 6u);
  EXPECT_EQ(fake_cuda().count("stream_wait_event"), 6u);
  EXPECT_EQ(fake_cuda().count("event_record"), 8u);
  EXPECT_EQ(fake_cuda().count("event_synchronize"), 1u);
}

TEST_F(CudaExecutionFake, takes_the_makespan_from_the_start_mark_to_the_end_mark) {
  // The fake's clock advances by 1 ms with every record: 8 of them, the first is the start and the last the end.
  EXPECT_NEAR(in_milliseconds(device->prepare(pipeline(), bindings())->run().timeline.makespan), 7.0, 1e-9);
}

TEST_F(CudaExecutionFake, starts_the_clock_of_held_streams_at_the_gate) {
  // Records: start mark behind the gate, the gate's event, 3 × (event, event), stop mark.
  EXPECT_NEAR(in_milliseconds(device->prepare(pipeline(), bindings())->run({.hold = true}).timeline.makespan), 8.0,
              1e-9);
}

TEST_F(CudaExecutionFake, times_one_stream_from_its_start_to_its_last_op_and_waits_for_all) {
  const auto execution = device->prepare(pipeline(), bindings());
  fake_cuda().calls.clear();
  // Stream "compute": start mark, then in, compute, in, compute, in, and the stop mark behind its last kernel.
  const RunResult result = execution->run({.hold = true, .timed = StreamId{1}});
  EXPECT_NEAR(in_milliseconds(result.timeline.makespan), 6.0, 1e-9);
  EXPECT_EQ(fake_cuda().count("event_synchronize"), 2u) << "the stop mark and the end of stream \"out\"";
  EXPECT_THAT(message_of([&] { execution->run({.timed = StreamId{7}}); }), HasSubstr("stream 7"));
}

TEST_F(CudaExecutionFake, takes_the_time_with_two_events_however_many_streams_end) {
  Schedule s;
  const BufferId from = s.add_buffer({"host", Place::host(), MemoryKind::pinned, piece * chunks});
  const BufferId to = s.add_buffer({"GPU", Place::gpu(), MemoryKind::device, piece * chunks});
  s.add_kernel("unused");
  for (std::uint32_t i = 0; i < chunks; ++i)
    s.add({.what = Copy{{from, piece * i, piece}, {to, piece * i, piece}},
           .stream = s.add_stream("q"),
           .agent = AgentId{0},
           .after = {},
           .chunk = i});
  const auto execution = device->prepare(s, bindings());
  fake_cuda().calls.clear();
  execution->run();
  // Start, an end mark for each stream, stop; a further stream waits for all of them and the host for that one.
  EXPECT_EQ(fake_cuda().count("event_record"), chunks + 2u);
  EXPECT_EQ(fake_cuda().count("stream_wait_event"), std::size_t{chunks});
  EXPECT_EQ(fake_cuda().count("event_synchronize"), 1u);
}

TEST_F(CudaExecutionFake, holds_every_stream_behind_the_gate_before_its_first_op) {
  const auto execution = device->prepare(pipeline(), bindings());
  fake_cuda().calls.clear();
  execution->run({.hold = true});
  const void* gate_stream = nullptr;
  const void* gate_event = nullptr;
  std::set<const void*> held;
  for (const FakeCuda::Call& c : fake_cuda().calls) {
    if (c.name == "launch_kernel") gate_stream = c.stream;
    if (c.name == "event_record" && c.stream == gate_stream) gate_event = c.event;
    if (c.name == "stream_wait_event" && c.event == gate_event) held.insert(c.stream);
    const bool is_work = c.name == "memcpy_async" || (c.name == "event_record" && c.stream != gate_stream);
    EXPECT_TRUE(!is_work || held.contains(c.stream)) << c.name;
  }
  EXPECT_EQ(held.size(), 3u);
  EXPECT_FALSE(held.contains(gate_stream));
}

TEST_F(CudaExecutionFake, traces_every_op_on_its_engine_inside_the_makespan) {
  const Timeline t = device->prepare(pipeline(), bindings())->run({.trace = Trace::events}).timeline;
  ASSERT_EQ(t.spans.size(), 3 * chunks);
  const Engine engines[] = {Engine::copy_h2d, Engine::compute, Engine::copy_d2h};
  for (std::size_t i = 0; i < t.spans.size(); ++i) {
    EXPECT_EQ(t.spans[i].engine, engines[i % 3]);
    EXPECT_GE(t.spans[i].start.count(), 0);
    EXPECT_NEAR((t.spans[i].end - t.spans[i].start).count(), 1e-3, 1e-9);
    EXPECT_LE(t.spans[i].end, t.makespan);
  }
}

TEST_F(CudaExecutionFake, names_call_op_chunk_and_error_when_a_copy_fails) {
  const auto execution = device->prepare(pipeline(), bindings());
  fake_cuda().fail(3, cudaErrorInvalidValue, "memcpy_async");
  // Copies alternate in, out: the fourth is the copy out of chunk 1, op 5.
  EXPECT_THAT(message_of([&] { execution->run(); }),
              AllOf(HasSubstr("cudaMemcpyAsync"), HasSubstr("D2H of chunk 1 (op 5)"),
                    HasSubstr("cudaErrorInvalidValue (invalid argument)")));
  EXPECT_EQ(fake_cuda().last_error, cudaSuccess);
}

TEST_F(CudaExecutionFake, names_the_op_when_a_launch_is_refused_or_its_function_throws) {
  const auto execution = device->prepare(pipeline(), bindings());
  kernel = [](const Launch& launch) {
    if (launch.first_item == 2) fake_cuda().last_error = cudaErrorInvalidConfiguration;
  };
  EXPECT_THAT(message_of([&] { execution->run(); }),
              AllOf(HasSubstr("kernel invert of chunk 2 (op 7)"), HasSubstr("cudaErrorInvalidConfiguration")));
  EXPECT_EQ(fake_cuda().last_error, cudaSuccess);
  kernel = [](const Launch& launch) {
    if (launch.first_item == 1) throw std::runtime_error("operand too short");
  };
  EXPECT_THAT(message_of([&] { execution->run(); }),
              AllOf(HasSubstr("kernel invert of chunk 1 (op 4)"), HasSubstr("operand too short")));
}

TEST_F(CudaExecutionFake, does_not_blame_its_ops_for_an_error_that_was_pending) {
  const auto execution = device->prepare(pipeline(), bindings());
  fake_cuda().last_error = cudaErrorInvalidValue;
  EXPECT_THAT(message_of([&] { execution->run(); }), HasSubstr("before this run"));
}

struct RunMode : Fixture, ::testing::WithParamInterface<RunOptions> {};

// Every call of a run, and of what the first held or traced run makes, fails once.
TEST_P(RunMode, leaks_nothing_and_leaves_nothing_in_flight_whichever_call_fails) {
  constexpr int memory_of_the_fixture = 2;  // on the host and on the GPU
  int at = 0;
  for (;; ++at) {
    device.reset();
    device = open_cuda(0, api);  // whose gate is not made yet
    auto execution = device->prepare(pipeline(), bindings());
    fake_cuda().calls.clear();
    fake_cuda().gate_open_at_wait.clear();
    fake_cuda().fail(at, cudaErrorUnknown);
    bool failed = false;
    try {
      execution->run(GetParam());
    } catch (const Error& error) {
      failed = true;
      EXPECT_THAT(error.what(), HasSubstr("cudaErrorUnknown")) << fake_cuda().failed_call;
    }
    ASSERT_EQ(failed, !fake_cuda().failed_call.empty()) << "call " << at << " " << fake_cuda().failed_call;
    fake_cuda().fail(-1, cudaSuccess);
    for (const bool open : fake_cuda().gate_open_at_wait) EXPECT_TRUE(open) << "the host waits behind a closed gate";
    if (failed && fake_cuda().count("memcpy_async") > 0) {
      // Whatever was submitted is waited for after the failure.
      std::map<const void*, std::size_t> last_work;
      std::map<const void*, std::size_t> last_wait;
      const auto& calls = fake_cuda().calls;
      for (std::size_t i = 0; i < calls.size(); ++i)
        (calls[i].name == "stream_synchronize" ? last_wait : last_work)[calls[i].stream] = i;
      last_work.erase(nullptr);  // calls without a stream
      for (const auto& [stream, i] : last_work) EXPECT_GT(last_wait[stream], i) << fake_cuda().failed_call;
    }
    EXPECT_EQ(fake_cuda().last_error, cudaSuccess);

    std::memset(host.data(), 0x5a, host.size().count);
    EXPECT_NO_THROW(execution->run(GetParam()));  // the device and the execution can still be used
    EXPECT_EQ(host.data()[0], std::byte{0xa5});
    execution.reset();
    const int gate = GetParam().hold ? 3 : 0;  // flags, stream and event, kept by the device for its next held run
    EXPECT_EQ(fake_cuda().live(), before + gate) << fake_cuda().failed_call;
    device.reset();
    EXPECT_EQ(fake_cuda().live(), memory_of_the_fixture) << fake_cuda().failed_call;
    if (!failed) break;
  }
  EXPECT_GT(at, 20);
}
INSTANTIATE_TEST_SUITE_P(CudaExecutionFake, RunMode,
                         ::testing::Values(RunOptions{}, RunOptions{.hold = true},
                                           RunOptions{.hold = true, .trace = Trace::events}));

TEST_F(CudaExecutionFake, leaks_nothing_whichever_call_fails_while_it_is_made) {
  int at = 0;
  for (;; ++at) {
    fake_cuda().fail(at, cudaErrorUnknown);
    bool failed = false;
    try {
      device->prepare(pipeline(), bindings());
    } catch (const Error&) {
      failed = true;
    }
    EXPECT_EQ(fake_cuda().live(), before) << fake_cuda().failed_call;
    if (!failed) break;
  }
  EXPECT_GT(at, 10);  // three streams, six order events, marks
}

TEST_F(CudaExecutionFake, refuses_to_hold_copies_of_pageable_memory) {
  const Memory pageable = device->allocate(Place::host(), MemoryKind::pageable, piece * chunks);
  Bindings b = bindings();
  b.buffers[0] = pageable.data();
  const auto execution = device->prepare(pipeline(MemoryKind::pageable), b);
  EXPECT_NO_THROW(execution->run());
  EXPECT_THAT(message_of<Unsupported>([&] { execution->run({.hold = true}); }),
              AllOf(HasSubstr("op 0"), HasSubstr("pageable"), HasSubstr("pin the memory")));
}

TEST_F(CudaExecutionFake, refuses_memory_that_is_not_what_the_schedule_says) {
  const Memory pageable = device->allocate(Place::host(), MemoryKind::pageable, piece * chunks);
  Bindings b = bindings();
  b.buffers[0] = pageable.data();
  EXPECT_THAT(message_of([&] { device->prepare(pipeline(), b); }), HasSubstr("not pinned"));
  b = bindings();
  b.buffers[1] = host.data();
  EXPECT_THAT(message_of([&] { device->prepare(pipeline(), b); }), HasSubstr("not memory of cuda:0"));
  b.buffers.pop_back();
  EXPECT_THAT(message_of([&] { device->prepare(pipeline(), b); }), HasSubstr("2 buffers"));
  b = bindings();
  b.kernels[0].cuda = nullptr;
  EXPECT_THAT(message_of<Unsupported>([&] { device->prepare(pipeline(), b); }), HasSubstr("invert"));
}

TEST_F(CudaExecutionFake, refuses_what_it_does_not_run_naming_the_op) {
  Schedule elsewhere = pipeline();
  elsewhere.streams[0].place = Place::gpu(3);
  EXPECT_THAT(message_of<Unsupported>([&] { device->prepare(elsewhere, bindings()); }),
              AllOf(HasSubstr("op 0"), HasSubstr("gpu 3")));
}

/// Pageable memory through a pinned ring of two places: copies by a host thread, and by the device from two agents.
Schedule ring_pipeline(std::uint32_t agents) {
  Schedule s;
  s.agents.clear();
  for (std::uint32_t a = 0; a < agents; ++a) s.agents.push_back({std::to_string(a)});
  const BufferId far = s.add_buffer({"pageable", Place::host(), MemoryKind::pageable, piece * chunks});
  const BufferId ring = s.add_buffer({"ring", Place::host(), MemoryKind::pinned, piece * chunks});
  const BufferId gpu = s.add_buffer({"data on the GPU", Place::gpu(), MemoryKind::device, piece * chunks});
  const StreamId in = s.add_stream("in");
  for (std::uint32_t c = 0; c < chunks; ++c) {
    const Bytes offset = piece * c;
    const OpId filled = s.add({.what = HostCopy{{far, offset, piece}, {ring, offset, piece}},
                               .stream = {},
                               .agent = AgentId{c % agents},
                               .after = {},
                               .chunk = c});
    s.add({.what = Copy{{ring, offset, piece}, {gpu, offset, piece}},
           .stream = in,
           .agent = AgentId{0},
           .after = {filled},
           .chunk = c});
  }
  return s;
}

TEST_F(CudaExecutionFake, copies_by_several_host_threads_in_the_order_of_the_dependencies) {
  const Memory far = device->allocate(Place::host(), MemoryKind::pageable, piece * chunks);
  for (std::size_t i = 0; i < far.bytes().size(); ++i) far.bytes()[i] = static_cast<std::byte>(i * 7 + 1);
  for (const std::uint32_t agents : {1u, 2u, 3u}) {
    std::memset(gpu.data(), 0, gpu.size().count);
    const auto execution =
        device->prepare(ring_pipeline(agents), {.buffers = {far.data(), host.data(), gpu.data()}, .kernels = {}});
    for (int run = 0; run < 50; ++run) {
      const RunResult result = execution->run();
      ASSERT_EQ(std::memcmp(gpu.data(), far.data(), far.size().count), 0) << agents << " agents, run " << run;
      ASSERT_EQ(result.host_spans.size(), 2 * chunks);
      EXPECT_EQ(result.timeline.makespan, result.host_total);
    }
  }
}

TEST_F(CudaExecutionFake, stops_all_agents_when_a_call_of_one_fails) {
  const Memory far = device->allocate(Place::host(), MemoryKind::pageable, piece * chunks);
  const auto execution =
      device->prepare(ring_pipeline(3), {.buffers = {far.data(), host.data(), gpu.data()}, .kernels = {}});
  fake_cuda().fail(1, cudaErrorUnknown, "memcpy_async");
  EXPECT_THAT(message_of([&] { execution->run(); }), AllOf(HasSubstr("cudaMemcpyAsync"), HasSubstr("chunk 1")));
  EXPECT_NO_THROW(execution->run());
}

TEST_F(CudaExecutionFake, lets_go_of_what_a_run_has_pinned_and_allocated_even_when_it_fails) {
  using Kind = HostCall::Kind;
  const Memory far = device->allocate(Place::host(), MemoryKind::pageable, piece);
  Schedule s;
  const BufferId pageable = s.add_buffer({"pageable", Place::host(), MemoryKind::pageable, piece});
  const BufferId made = s.add_buffer({"made", Place::gpu(), MemoryKind::device, piece});
  for (const auto& [kind, buffer] : {std::pair{Kind::pin, pageable}, {Kind::allocate, made}, {Kind::unpin, pageable}})
    s.add({.what = HostCall{kind, {buffer, Bytes{0}, piece}}, .stream = {}, .agent = AgentId{0}, .after = {}});
  const auto execution = device->prepare(s, {.buffers = {far.data(), nullptr}, .kernels = {}});
  const int idle = fake_cuda().live();
  execution->run();
  EXPECT_EQ(fake_cuda().live(), idle);
  fake_cuda().fail(0, cudaErrorMemoryAllocation, "malloc_device");
  EXPECT_THAT(message_of([&] { execution->run(); }), HasSubstr("cudaMalloc"));
  EXPECT_EQ(fake_cuda().live(), idle);
}

TEST_F(CudaExecutionFake, switches_peer_access_pair_by_pair_and_leaves_it_as_it_was) {
  fake_cuda().devices = 2;
  // Somebody else has switched it on from cuda:0 to cuda:1.
  static std::set<std::pair<int, int>> on;
  static int selected = 0;
  on = {{0, 1}};
  api.set_device = [](int number) { return selected = number, cudaSuccess; };
  api.device_enable_peer_access = [](int to, unsigned) {
    if (fake_cuda().failure == cudaErrorMemoryAllocation && selected == 1) return cudaErrorMemoryAllocation;
    return on.insert({selected, to}).second ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled;
  };
  api.device_disable_peer_access = [](int to) {
    return on.erase({selected, to}) > 0 ? cudaSuccess : cudaErrorPeerAccessNotEnabled;
  };
  {
    const auto peers = std::make_shared<PeerAccess>(api, std::vector{0, 1});
    ASSERT_TRUE(peers->possible());
    fake_cuda().failure = cudaErrorMemoryAllocation;
    EXPECT_THAT(message_of([&] { PeerAccess::set(peers, true); }), HasSubstr("cuda:1 to the memory of cuda:0"));
    fake_cuda().failure = cudaErrorUnknown;
    PeerAccess::set(peers, true);
    EXPECT_EQ(on.size(), 2u);
    PeerAccess::set(peers, false);
    EXPECT_TRUE(on.empty());
  }
  EXPECT_EQ(on, (std::set<std::pair<int, int>>{{0, 1}}));
}

TEST_F(CudaExecutionFake, does_not_hold_what_the_host_waits_for) {
  const Memory far = device->allocate(Place::host(), MemoryKind::pageable, piece * chunks);
  const auto execution =
      device->prepare(ring_pipeline(1), {.buffers = {far.data(), host.data(), gpu.data()}, .kernels = {}});
  EXPECT_THAT(message_of<Unsupported>([&] { execution->run({.hold = true}); }), HasSubstr("op 0"));
}

}  // namespace
}  // namespace shiplap
