// A schedule: a plan as a plain value. Ops on queues with dependencies; no pointer, no callable, no CUDA type.
// Devices interpret it: the CUDA device runs it, the simulator predicts it, the virtual device does both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "shiplap/core/id.hpp"
#include "shiplap/core/units.hpp"

namespace shiplap {

/// Where a buffer lives or an op runs: a host NUMA node or a GPU of the node.
struct Place {
  enum class Kind : std::uint8_t { host, gpu };
  Kind kind = Kind::host;
  std::uint16_t index = 0;

  static constexpr Place host(std::uint16_t numa_node = 0) { return {Kind::host, numa_node}; }
  static constexpr Place gpu(std::uint16_t number = 0) { return {Kind::gpu, number}; }
  constexpr bool is_host() const { return kind == Kind::host; }
  constexpr bool is_gpu() const { return kind == Kind::gpu; }
  friend constexpr auto operator<=>(Place, Place) = default;
};

/// How memory was obtained; it decides which ways of moving bytes exist.
enum class MemoryKind : std::uint8_t {
  pageable,
  pinned,          ///< page-locked, in pages of 2 MiB where the system has them
  mapped,          ///< the same, addressed by kernels
  driver_pinned,   ///< page-locked as the driver allocates it, in pages of 4 KiB
  write_combined,  ///< the same past the caches of the CPU: written fast, read very slowly
  managed,         ///< pages move between host and GPUs; a buffer's place is where they are when the schedule starts
  device,
};

bool is_page_locked(MemoryKind);

struct Buffer {
  std::string name;
  Place place;
  MemoryKind memory = MemoryKind::device;
  Bytes size;
};

/// A contiguous piece of one buffer.
struct Region {
  BufferId buffer;
  Bytes offset;
  Bytes length;
  friend bool operator==(const Region&, const Region&) = default;
};

/// What an op does to a region. `write` includes reading it first: it orders against every other access.
enum class AccessMode : std::uint8_t { read, write };
struct Access {
  Region region;
  AccessMode mode = AccessMode::read;
  /// Of a kernel's operand: where in the array that it is a piece of the region begins. Kernels that work with global
  /// indices need it; nothing else does.
  Bytes origin{};
};

/// What a kernel sends over a link while it runs (zero-copy): bytes that reach the link, not the payload.
struct Flow {
  BufferId buffer;
  AccessMode mode = AccessMode::read;
  Bytes bytes;
  std::uint32_t access_width = 16;  ///< bytes of one load or store: 4, 8 or 16
  Bytes in_flight{};                ///< under way at once at most: threads that run at once, times the access width
  Bytes busy{};  ///< of as many threads as keep the GPU busy, if they have what they work on; 0: unknown
};

/// A copy by a copy engine (DMA). `from` and `to` have the same length.
struct Copy {
  Region from;
  Region to;
};

/// One launch of a kernel over the items [first_item, first_item + items).
struct Kernel {
  KernelId kernel;
  std::uint64_t first_item = 0;
  std::uint64_t items = 0;
  /// Time from start to end with the GPU to itself, without the launch latency (which is the device's, not the
  /// kernel's).
  Seconds work{0};
  /// What of it a thread takes for its own share, one access after the other: how long it would be with a GPU that has
  /// room for everything. Counts where threads wait for host memory.
  Seconds thread_work{0};
  std::uint64_t blocks = 1;
  /// Blocks that fill the GPU: those beyond it run in further waves, and what fewer leave free others can use.
  std::uint64_t resident_blocks = 1;
  /// The regions handed to the kernel, in the order of its parameters, each with what the kernel does to it.
  std::vector<Access> operands;
  std::vector<Flow> flows;
};

/// A copy by a host thread (memcpy), performed by the op's agent itself, not by a queue.
struct HostCopy {
  Region from;
  Region to;
};

/// Something else that a host thread does with memory, performed by the op's agent itself.
struct HostCall {
  enum class Kind : std::uint8_t {
    touch,  ///< reads and writes one byte of every page, which brings pages of managed memory to the host
    flush,  ///< writes the region back from all caches of the CPU and drops it there
    pin,    ///< page-locks a region of a pageable buffer
    unpin,
    allocate,  ///< obtains memory of the kind, place and size of the region's buffer, which is given no other memory
    release,   ///< gives it back
    create_queue,   ///< makes one more queue of the GPU, in which nothing runs; of no region
    destroy_queue,  ///< the last one that was made
  };
  Kind kind = Kind::touch;
  Region region{};
};
/// Whether calls of this kind are of a region.
bool has_region(HostCall::Kind);

/// Moves the pages of managed memory to a place.
struct Prefetch {
  Region region;
  Place to;
};

struct Op {
  std::variant<Copy, Kernel, HostCopy, HostCall, Prefetch> what;
  /// In-order queue of the device; none for what an agent performs itself (HostCopy, HostCall).
  QueueId queue;
  /// The host agent that submits (or performs) it; ops of one agent are submitted in the order of the schedule.
  AgentId agent{0};
  /// Ops that must have ended before this one starts, beyond the order of its queue. All earlier in the schedule.
  std::vector<OpId> after;
  /// The piece of the workload it belongs to; names the op in messages and pictures.
  std::uint32_t chunk = 0;
  /// Submitted in one call with the op before it in the schedule: both are copies of one direction that the same agent
  /// submits to the same queue, and it waits for nothing of its own. Whoever waits for one of a batch waits for all.
  bool batched = false;
};

struct Queue {
  std::string name;
  Place place = Place::gpu(0);
};

struct Agent {
  std::string name;
  std::optional<std::uint16_t> numa_node{};  ///< whose cores it keeps to; none: any
};

/// Ops in submission order: an op depends only on earlier ones.
struct Schedule {
  std::vector<Buffer> buffers;
  std::vector<std::string> kernels;
  std::vector<Queue> queues;
  std::vector<Agent> agents{{"main"}};
  std::vector<Op> ops;
  /// GPUs address each other's memory where they can; else what they exchange goes through the host.
  bool peer_access = true;
  /// All ops are submitted in one call, as a graph that is made when the schedule is made ready. Of one agent, which
  /// waits for none of them.
  bool as_graph = false;

  BufferId add_buffer(Buffer);
  KernelId add_kernel(std::string name);
  QueueId add_queue(std::string name, Place place = Place::gpu(0));
  OpId add(Op);
};

enum class CopyDirection : std::uint8_t { host_to_device, device_to_host, device_to_device, host_to_host };
CopyDirection direction(const Schedule&, const Copy&);

/// `second` after `first` on the same buffers, kernels, queues and agents; the tables of both must agree, else Error.
/// In-order queues carry the order over the seam, and where they do not (a slot that the first still reads), a
/// dependency is added; nothing waits there that need not. Both must be sound (`validate`); so is the result.
Schedule concatenate(const Schedule& first, const Schedule& second);

/// Whether the op's agent performs it itself or waits in the call that submits it until it has ended: a copy from or to
/// pageable memory, which the driver stages through its own buffers.
bool blocks_agent(const Schedule&, const Op&);
/// The first op that does; none when the whole schedule can be submitted before any of it has to run.
OpId first_blocking(const Schedule&);
/// Whether everything can be submitted before anything runs: no op blocks its agent, and none is one for which the
/// driver may wait too: it moves managed memory, or copies between GPUs through the host.
bool can_be_held(const Schedule&);
/// Whether an op of the schedule allocates the buffer, so that none is to be bound to it.
bool is_allocated_by_op(const Schedule&, BufferId);

/// The op with whose call this one is submitted: the first of its batch, mostly the op itself.
OpId first_of_batch(const Schedule&, OpId);
OpId last_of_batch(const Schedule&, OpId);

/// The accesses of an op to buffers, in the order they are written down.
void for_each_access(const Op&, const auto& visit);

/// "copy H2D of chunk 3 (op 9)": the name of an op in messages.
std::string describe(const Schedule&, OpId);

/// Total size of the buffers that live on `place`.
Bytes memory_at(const Schedule&, Place);

std::string to_string(Place);
std::string to_string(MemoryKind);
std::string to_string(HostCall::Kind);
/// What a profile calls it: "pin", "allocate device". Mapped memory is obtained as pinned memory is.
std::string name_in_profile(HostCall::Kind, MemoryKind);

void for_each_access(const Op& op, const auto& visit) {
  if (const auto* copy = std::get_if<Copy>(&op.what)) {
    visit(copy->from, AccessMode::read);
    visit(copy->to, AccessMode::write);
  } else if (const auto* host = std::get_if<HostCopy>(&op.what)) {
    visit(host->from, AccessMode::read);
    visit(host->to, AccessMode::write);
  } else if (const auto* call = std::get_if<HostCall>(&op.what)) {
    if (has_region(call->kind)) visit(call->region, AccessMode::write);
  } else if (const auto* prefetch = std::get_if<Prefetch>(&op.what)) {
    visit(prefetch->region, AccessMode::write);  // whoever reaches the pages meanwhile may have them moved back
  } else if (const auto* kernel = std::get_if<Kernel>(&op.what)) {
    for (const Access& a : kernel->operands)
      if (a.region.length.count > 0)
        visit(a.region, a.mode);  // an array of no bytes is handed over and touches nothing
  }
}

}  // namespace shiplap
