#include "tests/device/suite/transfers.hpp"

#include <utility>
#include <vector>

namespace shiplap::testing {
namespace {

constexpr Bytes all_chunks = transfer_chunk * transfer_chunks;
constexpr AgentId first_agent{0};
constexpr AgentId second_agent{1};

Region region(BufferId buffer, std::uint32_t chunk) { return {buffer, transfer_chunk * chunk, transfer_chunk}; }

Op copy(BufferId from, BufferId to, std::uint32_t chunk, StreamId stream, std::vector<OpId> after = {},
        AgentId agent = first_agent) {
  return {.what = Copy{region(from, chunk), region(to, chunk)},
          .stream = stream,
          .agent = agent,
          .after = std::move(after),
          .chunk = chunk};
}

Op kernel(KernelId kernel, BufferId from, BufferId to, std::uint32_t chunk, StreamId stream,
          std::vector<OpId> after = {}, AgentId agent = first_agent) {
  return {.what = Kernel{.kernel = kernel,
                         .first_item = chunk,
                         .items = 1,
                         .operands = {{region(from, chunk), AccessMode::read}, {region(to, chunk), AccessMode::write}},
                         .flows = {}},
          .stream = stream,
          .agent = agent,
          .after = std::move(after),
          .chunk = chunk};
}

Op by_host(BufferId from, BufferId to, std::uint32_t chunk, std::vector<OpId> after = {}) {
  return {.what = HostCopy{region(from, chunk), region(to, chunk)},
          .stream = {},
          .agent = second_agent,
          .after = std::move(after),
          .chunk = chunk};
}

Op call(HostCall::Kind kind, BufferId buffer = {}, AgentId agent = first_agent) {
  return {.what = HostCall{kind, has_region(kind) ? Region{buffer, 0_B, all_chunks} : Region{}},
          .stream = {},
          .agent = agent,
          .after = {}};
}

Op prefetch(BufferId buffer, std::uint32_t chunk, Place to, StreamId stream, std::vector<OpId> after = {}) {
  return {.what = Prefetch{region(buffer, chunk), to},
          .stream = stream,
          .agent = first_agent,
          .after = std::move(after),
          .chunk = chunk};
}

/// The chunk as two blocks. The call that moves blocks to the host does so as a whole.
Op move(BlockListId list, bool gather, BufferId pool, BufferId packed, std::uint32_t chunk, const Mover& mover,
        StreamId stream, std::vector<OpId> after = {}) {
  return {.what = BlockCopy{.list = list,
                            .first = 2 * std::uint64_t{chunk},
                            .count = 2,
                            .gather = gather,
                            .pool = {pool, 0_B, all_chunks},
                            .packed = region(packed, chunk),
                            .mover = mover},
          .stream = stream,
          .agent = first_agent,
          .after = std::move(after),
          .chunk = chunk};
}

struct Buffers {
  BufferId in, gpu, out;
};
Buffers add_buffers(Schedule& s) {
  return {s.add_buffer({"in", Place::host(), MemoryKind::pinned, all_chunks}),
          s.add_buffer({"gpu", Place::gpu(), MemoryKind::device, all_chunks}),
          s.add_buffer({"out", Place::host(), MemoryKind::pinned, all_chunks})};
}

Schedule by_host_agents(bool with_calls) {
  Schedule s;
  s.agents = {{"submits"}, {"copies"}};
  const BufferId from = s.add_buffer({"in", Place::host(), MemoryKind::pageable, all_chunks});
  const BufferId ring_in = s.add_buffer({"ring in", Place::host(), MemoryKind::pinned, all_chunks});
  const BufferId gpu = s.add_buffer({"gpu", Place::gpu(), MemoryKind::device, all_chunks});
  const BufferId locked = s.add_buffer({"pinned for a while", Place::host(), MemoryKind::pageable, all_chunks});
  const BufferId made = s.add_buffer({"allocated for a while", Place::gpu(), MemoryKind::device, all_chunks});
  const BufferId ring_out = s.add_buffer({"ring out", Place::host(), MemoryKind::pinned, all_chunks});
  const BufferId to = s.add_buffer({"out", Place::host(), MemoryKind::pageable, all_chunks});
  const KernelId invert = s.add_kernel("invert");
  const StreamId in = s.add_stream("in");
  const StreamId out = s.add_stream("out");
  using Kind = HostCall::Kind;
  if (with_calls) {
    s.add(call(Kind::pin, locked));
    s.add(call(Kind::allocate, made));
    s.add(call(Kind::create_stream));
  }
  for (std::uint32_t c = 0; c < transfer_chunks; ++c) {
    const OpId filled = s.add(by_host(from, ring_in, c));
    s.add(copy(ring_in, gpu, c, in, {filled}));
    const OpId done = s.add(kernel(invert, gpu, gpu, c, in));
    const OpId back = s.add(copy(gpu, ring_out, c, out, {done}));
    s.add(by_host(ring_out, to, c, {back}));
  }
  if (!with_calls) return s;
  s.add(call(Kind::destroy_stream));
  s.add(call(Kind::release, made));
  s.add(call(Kind::unpin, locked));
  return s;
}

}  // namespace

Schedule three_streams_inverting() {
  Schedule s;
  const Buffers b = add_buffers(s);
  const KernelId invert = s.add_kernel("invert");
  const StreamId in = s.add_stream("in");
  const StreamId compute = s.add_stream("compute");
  const StreamId out = s.add_stream("out");
  for (std::uint32_t c = 0; c < transfer_chunks; ++c) {
    const OpId there = s.add(copy(b.in, b.gpu, c, in));
    const OpId done = s.add(kernel(invert, b.gpu, b.gpu, c, compute, {there}));
    s.add(copy(b.gpu, b.out, c, out, {done}));
  }
  return s;
}

Schedule stream_per_chunk_inverting() {
  Schedule s;
  const Buffers b = add_buffers(s);
  const KernelId invert = s.add_kernel("invert");
  for (std::uint32_t c = 0; c < transfer_chunks; ++c) {
    const StreamId stream = s.add_stream("of a chunk");
    s.add(copy(b.in, b.gpu, c, stream));
    s.add(kernel(invert, b.gpu, b.gpu, c, stream));
    s.add(copy(b.gpu, b.out, c, stream));
  }
  return s;
}

Schedule ring_of_one_chunk_inverting() {
  Schedule s = three_streams_inverting();
  s.buffers[1].size = transfer_chunk;
  for (std::size_t i = 0; i < s.ops.size(); ++i) {
    if (auto* kernel = std::get_if<Kernel>(&s.ops[i].what)) {
      for (Access& operand : kernel->operands) operand.region.offset = {};
      continue;
    }
    auto& moved = std::get<Copy>(s.ops[i].what);
    (i % 3 == 0 ? moved.to : moved.from).offset = {};
    if (i % 3 == 0 && i > 0) s.ops[i].after = {OpId{static_cast<std::uint32_t>(i - 1)}};
  }
  return s;
}

Schedule batches_inverting_nothing() {
  Schedule s;
  const Buffers b = add_buffers(s);
  const StreamId in = s.add_stream("in");
  const StreamId out = s.add_stream("out");
  for (std::uint32_t c = 0; c < transfer_chunks; ++c) s.add(copy(b.in, b.gpu, c, in));
  for (std::uint32_t c = 0; c < transfer_chunks; ++c) s.add(copy(b.gpu, b.out, c, out));
  for (std::uint32_t i = 0; i < 2 * transfer_chunks; ++i) s.ops[i].batched = i % transfer_chunks != 0;
  s.ops[transfer_chunks].after = {OpId{transfer_chunks - 1}};
  return s;
}

Schedule blocks_inverting() {
  Schedule s;
  const BufferId from = s.add_buffer({"in", Place::host(), MemoryKind::pinned, all_chunks});
  const BufferId gpu = s.add_buffer({"gpu", Place::gpu(), MemoryKind::device, all_chunks});
  const BufferId more = s.add_buffer({"more", Place::gpu(), MemoryKind::device, all_chunks});
  const BufferId to = s.add_buffer({"out", Place::host(), MemoryKind::pinned, all_chunks});
  const BlockList list{
      .name = "pages", .block = Bytes{transfer_chunk.count / 2}, .pitch = Bytes{transfer_chunk.count / 2}, .count = 6};
  const BlockListId pages = s.add_list(list);
  const BlockListId rows = s.add_list(list);
  s.lists[rows.index()].regular = true;
  const KernelId invert = s.add_kernel("invert");
  const StreamId in = s.add_stream("in");
  const StreamId compute = s.add_stream("compute");
  const StreamId out = s.add_stream("out");
  s.streams[in.index()].urgent = true;
  using Kind = Mover::Kind;
  for (std::uint32_t c = 0; c < transfer_chunks; ++c) {
    // A list brings every block back to where it was.
    const OpId there = s.add(move(c == 0 ? pages : rows, true, from, gpu, c, {.kind = Kind::copies}, in));
    s.add(move(pages, true, from, more, c, {.kind = Kind::kernel, .grid = 2}, in));
    const OpId done = s.add(kernel(invert, gpu, gpu, c, compute, {there}));
    s.add(c == 0 ? move(pages, false, to, gpu, c, {.kind = Kind::batch}, out, {done})
                 : move(rows, false, to, gpu, c, {.kind = Kind::strided}, out, {done}));
  }
  return s;
}

Schedule prefetches_inverting() {
  Schedule s;
  const BufferId from = s.add_buffer({"in", Place::host(), MemoryKind::managed, all_chunks});
  const BufferId to = s.add_buffer({"out", Place::host(), MemoryKind::managed, all_chunks});
  const KernelId invert = s.add_kernel("invert");
  const StreamId in = s.add_stream("in");
  const StreamId compute = s.add_stream("compute");
  const StreamId out = s.add_stream("out");
  for (std::uint32_t c = 0; c < transfer_chunks; ++c) {
    s.add(prefetch(from, c, Place::gpu(), in));
    const OpId there = s.add(prefetch(to, c, Place::gpu(), in));
    const OpId done = s.add(kernel(invert, from, to, c, compute, {there}));
    s.add(prefetch(to, c, Place::host(), out, {done}));
  }
  return s;
}

Schedule advised_inverting() {
  Schedule s;
  const BufferId from = s.add_buffer({"in", Place::host(), MemoryKind::managed, all_chunks, MemoryAdvice::prefer_host});
  const BufferId to =
      s.add_buffer({"out", Place::host(), MemoryKind::managed, all_chunks, MemoryAdvice::accessed_by_gpu});
  const KernelId invert = s.add_kernel("invert");
  const StreamId compute = s.add_stream("compute");
  for (std::uint32_t c = 0; c < transfer_chunks; ++c) s.add(kernel(invert, from, to, c, compute));
  return s;
}

Schedule host_agents_inverting() { return by_host_agents(true); }

Schedule host_copies_inverting() { return by_host_agents(false); }

Schedule two_gpus_inverting_twice() {
  Schedule s;
  s.agents = {{"submits copies"}, {"submits kernels"}};
  const BufferId from = s.add_buffer({"in", Place::host(), MemoryKind::pinned, all_chunks});
  const BufferId near = s.add_buffer({"gpu 0", Place::gpu(0), MemoryKind::device, all_chunks});
  const BufferId far = s.add_buffer({"gpu 1", Place::gpu(1), MemoryKind::device, all_chunks});
  const BufferId to = s.add_buffer({"out", Place::host(), MemoryKind::pinned, all_chunks});
  const KernelId invert = s.add_kernel("invert");
  const StreamId in = s.add_stream("in", Place::gpu(0));
  const StreamId compute_near = s.add_stream("compute 0", Place::gpu(0));
  const StreamId across = s.add_stream("across", Place::gpu(0));
  const StreamId compute_far = s.add_stream("compute 1", Place::gpu(1));
  const StreamId out = s.add_stream("out", Place::gpu(1));
  for (std::uint32_t c = 0; c < transfer_chunks; ++c) {
    const OpId there = s.add(copy(from, near, c, in));
    const OpId once = s.add(kernel(invert, near, near, c, compute_near, {there}, second_agent));
    const OpId over = s.add(copy(near, far, c, across, {once}));
    const OpId twice = s.add(kernel(invert, far, far, c, compute_far, {over}, second_agent));
    s.add(copy(far, to, c, out, {twice}));
  }
  return s;
}

Schedule allocation_on_another_gpu_inverting() {
  Schedule s;
  s.agents = {{"does nothing"}, {"works"}};
  const BufferId from = s.add_buffer({"in", Place::host(), MemoryKind::pinned, all_chunks});
  const BufferId gpu = s.add_buffer({"gpu 1", Place::gpu(1), MemoryKind::device, all_chunks});
  const BufferId made = s.add_buffer({"allocated for a while", Place::gpu(0), MemoryKind::device, all_chunks});
  const BufferId to = s.add_buffer({"out", Place::host(), MemoryKind::pinned, all_chunks});
  const KernelId invert = s.add_kernel("invert");
  const StreamId stream = s.add_stream("on gpu 1", Place::gpu(1));
  for (std::uint32_t c = 0; c < transfer_chunks; ++c) {
    s.add(copy(from, gpu, c, stream, {}, second_agent));
    s.add(kernel(invert, gpu, gpu, c, stream, {}, second_agent));
    s.add(copy(gpu, to, c, stream, {}, second_agent));
    if (c > 0) continue;
    s.add(call(HostCall::Kind::allocate, made, second_agent));
    s.add(call(HostCall::Kind::create_stream, {}, second_agent));
  }
  return s;
}

}  // namespace shiplap::testing
