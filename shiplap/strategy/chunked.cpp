#include "shiplap/strategy/chunked.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/strategy/device_ring.hpp"
#include "shiplap/strategy/staging.hpp"

namespace shiplap {
namespace {

constexpr Bytes bytes_of_an_access = 16_B;  // the widest load of a thread

// Arrays in an order in which each further dependency says something new: see `PipelineBuilder`.
std::vector<std::size_t> arrays_in_order(const Job& job, Role first, Role second) {
  std::vector<std::size_t> order;
  for (const Role role : {first, second})
    for (std::size_t a = 0; a < job.arrays.size(); ++a)
      if (job.arrays[a].role == role) order.push_back(a);
  return order;
}

/// The last chunk whose place it is; 0 where it is nobody's.
std::uint32_t last_overwritten(const DeviceRing::Placement& place) {
  return place.overwritten.empty() ? 0 : place.overwritten.back().chunk;
}

/// What of the job one GPU does: consecutive chunks, the first of which has this number among all.
struct Part {
  std::uint16_t gpu = 0;
  std::uint16_t gpus = 1;
  std::uint32_t first_chunk = 0;
  std::vector<ItemRange> ranges;
};

// Builds the ops of one GPU in submission order. A chunk takes its place in the rings (see `DeviceRing`); the chunks
// whose data lay there are the "earlier" ones.
//   copy in of an `in` array     waits for the earlier chunks' kernels, which read the place
//   copy in of an `inout` array  waits for the earlier chunks' copies out, which read the place
//   kernel                       waits for the copies in of all that it is handed, and for the earlier chunks' copies
//                                out of `out` arrays; where an array is carried, for the kernel before; where no array
//                                takes turns with it, scratch for the earlier chunks' kernels
//   copy out                     waits for its kernel
// Copies in are ordered `in` before `inout` and copies out `inout` before `out`; so no dependency is implied by another
// one, as long as chunks share nothing.
class PipelineBuilder {
 public:
  PipelineBuilder(Schedule& schedule, const Job& job, const Choice& choice, const Limits& limits,
                  const Mapping& mapping, const Staging& staging, Part part)
      : schedule_(schedule),
        job_(job),
        choice_(choice),
        limits_(limits),
        mapping_(mapping),
        part_(std::move(part)),
        chunks_(static_cast<std::uint32_t>(part_.ranges.size())),
        agent_(static_cast<std::uint32_t>(schedule.agents.size())),
        rings_(schedule, job, staging, chunks_) {
    if (!rings_.used()) schedule_.agents.push_back({.name = part_.gpus == 1 ? "main" : on_gpu("for"), .numa_node = {}});
    inputs_ = arrays_in_order(job, Role::in, Role::inout);
    outputs_ = arrays_in_order(job, Role::inout, Role::out);
    for (auto* arrays : {&inputs_, &outputs_}) std::erase_if(*arrays, [&](std::size_t a) { return mapped(a); });
    for (const Array& a : job.arrays)
      pieces_.push_back(stays(a.role) ? std::vector<Piece>{} : pieces(job, a, part_.ranges));
    add_buffers();
    if (choice_.batched) require_batches();
    add_queues();
    kernel_op_.resize(chunks_);
    in_op_.assign(chunks_, std::vector<OpId>(job.arrays.size()));
    moved_op_ = in_op_;
    out_op_ = in_op_;
  }

  void build() && {
    bring_what_stays();
    std::uint32_t batch = choice_.order == IssueOrder::depth ? 1 : ring_;
    // At the seam of a ring in which chunks share data there may be no room for one more chunk.
    if (shares_ && ring_ < chunks_) batch = std::max(1u, std::min(batch, ring_ - 1));
    for (std::uint32_t first = 0; first < chunks_; first += batch) {
      const std::uint32_t last = std::min(chunks_, first + batch);
      for (std::uint32_t c = first; c < last; ++c) copy_in(c);
      for (std::uint32_t c = first; c < last; ++c) launch(c);
      for (std::uint32_t c = first; c < last; ++c) copy_out(c);
    }
    bring_carried_back();
  }

 private:
  std::string on_gpu(std::string_view what) const {
    return part_.gpus == 1 ? std::string(what) : fmt::format("{} GPU {}", what, part_.gpu);
  }
  bool mapped(std::size_t array) const {
    return !stays(job_.arrays[array].role) && mapping_.covers(job_.arrays[array].role);
  }
  DeviceRing::Alignment alignment() const {
    return mapping_.in || mapping_.out ? DeviceRing::Alignment::in_array : DeviceRing::Alignment::own;
  }
  bool staged(std::size_t array) const { return rings_.covers(array) && !mapped(array); }
  std::uint32_t number(std::uint32_t chunk) const { return part_.first_chunk + chunk; }
  AgentId agent(std::uint32_t chunk) const { return rings_.used() ? rings_.agent(chunk) : AgentId{agent_}; }

  void add_buffers() {
    Bytes fixed;
    Bytes per_slot;
    for (std::size_t a = 0; a < job_.arrays.size(); ++a) {
      if (stays(job_.arrays[a].role)) {
        fixed += job_.arrays[a].size;
      } else if (!mapped(a)) {
        const DeviceRing::Room room = DeviceRing::room(pieces_[a], alignment());
        per_slot += room.each_slot;
        fixed += room.beyond;
      }
    }
    choose_ring(fixed, per_slot);
    for (std::size_t a = 0; a < job_.arrays.size(); ++a) {
      const Array& array = job_.arrays[a];
      device_rings_.push_back(mapped(a) || stays(array.role) ? DeviceRing()
                                                             : DeviceRing(pieces_[a], ring_, alignment()));
      device_.push_back(
          mapped(a) ? BufferId{}
                    : schedule_.add_buffer({.name = array.name + (part_.gpus == 1 ? " on the GPU" : on_gpu(" on")),
                                            .place = Place::gpu(part_.gpu),
                                            .memory = MemoryKind::device,
                                            .size = stays(array.role) ? array.size : device_rings_[a].size()}));
    }
    shares_ = std::ranges::any_of(device_rings_, &DeviceRing::shares);
    for (std::size_t a = 0; a < job_.arrays.size(); ++a)
      if (staged(a)) rings_.add_rings(a, DeviceRing::room(pieces_[a]).each_slot);
  }

  void choose_ring(Bytes fixed, Bytes per_slot) {
    const std::uint64_t budget = limits_.device_memory > fixed ? limits_.device_memory.count - fixed.count : 0;
    const std::uint64_t fits = per_slot.count == 0 ? chunks_ : budget / per_slot.count;
    const std::uint64_t wanted =
        choice_.ring == 0 ? std::min<std::uint64_t>(chunks_, fits) : std::min<std::uint64_t>(choice_.ring, chunks_);
    if (wanted == 0 || wanted > fits)
      throw Error(fmt::format(
          "{} in {} chunk(s) needs {} of device memory for {} ring slot(s), {} may be used: use more chunks{}",
          job_.name, chunks_, to_string(fixed + per_slot * std::max<std::uint64_t>(wanted, 1)),
          std::max<std::uint64_t>(wanted, 1), to_string(limits_.device_memory),
          choice_.ring > 1 ? " or a smaller ring" : ""));
    ring_ = static_cast<std::uint32_t>(wanted);
  }

  void add_queues() {
    const auto add = [&](const std::string& name) {
      return schedule_.add_queue(part_.gpus == 1 ? name : fmt::format("{} of GPU {}", name, part_.gpu),
                                 Place::gpu(part_.gpu));
    };
    // Each thread has queues of its own: those of the way back wait for other things.
    for (std::uint32_t t = 0; t < rings_.threads(); ++t) {
      in_queues_.push_back(add(fmt::format("in {}", t)));
      out_queues_.push_back(add(fmt::format("out {}", t)));
    }
    kernel_queues_ = in_queues_;
    if (rings_.used()) return;
    if (choice_.layout == Layout::three) {
      in_queues_ = {add("in")};
      kernel_queues_ = {add("compute")};
      out_queues_ = {add("out")};
      return;
    }
    if (is_emulated(choice_.layout)) {
      in_queues_ = out_queues_ = {add("copies")};
      kernel_queues_ = {add("compute")};
      return;
    }
    const std::uint32_t count = choice_.layout == Layout::few ? std::clamp(choice_.queues, 1u, chunks_) : chunks_;
    for (std::uint32_t q = 0; q < count; ++q) in_queues_.push_back(add(fmt::format("stream {}", q)));
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
  // All that used what lay where the chunk's part of an array comes to lie.
  void depend_on_earlier(Op& op, std::size_t array, std::uint32_t chunk) {
    const DeviceRing& ring = device_rings_[array];
    const Role role = job_.arrays[array].role;
    for (const auto& [c, last_reader, mover] : ring[chunk].overwritten) {
      if (role != Role::in) {
        depend(op, out_op_[c][array]);
        continue;
      }
      for (std::uint32_t reader = c; reader <= last_reader; ++reader) depend(op, kernel_op_[reader]);
      if (mover) depend(op, moved_op_[*mover][array]);
    }
  }

  // Whether the chunk waits for an earlier one whose place it takes.
  bool takes_used_place(std::uint32_t chunk) const {
    for (std::size_t a = 0; a < job_.arrays.size(); ++a) {
      const Role role = job_.arrays[a].role;
      if (mapped(a) || stays(role) || device_rings_[a][chunk].overwritten.empty()) continue;
      // Of an input without a piece nothing is copied, so nothing waits.
      if (!is_input(role) || pieces_[a][chunk].fresh.length.count > 0) return true;
    }
    return false;
  }

  // Scratch lies in slots as everything does. Mostly the chunk waits for the users of its slot anyway: whatever else
  // goes through a ring leaves or enters after them.
  void depend_on_users_of_scratch(Op& op, std::uint32_t chunk) {
    const auto takes_turns = [&](std::size_t a) {
      const Role role = job_.arrays[a].role;
      return !mapped(a) && !stays(role) && role != Role::scratch && !device_rings_[a][chunk].overwritten.empty() &&
             (role == Role::out || pieces_[a][chunk].fresh.length.count > 0);
    };
    for (std::size_t a = 0; a < job_.arrays.size(); ++a) {
      if (job_.arrays[a].role != Role::scratch) continue;
      bool implied = false;
      for (std::size_t other = 0; other < job_.arrays.size(); ++other)
        implied = implied || (takes_turns(other) && last_overwritten(device_rings_[other][chunk]) >=
                                                        last_overwritten(device_rings_[a][chunk]));
      if (implied) continue;
      for (const auto& place : device_rings_[a][chunk].overwritten) depend(op, kernel_op_[place.chunk]);
    }
  }

  Region in_array(std::size_t array, const Slice& part) const {
    return {BufferId{static_cast<std::uint32_t>(array)}, part.offset, part.length};
  }
  Region brought(std::size_t array, std::uint32_t chunk) const {
    return {device_[array], device_rings_[array][chunk].fresh, pieces_[array][chunk].fresh.length};
  }
  /// The resident array that is the front of this one, if any.
  std::optional<std::size_t> front(std::size_t array) const {
    for (std::size_t a = 0; a < job_.arrays.size(); ++a)
      if (job_.arrays[a].front_of == array) return a;
    return std::nullopt;
  }
  /// What the kernel of the chunk is handed.
  Access handed(std::size_t array, std::uint32_t chunk) const {
    const Role role = job_.arrays[array].role;
    const AccessMode mode = access_mode(role);
    if (stays(role)) return {{device_[array], Bytes{0}, job_.arrays[array].size}, mode};
    const Slice& part = pieces_[array][chunk].reach;
    if (mapped(array)) return {in_array(array, part), mode, part.offset};
    return {{device_[array], device_rings_[array][chunk].reach, part.length}, mode, part.offset};
  }

  void bring_what_stays() {
    for (std::size_t a = 0; a < job_.arrays.size(); ++a) {
      const Array& array = job_.arrays[a];
      if (!stays(array.role) || array.size.count == 0) continue;
      const std::size_t source = array.front_of.value_or(a);
      Op op{.what = Copy{in_array(source, {Bytes{0}, array.size}), {device_[a], Bytes{0}, array.size}},
            .queue = in_queues_[0],
            .agent = agent(0),
            .after = {},
            .chunk = number(0)};
      resident_ = schedule_.add(std::move(op));
      if (array.role == Role::carried) carries_ = true;
    }
  }
  void bring_carried_back() {
    for (std::size_t a = 0; a < job_.arrays.size(); ++a) {
      const Array& array = job_.arrays[a];
      if (array.role != Role::carried || array.size.count == 0) continue;
      Op op{.what = Copy{{device_[a], Bytes{0}, array.size}, in_array(a, {Bytes{0}, array.size})},
            .queue = queue(out_queues_, chunks_ - 1),
            .agent = agent(chunks_ - 1),
            .after = {},
            .chunk = number(chunks_ - 1)};
      depend(op, last_kernel_);
      schedule_.add(std::move(op));
    }
  }

  /// Copies of arrays in one direction for a chunk.
  using Copies = std::vector<std::pair<std::size_t, Op>>;

  /// Adds the copies. In a batch the first one waits for everything that any of them waits for.
  void add_copies(Copies&& copies, std::vector<OpId>& ids) {
    if (choice_.batched) {
      for (std::size_t i = 1; i < copies.size(); ++i) {
        Op& op = copies[i].second;
        op.batched = true;
        for (const OpId on : op.after) keep_latest(copies.front().second.after, on);
        op.after.clear();
      }
    }
    for (auto& [array, op] : copies) ids[array] = schedule_.add(std::move(op));
  }
  void keep_latest(std::vector<OpId>& after, OpId on) const {
    const QueueId queue = schedule_.ops[on.index()].queue;
    const auto same =
        std::ranges::find_if(after, [&](OpId other) { return schedule_.ops[other.index()].queue == queue; });
    if (same == after.end())
      after.push_back(on);
    else
      *same = std::max(*same, on);
  }

  void copy_in(std::uint32_t chunk) {
    Copies copies;
    for (const std::size_t a : inputs_) {
      move_to_the_front(a, chunk);
      Region from = in_array(a, pieces_[a][chunk].fresh);
      if (from.length.count == 0) continue;
      const Bytes there = copy_front(a, chunk);
      from = {from.buffer, from.offset + there, from.length - there};
      if (from.length.count == 0) continue;
      std::vector<OpId> after;
      if (staged(a)) {
        OpId earlier;  // that read the place in the ring last
        for (std::uint32_t c = chunk; earlier.is_none() && c >= rings_.places();)
          earlier = in_op_[c -= rings_.places()][a];
        const auto filled = rings_.fill(a, chunk, number(chunk), from, earlier);
        from = filled.place;
        after.push_back(filled.op);
      }
      const Region to = brought(a, chunk);
      Op op{.what = Copy{from, {to.buffer, to.offset + there, from.length}},
            .queue = queue(in_queues_, chunk),
            .agent = agent(chunk),
            .after = std::move(after),
            .chunk = number(chunk)};
      depend_on_earlier(op, a, chunk);
      copies.emplace_back(a, std::move(op));
      if (!choice_.batched) add_copies(std::exchange(copies, {}), in_op_[chunk]);
    }
    add_copies(std::move(copies), in_op_[chunk]);
  }

  // What of the chunk is on the GPU already, as the front of the array, comes from there. Returns how much that is.
  Bytes copy_front(std::size_t array, std::uint32_t chunk) {
    const auto from = front(array);
    const Slice& fresh = pieces_[array][chunk].fresh;
    if (!from || job_.arrays[*from].size <= fresh.offset) return Bytes{};
    const Bytes length = std::min(job_.arrays[*from].size - fresh.offset, fresh.length);
    const Region to = brought(array, chunk);
    Op op{.what = Copy{{device_[*from], fresh.offset, length}, {to.buffer, to.offset, length}},
          .queue = queue(in_queues_, chunk),
          .agent = agent(chunk),
          .after = {},
          .chunk = number(chunk)};
    depend(op, resident_);
    depend_on_earlier(op, array, chunk);
    in_op_[chunk][array] = schedule_.add(std::move(op));
    return length;
  }

  void move_to_the_front(std::size_t array, std::uint32_t chunk) {
    const DeviceRing& ring = device_rings_[array];
    const DeviceRing::Placement& place = ring[chunk];
    if (place.moved.count == 0) return;
    Op op{.what = Copy{{device_[array], place.moved_from, place.moved}, {device_[array], place.reach, place.moved}},
          .queue = queue(in_queues_, chunk),
          .agent = agent(chunk),
          .after = {},
          .chunk = number(chunk)};
    depend_on_earlier(op, array, chunk);
    for (std::uint32_t c = place.first_brought_by; c < chunk; ++c) depend_on_bringing(op, array, c);
    moved_op_[chunk][array] = schedule_.add(std::move(op));
  }
  void depend_on_bringing(Op& op, std::size_t array, std::uint32_t chunk) {
    depend(op, moved_op_[chunk][array]);
    depend(op, in_op_[chunk][array]);
  }

  void launch(std::uint32_t chunk) {
    const ItemRange range = part_.ranges[chunk];
    Grid launch_grid = grid(job_, range.count, limits_.resident_threads, kernel_queues_.size());
    if (choice_.blocks > 0) launch_grid.blocks = std::min(launch_grid.blocks, choice_.blocks);
    const std::uint64_t on_average = average_items(job_, range);
    Kernel kernel{.kernel = KernelId{0},
                  .first_item = range.first,
                  .items = range.count,
                  .work = kernel_time(job_, on_average, choice_.blocks, kernel_queues_.size()),
                  .launches = launches_of(job_, range.count),
                  .blocks = launch_grid.blocks,
                  .resident_blocks = launch_grid.resident_blocks,
                  .full_rate_blocks = launch_grid.full_rate_blocks,
                  .operands = {},
                  .flows = {}};
    for (std::size_t a = 0; a < job_.arrays.size(); ++a) {
      const Role role = job_.arrays[a].role;
      kernel.operands.push_back(handed(a, chunk));
      const Region& region = kernel.operands.back().region;
      if (!mapped(a) || region.length.count == 0) continue;
      const Bytes in_flight = in_flight_of(launch_grid);
      if (role != Role::out)
        kernel.flows.push_back(
            {.buffer = region.buffer, .mode = AccessMode::read, .bytes = region.length, .in_flight = in_flight});
      if (role != Role::in)
        kernel.flows.push_back(
            {.buffer = region.buffer, .mode = AccessMode::write, .bytes = region.length, .in_flight = in_flight});
    }
    if (!kernel.flows.empty()) kernel.measured = measured_flow(range, on_average);
    Op op{.what = std::move(kernel),
          .queue = queue(kernel_queues_, chunk),
          .agent = agent(chunk),
          .after = {},
          .chunk = number(chunk)};
    // Later chunks wait for an earlier one that did, unless what they share lets them evict nothing.
    if (shares_ || !takes_used_place(chunk)) depend(op, resident_);
    if (carries_) depend(op, last_kernel_);
    for (const std::size_t a : inputs_)
      for (std::uint32_t c = device_rings_[a][chunk].first_brought_by; c <= chunk; ++c) depend_on_bringing(op, a, c);
    for (const std::size_t a : outputs_)
      if (job_.arrays[a].role == Role::out) depend_on_earlier(op, a, chunk);
    depend_on_users_of_scratch(op, chunk);
    last_kernel_ = kernel_op_[chunk] = schedule_.add(std::move(op));
  }

  /// Of threads that have one wide access under way each.
  Bytes in_flight_of(const Grid& launch_grid) const {
    const std::uint64_t room =
        limits_.resident_threads == 0 ? launch_grid.blocks : wave_of(job_, limits_.resident_threads);
    return bytes_of_an_access * (std::min(launch_grid.blocks, room) * job_.threads_per_block);
  }
  std::optional<MeasuredFlow> measured_flow(ItemRange range, std::uint64_t on_average) const {
    bool in = false;
    bool out = false;
    for (std::size_t a = 0; a < job_.arrays.size(); ++a)
      if (mapped(a) && job_.arrays[a].size.count > 0) (job_.arrays[a].role == Role::in ? in : out) = true;
    const auto row = job_.cost.zero_copy_at(in, out, choice_.blocks, blocks_of(job_, range.count));
    if (!row) return std::nullopt;
    const Seconds alone = std::max(row->at(on_average), job_.cost.at(on_average));
    return MeasuredFlow{.alone = alone,
                        .beside_copies = std::max(alone, row->beside_at(on_average)),
                        .copies_beside = row->copies_beside};
  }

  void copy_out(std::uint32_t chunk) {
    Copies copies;
    for (const std::size_t a : outputs_) {
      const Region to = in_array(a, pieces_[a][chunk].fresh);
      if (to.length.count == 0) continue;
      const auto free = staged(a) ? rings_.free_place(a, chunk, to) : StagingRings::Free{to, OpId{}};
      Op op{.what = Copy{brought(a, chunk), free.place},
            .queue = queue(out_queues_, chunk),
            .agent = agent(chunk),
            .after = {},
            .chunk = number(chunk)};
      if (!free.emptied.is_none()) op.after.push_back(free.emptied);
      depend(op, choice_.layout == Layout::implicit_sync && !rings_.used() ? last_kernel_ : kernel_op_[chunk]);
      copies.emplace_back(a, std::move(op));
      if (!choice_.batched) add_copies(std::exchange(copies, {}), out_op_[chunk]);
      if (staged(a)) rings_.empty(a, chunk, number(chunk), out_op_[chunk][a], to);
    }
    add_copies(std::move(copies), out_op_[chunk]);
  }

  /// Throws unless copies can be in batches and some batch has more than one copy.
  void require_batches() const {
    if (choice_.graph) throw UsageError("copies cannot be in batches and in a graph: choose one of the two");
    if (rings_.used() || array_memory(job_) != ArrayMemory::page_locked)
      throw Unsupported(
          fmt::format("{}: copies in batches need pinned arrays: pin them or submit one by one", job_.name));
    if (shares_ || std::ranges::any_of(job_.arrays, [](const Array& a) { return a.front_of.has_value(); }))
      throw Unsupported(fmt::format(
          "{}: chunks share data that is copied within the GPU, so copies cannot be in batches: submit them one by one",
          job_.name));
    if (inputs_.size() < 2 && outputs_.size() < 2)
      throw Unsupported(fmt::format(
          "{}: a chunk has at most one copy in each direction, so there is nothing to batch: submit them one by one",
          job_.name));
  }

  Schedule& schedule_;
  const Job& job_;
  const Choice& choice_;
  const Limits& limits_;
  Mapping mapping_;
  Part part_;
  std::uint32_t chunks_;
  std::uint32_t agent_;               // of this GPU, where no threads take part
  std::vector<std::size_t> inputs_;   // arrays that go in, in the order of their copies
  std::vector<std::size_t> outputs_;  // arrays that come out
  StagingRings rings_;
  std::vector<std::vector<Piece>> pieces_;  // by array and chunk
  std::vector<DeviceRing> device_rings_;    // by array
  std::vector<BufferId> device_;            // by array
  std::uint32_t ring_ = 1;
  std::vector<QueueId> in_queues_, kernel_queues_, out_queues_;
  std::vector<OpId> kernel_op_;
  std::vector<std::vector<OpId>> in_op_, moved_op_, out_op_;  // by chunk and array
  OpId resident_;
  OpId last_kernel_;
  bool carries_ = false;
  bool shares_ = false;  // chunks share data
  std::map<std::pair<QueueId, QueueId>, OpId> waited_;
};

// The items in shares for the GPUs, and each share in its chunks.
std::vector<Part> parts_of(const Job& job, const Choice& choice) {
  if (choice.gpus == 1) return {{.ranges = split(job, choice.chunks, choice.ramp)}};
  if (choice.gpus == 0) throw UsageError("a job runs on one GPU at least");
  if (choice.graph) throw Unsupported("a pipeline over several GPUs cannot be a graph: a thread submits to each");
  for (const Array& a : job.arrays)
    if (a.role == Role::carried)
      throw Unsupported(fmt::format("{} is carried from chunk to chunk, so that GPUs cannot share the chunks", a.name));
  std::vector<Part> parts;
  const auto shares = split(job, choice.gpus);
  for (std::uint32_t g = 0; g < choice.gpus; ++g) {
    Job share{.items = shares[g].count, .name = job.name, .items_per_block = job.items_per_block};
    Part part{.gpu = static_cast<std::uint16_t>(g),
              .gpus = static_cast<std::uint16_t>(choice.gpus),
              .first_chunk = g * choice.chunks,
              .ranges = split(share, choice.chunks, choice.ramp)};
    for (ItemRange& range : part.ranges) range.first += shares[g].first;
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace

Schedule chunked_schedule(const Job& job, const Choice& choice, const Limits& limits, const Mapping& mapping,
                          const Staging& staging) {
  if (choice.blocks > 0 && !job.any_grid)
    throw Unsupported(
        fmt::format("--blocks {}: the kernel of {} only runs with a grid of its own", choice.blocks, job.name));
  if ((mapping.in || mapping.out) && !job.zero_copy)
    throw Unsupported(fmt::format(
        "the kernel of {} is not made to reach into host memory (it goes over its arrays several times): copy them",
        job.name));
  Schedule schedule;
  schedule.agents.clear();
  require_fronts(job);
  for (const Array& a : job.arrays)
    schedule.add_buffer({.name = a.name, .place = Place::host(), .memory = a.memory, .size = size_on_host(a)});
  schedule.add_kernel(job.name.substr(0, job.name.find(':')));
  for (Part& part : parts_of(job, choice))
    PipelineBuilder(schedule, job, choice, limits, mapping, staging, std::move(part)).build();
  schedule.as_graph = choice.graph;
  if (choice.graph && !can_be_held(schedule))
    throw Unsupported(fmt::format(
        "{} as a graph: the host or the driver waits for some of its copies; page-lock the memory, or submit op by op",
        job.name));
  return schedule;
}

}  // namespace shiplap
