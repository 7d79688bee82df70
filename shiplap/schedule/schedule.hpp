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
  /// What a place is.
  enum class Kind : std::uint8_t { host, gpu };
  Kind kind = Kind::host;   ///< host or GPU
  std::uint16_t index = 0;  ///< of the NUMA node, or the number of the GPU in its device

  /// A NUMA node of the host.
  static constexpr Place host(std::uint16_t numa_node = 0) { return {Kind::host, numa_node}; }
  /// A GPU, by its number in the device.
  static constexpr Place gpu(std::uint16_t number = 0) { return {Kind::gpu, number}; }
  /// Whether it is of the host.
  constexpr bool is_host() const { return kind == Kind::host; }
  /// Whether it is a GPU.
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

/// Whether copy engines reach it without the driver's staging.
bool is_page_locked(MemoryKind);

/// Memory that ops work on; what stands behind it when the schedule runs is in the bindings.
struct Buffer {
  std::string name;                        ///< in messages and pictures
  Place place;                             ///< where it lives
  MemoryKind memory = MemoryKind::device;  ///< how it is obtained
  Bytes size;                              ///< of the whole buffer
};

/// A contiguous piece of one buffer.
struct Region {
  BufferId buffer;  ///< which buffer
  Bytes offset;     ///< of its first byte in the buffer
  Bytes length;     ///< of the piece
  friend bool operator==(const Region&, const Region&) = default;
};

/// What an op does to a region. `write` includes reading it first: it orders against every other access.
enum class AccessMode : std::uint8_t { read, write };
/// A region that an op reads or writes.
struct Access {
  Region region;                       ///< the bytes
  AccessMode mode = AccessMode::read;  ///< what the op does to them
  /// Of a kernel's operand: where in the array that it is a piece of the region begins. Kernels that work with global
  /// indices need it; nothing else does.
  Bytes origin{};
};

/// What a kernel sends over a link while it runs (zero-copy).
struct Flow {
  BufferId buffer;                     ///< host memory that the kernel accesses
  AccessMode mode = AccessMode::read;  ///< read: towards the GPU; write: towards the host
  Bytes bytes;                         ///< that cross the link
  Bytes in_flight{};                   ///< most bytes in flight at once: resident threads times bytes per access
};

/// Measured times of a zero-copy launch. When a kernel has them, the simulator uses them and ignores its flows.
struct MeasuredFlow {
  Seconds alone{0};          ///< time from start to end while no copy moves
  Seconds beside_copies{0};  ///< time from start to end while copies move
  double copies_beside = 1;  ///< factor by which copies take longer while the kernel runs
};

/// A copy by a copy engine (DMA). `from` and `to` have the same length.
struct Copy {
  Region from;  ///< what is read
  Region to;    ///< what is written
};

/// One launch of a kernel over the items [first_item, first_item + items).
struct Kernel {
  KernelId kernel;               ///< which one
  std::uint64_t first_item = 0;  ///< index in the whole job
  std::uint64_t items = 0;       ///< how many
  /// Time from start to end with the GPU to itself, without the launch latency (which is the device's, not the
  /// kernel's).
  Seconds work{0};
  std::uint64_t launches = 1;  ///< calls in which it is submitted: a kernel function may make several
  std::uint64_t blocks = 1;    ///< grid of the launch
  /// Blocks that the GPU has room for at once: what fewer leave free others can use.
  std::uint64_t resident_blocks = 1;
  /// Blocks that take all of the GPU's rate: those beyond it run in further waves, and where kernels that run at the
  /// same time ask for more together, all become slower.
  std::uint64_t full_rate_blocks = 1;
  /// The regions handed to the kernel, in the order of its parameters, each with what the kernel does to it.
  std::vector<Access> operands;
  std::vector<Flow> flows;  ///< what it moves over links while it runs; empty where all its data are on the GPU
  std::optional<MeasuredFlow> measured{};  ///< replaces the simulator's computation from `flows`
};

/// A copy by a host thread (memcpy), performed by the op's agent itself, not by a queue.
struct HostCopy {
  Region from;  ///< what is read
  Region to;    ///< what is written
};

/// Something else that a host thread does with memory, performed by the op's agent itself.
struct HostCall {
  /// What is done.
  enum class Kind : std::uint8_t {
    touch,  ///< reads and writes one byte of every page, which brings pages of managed memory to the host
    flush,  ///< writes the region back from all caches of the CPU and drops it there
    pin,    ///< page-locks a region of a pageable buffer
    unpin,
    allocate,  ///< obtains memory of the kind, place and size of the region's buffer, which is given no other memory
    release,   ///< gives it back
    create_queue,   ///< makes one more queue of the GPU, in which nothing runs; of no region
    destroy_queue,  ///< the last one that was made
    wait,           ///< nothing: the agent goes on when what it comes after has ended; of no region
  };
  Kind kind = Kind::touch;  ///< what is done
  Region region{};          ///< to what; of no meaning for queues
};
/// Whether calls of this kind are of a region.
bool has_region(HostCall::Kind);

/// Moves the pages of managed memory to a place.
struct Prefetch {
  Region region;  ///< of a managed buffer
  Place to;       ///< where its pages go
};

/// One thing to be done: what, where, by whom, and after what.
struct Op {
  std::variant<Copy, Kernel, HostCopy, HostCall, Prefetch> what;  ///< what is done
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

/// In which ops run one after the other, in the order of the schedule; a stream of a GPU.
struct Queue {
  std::string name;             ///< in messages and pictures
  Place place = Place::gpu(0);  ///< the GPU that it belongs to
};

/// A host thread that submits ops, or performs them itself.
struct Agent {
  std::string name;                          ///< in messages and pictures
  std::optional<std::uint16_t> numa_node{};  ///< whose cores it keeps to; none: any
};

/// Ops in submission order: an op depends only on earlier ones.
struct Schedule {
  std::vector<Buffer> buffers;          ///< by BufferId
  std::vector<std::string> kernels;     ///< names, by KernelId
  std::vector<Queue> queues;            ///< by QueueId
  std::vector<Agent> agents{{"main"}};  ///< by AgentId
  std::vector<Op> ops;                  ///< by OpId, in submission order
  /// GPUs address each other's memory where they can; else what they exchange goes through the host.
  bool peer_access = true;
  /// All ops are submitted in one call, as a graph that is made when the schedule is made ready. Of one agent, which
  /// waits for none of them.
  bool as_graph = false;

  /// Enters it and returns its id.
  BufferId add_buffer(Buffer);
  /// Enters it and returns its id.
  KernelId add_kernel(std::string name);
  /// Enters it and returns its id.
  QueueId add_queue(std::string name, Place place = Place::gpu(0));
  /// Behind all ops that there are. Nothing is checked here: see `validate`.
  OpId add(Op);
};

/// From where to where a copy goes.
enum class CopyDirection : std::uint8_t { host_to_device, device_to_host, device_to_device, host_to_host };
/// By the places of its buffers.
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
/// The last one of its batch, mostly the op itself.
OpId last_of_batch(const Schedule&, OpId);

/// The accesses of an op to buffers, in the order they are written down.
void for_each_access(const Op&, const auto& visit);

/// "copy H2D of chunk 3 (op 9)": the name of an op in messages.
std::string describe(const Schedule&, OpId);

/// Total size of the buffers that live on `place`.
Bytes memory_at(const Schedule&, Place);

/// "host 0", "gpu 1"
std::string to_string(Place);
/// "pinned", "write-combined"
std::string to_string(MemoryKind);
/// "touch by the host", "pin"
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
