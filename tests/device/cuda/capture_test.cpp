// Runs that the caller captures into a graph. Needs no GPU: every call is faked, and a launch of a graph does its
// copies and host nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/cuda/cuda_device.hpp"
#include "shiplap/device/cuda/handles.hpp"
#include "shiplap/pipeline/prepared.hpp"
#include "shiplap/pipeline/run_async.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "tests/device/cuda/fake_api.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using testing::fake_api;
using testing::fake_cuda;
using ::testing::HasSubstr;

constexpr Bytes part = 1_KiB;

/// Two agents take pieces through pinned rings to the GPU and back: one fills, one empties, the first submits.
Schedule staged() {
  Schedule s;
  s.agents = {{.name = "main"}, {.name = "in"}, {.name = "out"}};
  const BufferId from = s.add_buffer({"from", Place::host(), MemoryKind::pageable, part * 4});
  const BufferId to = s.add_buffer({"to", Place::host(), MemoryKind::pageable, part * 4});
  const BufferId ring_in = s.add_buffer({"ring in", Place::host(), MemoryKind::pinned, part});
  const BufferId ring_out = s.add_buffer({"ring out", Place::host(), MemoryKind::pinned, part});
  const BufferId gpu = s.add_buffer({"gpu", Place::gpu(), MemoryKind::device, part});
  const StreamId in = s.add_stream("in");
  const StreamId out = s.add_stream("out");
  OpId copied_in;
  OpId copied_out;
  OpId emptied;
  const auto after = [](std::initializer_list<OpId> ops) {
    std::vector<OpId> known;
    for (const OpId op : ops)
      if (!op.is_none()) known.push_back(op);
    return known;
  };
  for (std::uint32_t c = 0; c < 4; ++c) {
    const OpId filled = s.add({.what = HostCopy{{from, part * c, part}, {ring_in, 0_B, part}},
                               .stream = {},
                               .agent = AgentId{1},
                               .after = after({copied_in}),
                               .chunk = c});
    copied_in = s.add({.what = Copy{{ring_in, 0_B, part}, {gpu, 0_B, part}},
                       .stream = in,
                       .agent = AgentId{0},
                       .after = after({filled, copied_out}),
                       .chunk = c});
    copied_out = s.add({.what = Copy{{gpu, 0_B, part}, {ring_out, 0_B, part}},
                        .stream = out,
                        .agent = AgentId{0},
                        .after = after({copied_in, emptied}),
                        .chunk = c});
    emptied = s.add({.what = HostCopy{{ring_out, 0_B, part}, {to, part * c, part}},
                     .stream = {},
                     .agent = AgentId{2},
                     .after = after({copied_out}),
                     .chunk = c});
  }
  return s;
}

struct CaptureFixture : ::testing::Test {
  CaptureFixture() { fake_cuda().free_memory = 64u << 20; }

  Api api = fake_api();
  std::unique_ptr<MeasurableDevice> device = open_cuda(0, api);
  StreamHandle stream = make_stream(api, "the caller's");
  std::vector<std::byte> from = std::vector<std::byte>(4096);
  std::vector<std::byte> to = std::vector<std::byte>(4096);
  Prepared prepared{*device, staged(), {from.data(), to.data()}, {}};

  ExecutableGraph captured() {
    EXPECT_EQ(api.stream_begin_capture(stream.get(), cudaStreamCaptureModeGlobal), cudaSuccess);
    run_async(*device, prepared, stream.get()).wait();
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(api.stream_end_capture(stream.get(), &graph), cudaSuccess) << "all of it has joined the stream";
    const Graph owned(graph, Graph::deleter_type(api));
    cudaGraphExec_t made = nullptr;
    EXPECT_EQ(api.graph_instantiate(&made, graph, 0), cudaSuccess);
    return {made, ExecutableGraph::deleter_type(api)};
  }
};
using CapturedRun = CaptureFixture;

TEST_F(CapturedRun, does_its_work_in_every_launch_of_the_graph) {
  const ExecutableGraph graph = captured();
  for (int launch = 1; launch < 4; ++launch) {
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * launch);
    ASSERT_EQ(api.graph_launch(graph.get(), stream.get()), cudaSuccess);
    EXPECT_EQ(to, from) << launch;
  }
}

TEST_F(CapturedRun, still_runs_by_itself) {
  const ExecutableGraph graph = captured();
  from.assign(4096, std::byte{7});
  prepared.run();
  EXPECT_EQ(to, from);
}

TEST_F(CapturedRun, leaves_nothing_behind_when_the_graph_goes) {
  { const Prepared warm{*device, staged(), {from.data(), to.data()}, {}}; }
  const int before = fake_cuda().live();
  { const ExecutableGraph graph = captured(); }
  EXPECT_EQ(fake_cuda().live(), before);
  EXPECT_EQ(fake_cuda().count("keep_with_graph"), 8u) << "each host node's data belong to the graph";
}

TEST_F(CapturedRun, is_refused_for_calls_that_cuda_does_not_capture) {
  Schedule schedule;
  const BufferId host = schedule.add_buffer({"from", Place::host(), MemoryKind::pageable, part * 4});
  const BufferId gpu = schedule.add_buffer({"gpu", Place::gpu(), MemoryKind::device, part});
  const OpId copied = schedule.add({.what = Copy{{host, 0_B, part}, {gpu, 0_B, part}},
                                    .stream = schedule.add_stream("in"),
                                    .agent = AgentId{0},
                                    .after = {}});
  for (const auto& [kind, before] : {std::pair{HostCall::Kind::pin, copied}, {HostCall::Kind::unpin, OpId{1}}})
    schedule.add({.what = HostCall{.kind = kind, .region = {host, 0_B, part * 4}},
                  .stream = {},
                  .agent = AgentId{0},
                  .after = {before}});
  Prepared pinning{*device, schedule, {from.data()}, {}};
  ASSERT_EQ(api.stream_begin_capture(stream.get(), cudaStreamCaptureModeGlobal), cudaSuccess);
  const std::size_t before = fake_cuda().count("event_record");
  EXPECT_THAT(message_of<Unsupported>([&] { run_async(*device, pinning, stream.get()); }), HasSubstr("op 1)"));
  EXPECT_EQ(fake_cuda().count("event_record"), before) << "streams that were forked and not joined end the capture";
}

TEST_F(CapturedRun, of_a_job_without_ops_captures_nothing) {
  Prepared nothing{*device, Schedule{}, {}, {}};
  ASSERT_EQ(api.stream_begin_capture(stream.get(), cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_NO_THROW(run_async(*device, nothing, stream.get()));
}

}  // namespace
}  // namespace shiplap
