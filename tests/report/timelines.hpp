// Timelines laid out by hand, for tests of pictures: known ops at known times.
#pragma once

#include "shiplap/schedule/schedule.hpp"
#include "shiplap/schedule/timeline.hpp"

namespace shiplap::test {

struct Drawn {
  Schedule schedule;
  Timeline timeline;
};

/// Copy in, kernel and copy out of `chunks` chunks, each op `each` long; chunk i goes in at i·each, through the kernel
/// one step later and out another step later: every engine is busy without a pause from its first op to its last.
inline Drawn diagonal(std::uint32_t chunks, Seconds each) {
  Drawn drawn;
  Schedule& s = drawn.schedule;
  const BufferId host = s.add_buffer({"in", Place::host(), MemoryKind::pinned, Bytes{chunks * 8ull}});
  const BufferId out = s.add_buffer({"out", Place::host(), MemoryKind::pinned, Bytes{chunks * 8ull}});
  const BufferId device = s.add_buffer({"d", Place::gpu(), MemoryKind::device, Bytes{chunks * 8ull}});
  const KernelId kernel = s.add_kernel("k<&>");
  const StreamId stream = s.add_stream("q");
  for (std::uint32_t i = 0; i < chunks; ++i) {
    const auto region = [&](BufferId b) { return Region{b, Bytes{i * 8ull}, Bytes{8}}; };
    const auto add = [&](auto what, std::uint32_t step, Engine engine) {
      Op op;
      op.what = what;
      op.stream = stream;
      op.chunk = i;
      s.add(op);
      drawn.timeline.spans.push_back({each * (i + step), each * (i + step + 1), engine});
    };
    add(Copy{region(host), region(device)}, 0, Engine::copy_h2d);
    Kernel launch;
    launch.kernel = kernel;
    launch.first_item = i;
    launch.items = 1;
    launch.operands = {{region(device), AccessMode::write}};
    add(launch, 1, Engine::compute);
    add(Copy{region(device), region(out)}, 2, Engine::copy_d2h);
  }
  drawn.timeline.makespan = each * (chunks + 2);
  return drawn;
}

}  // namespace shiplap::test
