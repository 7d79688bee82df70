// Copies inside the memory of a GPU and between GPUs, which have an engine of their own.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/sim/simulate.hpp"
#include "tests/sim/expect_span.hpp"
#include "tests/sim/three_agents.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using namespace testing_sim;

struct DeviceCopy : ThreeAgents {
  OpId between(Place from, Place to, StreamId stream, std::vector<OpId> after = {}) {
    const BufferId a = schedule.add_buffer(buffer("a", from, MemoryKind::device, mb));
    const BufferId b = schedule.add_buffer(buffer("b", to, MemoryKind::device, mb));
    return copy(stream, {a, 0_B, mb}, {b, 0_B, mb}, std::move(after));
  }
};

Profile two_gpus() {
  Profile p = simple_node();
  p.gpus[0].copy_bandwidth = Interval<Bandwidth>::exact(gigabytes_per_second(100));
  p.gpus[0].launch_latency = us(2);
  p.gpus.push_back(p.gpus[0]);
  p.peers = {{.from = 0, .to = 1, .direct = {row(mb, 25)}, .staged = {row(mb, 95)}},
             {.from = 1, .to = 0, .direct = {}, .staged = {row(mb, 105)}}};
  return p;
}

TEST(DeviceCopies, inside_a_gpu_take_its_copy_bandwidth_beside_copies_over_the_link) {
  DeviceCopy s;
  const OpId inside = s.between(Place::gpu(), Place::gpu(), s.compute);
  const OpId in = s.to_device(first_agent, MemoryKind::pinned, mb);
  const Prediction t = s.predict(two_gpus());
  EXPECT_SPAN(t, inside, 2, 12);
  EXPECT_EQ(t.timeline.spans[inside.index()].engine, Engine::copy_d2d);
  EXPECT_SPAN(t, in, 0, 1000);
}

TEST(DeviceCopies, between_gpus_are_direct_only_with_peer_access_and_where_they_can) {
  for (const bool peer_access : {true, false}) {
    DeviceCopy there;
    there.schedule.peer_access = peer_access;
    const OpId forth = there.between(Place::gpu(0), Place::gpu(1), there.compute);
    EXPECT_SPAN(there.predict(two_gpus()), forth, 0, peer_access ? 25 : 95);
    DeviceCopy back;
    back.schedule.peer_access = peer_access;
    const OpId returned = back.between(Place::gpu(1), Place::gpu(0), back.compute);
    EXPECT_SPAN(back.predict(two_gpus()), returned, 0, 105);
  }
}

TEST(DeviceCopies, go_on_behind_kernels_that_hold_them_back) {
  // With implicit synchronisation a copy that is not to the device waits for the kernels before it, on any engine.
  for (const ImplicitSync sync : {ImplicitSync::until_ended, ImplicitSync::until_started}) {
    Profile p = two_gpus();
    p.gpus[0].launch_latency = us(0);
    p.gpus[0].implicit_sync = sync;
    DeviceCopy s;
    s.work({});
    const OpId behind = s.between(Place::gpu(), Place::gpu(), s.in);
    const double start = sync == ImplicitSync::until_ended ? 1000 : 0;
    EXPECT_SPAN(s.predict(p), behind, start, start + 10);
  }
}

TEST(DeviceCopies, without_figures_are_unsupported_and_the_profile_is_named) {
  Profile p = two_gpus();
  p.gpus[0].copy_bandwidth.reset();
  p.peers.clear();
  for (const Place to : {Place::gpu(0), Place::gpu(1)}) {
    DeviceCopy s;
    s.between(Place::gpu(0), to, s.compute);
    const std::string text = message_of<Unsupported>([&] { simulate(s.schedule, p); });
    EXPECT_EQ(text.find("profile node has no figures for copies"), 0u) << text;
  }
}

}  // namespace
}  // namespace shiplap
