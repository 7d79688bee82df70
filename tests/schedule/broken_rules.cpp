#include "tests/schedule/broken_rules.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

namespace shiplap::testing_orders {
namespace {

/// A rule, and a part of the sentence that reports it. The first part that a sentence contains decides.
constexpr std::array<std::pair<std::string_view, std::string_view>, 56> sentences{{
    {"order", "nothing orders the two;"},
    {"no cycle", "the ops wait for each other in a cycle"},
    {"batch: first copy exists", "is batched with the op before it, and there is none"},
    {"batch: copies only", "; only copies can be"},
    {"batch: one stream and agent", "which has another stream or agent"},
    {"batch: the first copy waits", "let the first of its batch wait"},
    {"batch: one direction", "with a copy of another direction"},
    {"batch: pinned memory", "is batched, but the host waits"},
    {"batch: no shared bytes", "share bytes, but the copies of a batch have no order"},
    {"graph: no batch", "is batched in a graph"},
    {"graph: one agent", "is part of a graph, which one agent submits"},
    {"graph: no op of the host", "is performed by the host, which a graph cannot hold"},
    {"graph: no batch of blocks", "is moved by a batch in a graph"},
    {"graph: no indices", "which would keep the indices"},
    {"graph: nothing waits", "the schedule is a graph, but the host"},
    {"streams belong to GPUs", "where no stream is"},
    {"figures are finite", "use a finite "},
    {"figures are finite", "is limited by device memory to "},
    {"stream exists", "is on stream "},
    {"agent exists", "is submitted by agent "},
    {"list exists", " lists"},
    {"kernel exists", " kernels"},
    {"buffer exists", "refers to buffer "},
    {"a copy joins no two host places", "joins two host places"},
    {"a host thread reaches host memory", "which a host thread cannot"},
    {"pageable memory is pinned", "only pageable memory can be pinned"},
    {"pinned once", "that no op has pinned"},
    {"pinned once", "that an op has pinned"},
    {"whole buffers are allocated", "give the whole buffer"},
    {"allocated once", "which is allocated already"},
    {"allocated once", "which is not allocated"},
    {"allocated memory is not used", "which an op of the schedule allocates"},
    {"created before destroyed", "finds no stream that its agent has created"},
    {"operands apart or the same", "they must be apart or the same region"},
    {"blocks lie apart", "blocks have at least one byte and lie apart"},
    {"positions of the list", "use positions of the list"},
    {"contiguous memory fits", "and its contiguous memory has"},
    {"pool holds a block", "use a larger pool or smaller blocks"},
    {"pool holds the list", "reach beyond the pool"},
    {"pool on the host", "has a pool on a GPU"},
    {"contiguous memory on its side", "has contiguous memory "},
    {"regions of an op apart", "reads and writes overlapping bytes"},
    {"mover: pinned pool", "which cannot access pageable memory"},
    {"mover: thread blocks", "by a kernel without thread blocks"},
    {"mover: strided is regular", "is moved by a strided copy"},
    {"managed memory has advice", "only managed memory follows advice"},
    {"managed memory is prefetched", "only managed memory can be prefetched"},
    {"op of a device has a stream", "has no stream; every op"},
    {"kernel on the host has no flows", "has flows, and without a stream"},
    {"kernel on the host stays there", "has no stream, so it runs on the host"},
    {"op of the host has no stream", "has a stream, but its agent performs it"},
    {"some bytes", "accesses a region of no bytes"},
    {"inside the buffer", ", which has only "},
    {"equal lengths", "both lengths must be equal"},
    {"waits for an earlier op", "waits for itself"},
    {"waits for an earlier op", "which is submitted later"},
}};
constexpr std::string_view dependency_exists = "dependency exists";

bool share_a_byte(const Region& a, const Region& b) {
  if (a.buffer != b.buffer) return false;
  for (std::uint64_t at = 0; at < a.length.count; ++at)
    if (a.offset.count + at >= b.offset.count && a.offset.count + at - b.offset.count < b.length.count) return true;
  return false;
}

/// The rules that a schedule breaks. An op is only looked at as far as its ids exist.
class Check {
 public:
  explicit Check(const Schedule& schedule) : schedule_(schedule) {}

  std::set<std::string> run() {
    std::vector<int> allocated(schedule_.buffers.size());
    for (std::size_t i = 0; i < schedule_.ops.size(); ++i) {
      const Op& op = schedule_.ops[i];
      require(op.stream.is_none() || op.stream.index() < schedule_.streams.size(), "stream exists");
      require(op.agent.index() < schedule_.agents.size(), "agent exists");
      std::visit([&](const auto& what) { check(op, what); }, op.what);
      if (op.batched) check_batch(i);
      if (schedule_.as_graph) check_graph(op);
      if (const auto* call = std::get_if<HostCall>(&op.what)) {
        check_allocation(*call, allocated);
        check_pins(i, *call);
      }
      check_waits(i);
    }
    for (const Buffer& buffer : schedule_.buffers)
      require(buffer.advice == MemoryAdvice::none || buffer.memory == MemoryKind::managed, "managed memory has advice");
    for (const Stream& stream : schedule_.streams) require(stream.place.is_gpu(), "streams belong to GPUs");
    check_use_of_allocated();
    check_streams_made();
    check_progress();
    if (schedule_.as_graph) check_graph_waits();
    return broken_;
  }

 private:
  void require(bool kept, std::string_view rule) {
    if (!kept) broken_.insert(std::string(rule));
  }
  bool exists(BufferId id) const { return id.index() < schedule_.buffers.size(); }
  const Buffer& buffer(const Region& region) const { return schedule_.buffers[region.buffer.index()]; }
  bool on_host(const Region& region) const { return buffer(region).place.is_host(); }
  bool is_pageable(const Region& region) const { return buffer(region).memory == MemoryKind::pageable; }

  /// Whether the first and the last byte exist.
  bool inside(const Region& region) {
    require(exists(region.buffer), "buffer exists");
    if (!exists(region.buffer)) return false;
    require(region.length.count > 0, "some bytes");
    if (region.length.count == 0) return false;
    const std::uint64_t last = region.offset.count + (region.length.count - 1);
    const bool kept = last >= region.offset.count && last < buffer(region).size.count;
    require(kept, "inside the buffer");
    return kept;
  }
  bool both_inside(const Region& from, const Region& to) {
    const bool first = inside(from);
    const bool second = inside(to);
    if (!first || !second) return false;
    require(from.length == to.length, "equal lengths");
    require(!share_a_byte(from, to), "regions of an op apart");
    return true;
  }

  void require_finite(double figure, double least) {
    require(figure >= least && figure <= std::numeric_limits<double>::max(), "figures are finite");
  }

  void check(const Op& op, const Copy& copy) {
    require_finite(copy.measured.count(), 0);
    require(!op.stream.is_none(), "op of a device has a stream");
    if (both_inside(copy.from, copy.to))
      require(!on_host(copy.from) || !on_host(copy.to), "a copy joins no two host places");
  }
  void check(const Op& op, const HostCopy& copy) {
    require(op.stream.is_none(), "op of the host has no stream");
    if (both_inside(copy.from, copy.to))
      require(on_host(copy.from) && on_host(copy.to), "a host thread reaches host memory");
  }
  void check(const Op& op, const Prefetch& prefetch) {
    require(!op.stream.is_none(), "op of a device has a stream");
    if (inside(prefetch.region))
      require(buffer(prefetch.region).memory == MemoryKind::managed, "managed memory is prefetched");
  }
  void check(const Op& op, const HostCall& call) {
    using Kind = HostCall::Kind;
    require_finite(call.work.count(), 0);
    require(op.stream.is_none(), "op of the host has no stream");
    if (!has_region(call.kind) || !inside(call.region)) return;
    if (call.kind == Kind::pin || call.kind == Kind::unpin)
      require(is_pageable(call.region), "pageable memory is pinned");
    else if (call.kind == Kind::touch || call.kind == Kind::flush)
      require(on_host(call.region) || buffer(call.region).memory == MemoryKind::managed,
              "a host thread reaches host memory");
    else
      require(call.region.length == buffer(call.region).size, "whole buffers are allocated");
  }
  void check(const Op& op, const Kernel& kernel) {
    const bool by_host = op.stream.is_none();
    require(!by_host || kernel.flows.empty(), "kernel on the host has no flows");
    require(kernel.kernel.index() < schedule_.kernels.size(), "kernel exists");
    for (const Flow& flow : kernel.flows) require(exists(flow.buffer), "buffer exists");
    for (const double figure : {kernel.work.count(), kernel.call.count(), kernel.memory_bound, 1 - kernel.memory_bound})
      require_finite(figure, 0);
    if (kernel.measured) {
      require_finite(kernel.measured->alone.count(), 0);
      require_finite(kernel.measured->beside_copies.count(), 0);
      require_finite(kernel.measured->copies_beside, std::numeric_limits<double>::denorm_min());
    }
    bool all_inside = true;
    for (const Access& operand : kernel.operands) {
      const bool empty = exists(operand.region.buffer) && operand.region.length.count == 0;
      if (empty) require(operand.region.offset <= buffer(operand.region).size, "inside the buffer");
      all_inside = (empty || inside(operand.region)) && all_inside;
    }
    if (!all_inside) return;
    for (const Access& operand : kernel.operands)
      require(!by_host || operand.region.length.count == 0 || on_host(operand.region),
              "kernel on the host stays there");
    for (const Access& a : kernel.operands)
      for (const Access& b : kernel.operands)
        if (a.mode == AccessMode::write && !(a.region == b.region))
          require(!share_a_byte(a.region, b.region), "operands apart or the same");
  }
  void check(const Op& op, const BlockCopy& blocks) {
    const bool in_pool = inside(blocks.pool);  // each of them notes what is broken
    const bool is_packed = inside(blocks.packed);
    const bool regions = in_pool && is_packed;
    const bool known = blocks.list.index() < schedule_.lists.size();
    require(known, "list exists");
    if (!known) return;
    const BlockList& list = schedule_.lists[blocks.list.index()];
    const bool apart = list.block.count > 0 && list.pitch.count >= list.block.count;
    require(apart, "blocks lie apart");
    if (!apart) return;
    require(blocks.first <= list.count && blocks.count <= list.count - blocks.first, "positions of the list");
    if (!regions) return;
    check_sizes(blocks, list);
    const bool by_agent = op.stream.is_none();
    require(on_host(blocks.pool), "pool on the host");
    require(on_host(blocks.packed) == by_agent, "contiguous memory on its side");
    require(!share_a_byte(blocks.pool, blocks.packed), "regions of an op apart");
    if (by_agent) return;
    const bool by_kernel = blocks.mover.kind == Mover::Kind::kernel;
    require(!by_kernel || !is_pageable(blocks.pool), "mover: pinned pool");
    require(!by_kernel || blocks.mover.grid > 0, "mover: thread blocks");
    require(blocks.mover.kind != Mover::Kind::strided || list.regular, "mover: strided is regular");
    if (!schedule_.as_graph) return;
    require(blocks.mover.kind != Mover::Kind::batch, "graph: no batch of blocks");
    require(list.regular, "graph: no indices");
  }
  /// Block after block, as they lie in the contiguous memory and in the pool of a regular list.
  void check_sizes(const BlockCopy& blocks, const BlockList& list) {
    std::uint64_t packed = 0;
    for (std::uint64_t k = 0; k < blocks.count && packed <= blocks.packed.length.count; ++k) packed += list.block.count;
    require(packed == blocks.packed.length.count, "contiguous memory fits");
    const std::uint64_t pool = blocks.pool.length.count;
    require(list.block.count <= pool, "pool holds a block");
    if (list.block.count > pool || !list.regular) return;
    std::uint64_t start = 0;
    for (std::uint64_t k = 1; k < list.count && start <= pool; ++k) start += std::min(list.pitch.count, pool + 1);
    require(list.count == 0 || (start <= pool && pool - start >= list.block.count), "pool holds the list");
  }

  void check_batch(std::size_t i) {
    require(i > 0, "batch: first copy exists");
    if (i == 0) return;
    const Op& op = schedule_.ops[i];
    const Op& before = schedule_.ops[i - 1];
    const auto* copy = std::get_if<Copy>(&op.what);
    const auto* copy_before = std::get_if<Copy>(&before.what);
    require(copy != nullptr && copy_before != nullptr, "batch: copies only");
    if (copy == nullptr || copy_before == nullptr) return;
    for (const Copy* one : {copy, copy_before})
      if (!exists(one->from.buffer) || !exists(one->to.buffer)) return;
    require(op.stream == before.stream && op.agent == before.agent, "batch: one stream and agent");
    require(op.after.empty(), "batch: the first copy waits");
    require(on_host(copy->from) == on_host(copy_before->from) && on_host(copy->to) == on_host(copy_before->to),
            "batch: one direction");
    for (const Copy* one : {copy, copy_before})
      require(!is_pageable(one->from) && !is_pageable(one->to), "batch: pinned memory");
    for (std::size_t k = i; k > 0 && schedule_.ops[k].batched; --k) {
      const auto* other = std::get_if<Copy>(&schedule_.ops[k - 1].what);
      if (other == nullptr) break;
      require(!near(copy->to, other->to) && !near(copy->to, other->from) && !near(copy->from, other->to),
              "batch: no shared bytes");
    }
  }
  /// Whether the regions share a byte. Regions that are too large to list their bytes lie outside of their buffers, and
  /// may be reported twice.
  static bool near(const Region& a, const Region& b) {
    if (a.length >= 1_MiB || b.length >= 1_MiB) return a.buffer == b.buffer;
    return share_a_byte(a, b);
  }

  void check_graph(const Op& op) {
    require(!op.batched, "graph: no batch");
    require(schedule_.agents.size() == 1, "graph: one agent");
    require(!op.stream.is_none(), "graph: no op of the host");
  }
  void check_graph_waits() {
    for (const Buffer& buffer : schedule_.buffers)
      require(buffer.memory != MemoryKind::managed, "graph: nothing waits");
    for (const Op& op : schedule_.ops) {
      if (const auto* kernel = std::get_if<Kernel>(&op.what))
        require(!kernel->waits && !op.stream.is_none(), "graph: nothing waits");
      if (const auto* blocks = std::get_if<BlockCopy>(&op.what); blocks != nullptr && exists(blocks->pool.buffer))
        require(!is_pageable(blocks->pool), "graph: nothing waits");
      const auto* copy = std::get_if<Copy>(&op.what);
      if (copy == nullptr || !exists(copy->from.buffer) || !exists(copy->to.buffer)) continue;
      require(!is_pageable(copy->from) && !is_pageable(copy->to), "graph: nothing waits");
      const bool between_gpus =
          !on_host(copy->from) && !on_host(copy->to) && buffer(copy->from).place.index != buffer(copy->to).place.index;
      require(schedule_.peer_access || !between_gpus, "graph: nothing waits");
    }
  }

  void check_allocation(const HostCall& call, std::vector<int>& allocated) {
    const bool allocates = call.kind == HostCall::Kind::allocate;
    if (!allocates && call.kind != HostCall::Kind::release) return;
    if (!Check(schedule_).inside(call.region)) return;
    int& now = allocated[call.region.buffer.index()];
    require(now == (allocates ? 0 : 1), "allocated once");
    now = allocates ? 1 : 0;
  }
  /// Counts for each byte by how many ops before it is pinned.
  void check_pins(std::size_t i, const HostCall& call) {
    const bool pins = call.kind == HostCall::Kind::pin;
    if ((!pins && call.kind != HostCall::Kind::unpin) || !Check(schedule_).inside(call.region)) return;
    int whole = 0;
    int overlapping = 0;
    for (std::size_t k = 0; k < i; ++k) {
      const auto* other = std::get_if<HostCall>(&schedule_.ops[k].what);
      if (other == nullptr || !Check(schedule_).inside(other->region)) continue;
      const int change = other->kind == HostCall::Kind::pin ? 1 : other->kind == HostCall::Kind::unpin ? -1 : 0;
      if (other->region == call.region) whole = std::max(0, whole + change);
      if (share_a_byte(other->region, call.region)) overlapping += change;
    }
    require(pins ? overlapping <= 0 : whole > 0, "pinned once");
  }
  void check_use_of_allocated() {
    std::vector<bool> allocated(schedule_.buffers.size());
    const auto allocation = [](const Op& op) -> const HostCall* {
      const auto* call = std::get_if<HostCall>(&op.what);
      if (call == nullptr) return nullptr;
      return call->kind == HostCall::Kind::allocate || call->kind == HostCall::Kind::release ? call : nullptr;
    };
    for (const Op& op : schedule_.ops)
      if (const HostCall* call = allocation(op); call != nullptr && exists(call->region.buffer))
        allocated[call->region.buffer.index()] = true;
    for (const Op& op : schedule_.ops) {
      if (allocation(op) != nullptr) continue;
      for_each_access(op, [&](const Region& region, AccessMode) {
        if (exists(region.buffer)) require(!allocated[region.buffer.index()], "allocated memory is not used");
      });
    }
  }
  void check_streams_made() {
    for (std::size_t a = 0; a < schedule_.agents.size(); ++a) {
      int made = 0;
      for (const Op& op : schedule_.ops) {
        const auto* call = std::get_if<HostCall>(&op.what);
        if (call == nullptr || op.agent.index() != a) continue;
        made += call->kind == HostCall::Kind::create_stream;
        made -= call->kind == HostCall::Kind::destroy_stream;
        require(made >= 0, "created before destroyed");
        made = std::max(made, 0);
      }
    }
  }

  void check_waits(std::size_t i) {
    for (const OpId before : schedule_.ops[i].after) {
      require(before.index() < schedule_.ops.size(), dependency_exists);
      require(before.index() < i || before.index() >= schedule_.ops.size(), "waits for an earlier op");
    }
  }
  /// Performs whatever may be performed, until all ops have ended or none may start. An op waits for those in `after`
  /// and for the ops before it in its stream and of its agent.
  void check_progress() {
    std::vector<bool> ended(schedule_.ops.size());
    const auto may_start = [&](std::size_t i) {
      const Op& op = schedule_.ops[i];
      for (const OpId before : op.after)
        if (before.index() != i && before.index() < ended.size() && !ended[before.index()]) return false;
      for (std::size_t k = 0; k < i; ++k)
        if (!ended[k] &&
            (schedule_.ops[k].agent == op.agent || (!op.stream.is_none() && schedule_.ops[k].stream == op.stream)))
          return false;
      return true;
    };
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t i = 0; i < ended.size(); ++i)
        if (!ended[i] && may_start(i)) ended[i] = moved = true;
    }
    require(std::ranges::find(ended, false) == ended.end(), "no cycle");
  }

  const Schedule& schedule_;
  std::set<std::string> broken_;
};

}  // namespace

std::set<std::string> broken_rules(const Schedule& schedule) { return Check(schedule).run(); }

std::string_view rule_of(std::string_view problem) {
  for (const auto& [rule, part] : sentences)
    if (problem.find(part) != std::string_view::npos) return rule;
  return problem.find(" waits for op ") != std::string_view::npos ? dependency_exists : std::string_view();
}

std::set<std::string> all_rules() {
  std::set<std::string> all{std::string(dependency_exists)};
  for (const auto& [rule, part] : sentences) all.insert(std::string(rule));
  return all;
}

}  // namespace shiplap::testing_orders
