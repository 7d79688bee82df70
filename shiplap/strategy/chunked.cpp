#include "shiplap/strategy/chunked.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "shiplap/core/error.hpp"
#include "shiplap/strategy/staging.hpp"

namespace shiplap {
namespace {

constexpr std::uint64_t slot_alignment =
    256;  // bytes; what cudaMalloc guarantees, so that every slot allows wide accesses

// Arrays in an order in which each further dependency says something new: see `Builder`.
std::vector<std::size_t> arrays_in_order(const Job& job, Role first, Role second) {
  std::vector<std::size_t> order;
  for (const Role role : {first, second})
    for (std::size_t a = 0; a < job.arrays.size(); ++a)
      if (job.arrays[a].role == role) order.push_back(a);
  return order;
}

// Builds ops in submission order. A chunk takes slot (chunk mod ring); the chunk that had it before is the "earlier"
// one.
//   copy in of an `in` array     waits for the earlier chunk's kernel, which read the slot
//   copy in of an `inout` array  waits for the earlier chunk's copy out, which read the slot
//   kernel                       waits for its copies in, and for the earlier chunk's copies out of `out` arrays
//   copy out                     waits for its kernel
// Copies in are ordered `in` before `inout` and copies out `inout` before `out`; so no dependency is implied by another
// one.
class Builder {
 public:
  Builder(const Job& job, const Choice& choice, const Limits& limits, const Mapping& mapping, const Staging& staging)
      : job_(job),
        choice_(choice),
        limits_(limits),
        mapping_(mapping),
        ranges_(split(job, choice.chunks, choice.ramp)),
        rings_(schedule_, job, staging, choice.chunks) {
    inputs_ = arrays_in_order(job, Role::in, Role::inout);
    outputs_ = arrays_in_order(job, Role::inout, Role::out);
    for (auto* arrays : {&inputs_, &outputs_}) std::erase_if(*arrays, [&](std::size_t a) { return mapped(a); });
    add_buffers();
    add_queues();
    kernel_ = schedule_.add_kernel(job.name.substr(0, job.name.find(':')));
    const std::size_t chunks = ranges_.size();
    kernel_op_.resize(chunks);
    in_op_.assign(chunks, std::vector<OpId>(job.arrays.size()));
    out_op_.assign(chunks, std::vector<OpId>(job.arrays.size()));
  }

  Schedule build() && {
    copy_residents();
    const auto chunks = static_cast<std::uint32_t>(ranges_.size());
    const std::uint32_t batch = choice_.order == IssueOrder::depth ? 1 : ring_;
    for (std::uint32_t first = 0; first < chunks; first += batch) {
      const std::uint32_t last = std::min(chunks, first + batch);
      for (std::uint32_t c = first; c < last; ++c) copy_in(c);
      for (std::uint32_t c = first; c < last; ++c) launch(c);
      for (std::uint32_t c = first; c < last; ++c) copy_out(c);
    }
    schedule_.as_graph = choice_.graph;
    return std::move(schedule_);
  }

 private:
  bool mapped(std::size_t array) const { return mapping_.covers(job_.arrays[array].role); }
  bool staged(std::size_t array) const {
    return rings_.covers(array) && job_.arrays[array].role != Role::resident && !mapped(array);
  }

  void add_buffers() {
    for (const Array& a : job_.arrays)
      schedule_.add_buffer({.name = a.name, .place = Place::host(), .memory = a.memory, .size = a.size});
    Bytes fixed;
    Bytes per_slot;
    stride_.resize(job_.arrays.size());
    for (std::size_t a = 0; a < job_.arrays.size(); ++a) {
      const Array& array = job_.arrays[a];
      if (array.role == Role::resident) {
        fixed += array.size;
        continue;
      }
      if (mapped(a)) continue;
      std::uint64_t largest = 0;
      for (const ItemRange& range : ranges_) largest = std::max(largest, slice(job_, array, range).length.count);
      stride_[a] = Bytes{(largest + slot_alignment - 1) / slot_alignment * slot_alignment};
      per_slot += stride_[a];
    }
    choose_ring(fixed, per_slot);
    for (std::size_t a = 0; a < job_.arrays.size(); ++a) {
      const Array& array = job_.arrays[a];
      if (mapped(a)) {
        device_.push_back({});
        continue;
      }
      const Bytes size = array.role == Role::resident ? array.size : stride_[a] * ring_;
      device_.push_back(schedule_.add_buffer(
          {.name = array.name + " on the GPU", .place = Place::gpu(), .memory = MemoryKind::device, .size = size}));
    }
    for (std::size_t a = 0; a < job_.arrays.size(); ++a)
      if (staged(a)) rings_.add_rings(a, stride_[a]);
  }

  void choose_ring(Bytes fixed, Bytes per_slot) {
    const auto chunks = static_cast<std::uint64_t>(ranges_.size());
    const std::uint64_t budget = limits_.device_memory > fixed ? limits_.device_memory.count - fixed.count : 0;
    const std::uint64_t fits = per_slot.count == 0 ? chunks : budget / per_slot.count;
    const std::uint64_t wanted =
        choice_.ring == 0 ? std::min(chunks, fits) : std::min<std::uint64_t>(choice_.ring, chunks);
    if (wanted == 0 || wanted > fits)
      throw Error(fmt::format(
          "{} in {} chunk(s) needs {} of device memory for {} ring slot(s), {} may be used: use more chunks{}",
          job_.name, chunks, to_string(fixed + per_slot * std::max<std::uint64_t>(wanted, 1)),
          std::max<std::uint64_t>(wanted, 1), to_string(limits_.device_memory),
          choice_.ring > 1 ? " or a smaller ring" : ""));
    ring_ = static_cast<std::uint32_t>(wanted);
  }

  void add_queues() {
    const auto chunks = static_cast<std::uint32_t>(ranges_.size());
    // Each thread has queues of its own: those of the way back wait for other things.
    for (std::uint32_t t = 0; t < rings_.threads(); ++t) {
      in_queues_.push_back(schedule_.add_queue(fmt::format("in {}", t)));
      out_queues_.push_back(schedule_.add_queue(fmt::format("out {}", t)));
    }
    kernel_queues_ = in_queues_;
    if (rings_.used()) return;
    if (choice_.layout == Layout::three) {
      in_queues_ = {schedule_.add_queue("in")};
      kernel_queues_ = {schedule_.add_queue("compute")};
      out_queues_ = {schedule_.add_queue("out")};
      return;
    }
    if (is_emulated(choice_.layout)) {
      in_queues_ = out_queues_ = {schedule_.add_queue("copies")};
      kernel_queues_ = {schedule_.add_queue("compute")};
      return;
    }
    const std::uint32_t count = choice_.layout == Layout::few ? std::clamp(choice_.queues, 1u, chunks) : chunks;
    for (std::uint32_t q = 0; q < count; ++q) in_queues_.push_back(schedule_.add_queue(fmt::format("stream {}", q)));
    kernel_queues_ = out_queues_ = in_queues_;
  }

  QueueId queue(const std::vector<QueueId>& queues, std::uint32_t chunk) const { return queues[chunk % queues.size()]; }

  // A dependency inside a queue is its order; one on a queue that was already waited for that far says nothing new.
  void depend(Op& op, OpId on) {
    if (on.is_none()) return;
    const QueueId from = schedule_.ops[on.index()].queue;
    if (from == op.queue) return;
    const auto [waited, first] = waited_.try_emplace({op.queue, from}, on);
    if (!first && waited->second >= on) return;
    waited->second = on;
    std::erase_if(op.after, [&](OpId other) { return schedule_.ops[other.index()].queue == from; });
    op.after.push_back(on);
  }

  Region host_region(std::size_t array, std::uint32_t chunk) const {
    const Slice s = slice(job_, job_.arrays[array], ranges_[chunk]);
    return {BufferId{static_cast<std::uint32_t>(array)}, s.offset, s.length};
  }
  Region device_region(std::size_t array, std::uint32_t chunk) const {
    if (mapped(array)) return host_region(array, chunk);
    if (job_.arrays[array].role == Role::resident) return {device_[array], Bytes{0}, job_.arrays[array].size};
    return {device_[array], stride_[array] * (chunk % ring_), slice(job_, job_.arrays[array], ranges_[chunk]).length};
  }

  void copy_residents() {
    for (std::size_t a = 0; a < job_.arrays.size(); ++a) {
      if (job_.arrays[a].role != Role::resident) continue;
      const Region host{BufferId{static_cast<std::uint32_t>(a)}, Bytes{0}, job_.arrays[a].size};
      Op op{.what = Copy{host, device_region(a, 0)},
            .queue = in_queues_[0],
            .agent = AgentId{0},
            .after = {},
            .chunk = 0};
      resident_ = schedule_.add(std::move(op));
    }
  }

  void copy_in(std::uint32_t chunk) {
    for (const std::size_t a : inputs_) {
      Region from = host_region(a, chunk);
      if (from.length.count == 0) continue;
      std::vector<OpId> after;
      if (staged(a)) {
        const OpId earlier = chunk >= rings_.places() ? in_op_[chunk - rings_.places()][a] : OpId{};
        const auto filled = rings_.fill(a, chunk, from, earlier);
        from = filled.place;
        after.push_back(filled.op);
      }
      Op op{.what = Copy{from, device_region(a, chunk)},
            .queue = queue(in_queues_, chunk),
            .agent = rings_.agent(chunk),
            .after = std::move(after),
            .chunk = chunk};
      if (chunk >= ring_) {
        const std::uint32_t earlier = chunk - ring_;
        depend(op, job_.arrays[a].role == Role::inout ? out_op_[earlier][a] : kernel_op_[earlier]);
      }
      in_op_[chunk][a] = schedule_.add(std::move(op));
    }
  }

  void launch(std::uint32_t chunk) {
    const ItemRange range = ranges_[chunk];
    Grid launch_grid = grid(job_, range.count, limits_.resident_threads, kernel_queues_.size());
    if (choice_.blocks > 0) launch_grid.blocks = std::min(launch_grid.blocks, choice_.blocks);
    const std::uint64_t room = limits_.resident_threads == 0
                                   ? launch_grid.blocks
                                   : std::max<std::uint64_t>(1, limits_.resident_threads / job_.threads_per_block);
    const std::uint64_t at_once = std::min(launch_grid.blocks, room);
    const double busy = job_.cost.busy_items() / static_cast<double>(job_.items_per_block);
    const bool known = job_.cost.points.size() > 2;
    const auto busy_blocks =
        known ? static_cast<std::uint64_t>(std::clamp(busy, 1.0, static_cast<double>(at_once))) : 0;
    Kernel kernel{.kernel = kernel_,
                  .first_item = range.first,
                  .items = range.count,
                  .work = kernel_time(job_, range.count, choice_.blocks),
                  .thread_work = job_.cost.of_threads(range.count, at_once, job_.items_per_block),
                  .blocks = launch_grid.blocks,
                  .resident_blocks = launch_grid.resident_blocks,
                  .operands = {},
                  .flows = {}};
    for (std::size_t a = 0; a < job_.arrays.size(); ++a) {
      const Region region = device_region(a, chunk);
      const Role role = job_.arrays[a].role;
      const bool reads_only = role == Role::in || role == Role::resident;
      kernel.operands.push_back({region, reads_only ? AccessMode::read : AccessMode::write});
      if (!mapped(a) || region.length.count == 0) continue;
      Flow flow{.buffer = region.buffer,
                .mode = AccessMode::read,
                .bytes = region.length,
                .access_width = job_.access_width,
                .in_flight = Bytes{at_once * job_.threads_per_block * job_.access_width},
                .busy = Bytes{busy_blocks * job_.threads_per_block * job_.access_width}};
      if (role != Role::out) kernel.flows.push_back(flow);
      flow.mode = AccessMode::write;
      if (role != Role::in) kernel.flows.push_back(flow);
    }
    Op op{.what = std::move(kernel),
          .queue = queue(kernel_queues_, chunk),
          .agent = rings_.agent(chunk),
          .after = {},
          .chunk = chunk};
    if (chunk < ring_) depend(op, resident_);  // later chunks wait for an earlier one that did
    for (const std::size_t a : inputs_) depend(op, in_op_[chunk][a]);
    if (chunk >= ring_)
      for (const std::size_t a : outputs_)
        if (job_.arrays[a].role == Role::out) depend(op, out_op_[chunk - ring_][a]);
    last_kernel_ = kernel_op_[chunk] = schedule_.add(std::move(op));
  }

  void copy_out(std::uint32_t chunk) {
    for (const std::size_t a : outputs_) {
      const Region to = host_region(a, chunk);
      if (to.length.count == 0) continue;
      const auto free = staged(a) ? rings_.free_place(a, chunk, to) : StagingRings::Free{to, OpId{}};
      Op op{.what = Copy{device_region(a, chunk), free.place},
            .queue = queue(out_queues_, chunk),
            .agent = rings_.agent(chunk),
            .after = {},
            .chunk = chunk};
      if (!free.emptied.is_none()) op.after.push_back(free.emptied);
      depend(op, choice_.layout == Layout::implicit_sync ? last_kernel_ : kernel_op_[chunk]);
      out_op_[chunk][a] = schedule_.add(std::move(op));
      if (staged(a)) rings_.empty(a, chunk, out_op_[chunk][a], to);
    }
  }

  const Job& job_;
  const Choice& choice_;
  const Limits& limits_;
  Mapping mapping_;
  std::vector<ItemRange> ranges_;
  std::vector<std::size_t> inputs_;   // arrays that go in, in the order of their copies
  std::vector<std::size_t> outputs_;  // arrays that come out
  Schedule schedule_;
  StagingRings rings_;
  std::vector<Bytes> stride_;     // by array: size of a slot
  std::vector<BufferId> device_;  // by array
  std::uint32_t ring_ = 1;
  KernelId kernel_;
  std::vector<QueueId> in_queues_, kernel_queues_, out_queues_;
  std::vector<OpId> kernel_op_;
  std::vector<std::vector<OpId>> in_op_, out_op_;  // by chunk and array
  OpId resident_;
  OpId last_kernel_;
  std::map<std::pair<QueueId, QueueId>, OpId> waited_;
};

}  // namespace

Schedule chunked_schedule(const Job& job, const Choice& choice, const Limits& limits, const Mapping& mapping,
                          const Staging& staging) {
  if (choice.blocks > 0 && !job.any_grid)
    throw Unsupported(
        fmt::format("--blocks {}: the kernel of {} only runs with a grid of its own", choice.blocks, job.name));
  return Builder(job, choice, limits, mapping, staging).build();
}

void require_no_graph(const Choice& choice, std::string_view strategy) {
  if (choice.graph)
    throw Unsupported(fmt::format("{} cannot be a graph: host threads take part in it (leave --graph out)", strategy));
}

void require_memory(const Job& job, ArrayMemory wanted, std::string_view strategy) {
  for (const Array& a : job.arrays) {
    if (a.role == Role::resident && wanted != ArrayMemory::page_locked) continue;
    const std::string memory = to_string(a.memory);
    if (wanted == ArrayMemory::page_locked && !is_page_locked(a.memory))
      throw Unsupported(
          fmt::format("{} needs page-locked arrays, and {} is in {} memory, from which copies do not overlap: "
                      "pin it (--memory pinned){}",
                      strategy, a.name, memory,
                      a.memory == MemoryKind::pageable ? ", or let staged bring it through pinned rings" : ""));
    if (wanted == ArrayMemory::pageable && a.memory != MemoryKind::pageable)
      throw Unsupported(fmt::format("{} is for arrays in pageable memory, and {} is in {} memory{}", strategy, a.name,
                                    memory, is_page_locked(a.memory) ? ": explicit and streams copy it" : ""));
    if (wanted == ArrayMemory::managed && a.memory != MemoryKind::managed)
      throw Unsupported(fmt::format("{} is for arrays in managed memory, and {} is in {} memory (--memory managed)",
                                    strategy, a.name, memory));
  }
}

std::optional<van_werkhoven_2014::Work> paper_parameters(const Job& job, std::uint32_t chunks, const Profile& profile,
                                                         bool overlapping) {
  if (profile.links.empty() || job.cost.points.empty()) return std::nullopt;
  const auto direction = [&](const DirectionModel& d, Bytes total) {
    const Bytes size = total / chunks;
    const CostAt cost = cost_at(d, size);
    van_werkhoven_2014::Direction result{cost.latency_overhead, d.per_byte.value, cost.gap};
    if (overlapping && d.duplex) {
      result.per_byte = d.duplex->per_byte.value;
      result.gap = duplex_gap_at(d, size);
    }
    return result;
  };
  const LinkModel& link = profile.links.front();
  const Bytes in = bytes_in(job);
  const Bytes out = bytes_out(job);
  return van_werkhoven_2014::Work{.h2d = direction(link.h2d, in),
                                  .d2h = direction(link.d2h, out),
                                  .in = in,
                                  .out = out,
                                  .kernel = job.cost.at(job.items)};
}

std::optional<van_werkhoven_2014::Category> paper_category(const GpuModel& gpu, const Choice& choice) {
  using van_werkhoven_2014::Category;
  if (is_emulated(choice.layout)) {
    if (choice.order != IssueOrder::breadth) return std::nullopt;
    return choice.layout == Layout::one_engine ? Category::one_engine : Category::implicit_sync_one_engine;
  }
  if (gpu.copy_engines >= 2) return Category::two_engines;
  if (gpu.implicit_sync == ImplicitSync::until_started) return std::nullopt;
  return gpu.implicit_sync == ImplicitSync::none ? Category::one_engine : Category::implicit_sync_one_engine;
}

}  // namespace shiplap
