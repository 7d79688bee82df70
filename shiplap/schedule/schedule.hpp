// A schedule: ops on streams with dependencies, as a plain value without pointers, callables and CUDA types. The CUDA
// device runs it, the simulator predicts its time, and the virtual device does both.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "shiplap/core/id.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/schedule/blocks.hpp"
#include "shiplap/schedule/place.hpp"

namespace shiplap {

/// Advice to the driver on a buffer in managed memory (cudaMemAdvise). It is given when an execution is made, and taken
/// back with the last execution that gave it.
enum class MemoryAdvice : std::uint8_t {
  none,
  read_mostly,      ///< pages are duplicated where they are read, and a write removes all duplicates
  prefer_host,      ///< pages on the host stay there, and kernels access them over the link (preferred location)
  accessed_by_gpu,  ///< pages are mapped on the first GPU where they are, so that its accesses do not move them
};

/// Memory that ops work on. The bindings give its address when the schedule runs.
struct Buffer {
  std::string name;                          ///< name in messages and pictures
  Place place;                               ///< place of the memory
  MemoryKind memory = MemoryKind::device;    ///< kind of the memory
  Bytes size;                                ///< size of the buffer
  MemoryAdvice advice = MemoryAdvice::none;  ///< advice to the driver; only managed memory has any
};

/// Whether pages of the buffer move to the processor that accesses them.
inline bool pages_move(const Buffer& buffer) {
  const bool stay = buffer.advice == MemoryAdvice::prefer_host || buffer.advice == MemoryAdvice::accessed_by_gpu;
  return buffer.memory == MemoryKind::managed && !stay;
}

/// A contiguous range of bytes in one buffer.
struct Region {
  BufferId buffer;  ///< the buffer
  Bytes offset;     ///< offset of the first byte in the buffer
  Bytes length;     ///< number of bytes
  friend bool operator==(const Region&, const Region&) = default;
};

/// A region that an op reads or writes.
struct Access {
  Region region;                       ///< the bytes
  AccessMode mode = AccessMode::read;  ///< how the op accesses them
  /// Offset of the region in the whole array. Only operands of kernels that use indices into the whole array need it.
  Bytes origin{};
};

/// A flow: the bytes that a zero-copy kernel moves over a link in one direction while it runs.
struct Flow {
  BufferId buffer;                     ///< host memory that the kernel accesses
  AccessMode mode = AccessMode::read;  ///< read: bytes move to the GPU; write: bytes move to the host
  Bytes bytes;                         ///< number of bytes that cross the link
  Bytes in_flight{};                   ///< largest number of bytes in flight: resident threads times bytes per access
};

/// Measured times of a zero-copy launch. The simulator uses them instead of the kernel's `flows`.
struct MeasuredFlow {
  Seconds alone{0};          ///< time from start to end while no copy moves
  Seconds beside_copies{0};  ///< time from start to end while copies move
  double copies_beside = 1;  ///< factor by which copies take longer while the kernel runs
};

/// A copy by a copy engine (DMA). `from` and `to` have the same length.
struct Copy {
  Region from;  ///< what is read
  Region to;    ///< what is written
  /// Measured time of the copy alone, from when it can start to its end, as of a program that was recorded. The
  /// simulator uses it instead of the profile's figures; 0: not measured.
  Seconds measured{0};
};

/// The launch of a kernel over the items [first_item, first_item + items). Without a stream it is work of the caller on
/// the host, such as an exchange of boundaries: the op's agent calls the host's function of the binding itself.
struct Kernel {
  KernelId kernel;               ///< the kernel
  std::uint64_t first_item = 0;  ///< index of the first item in the whole job
  std::uint64_t items = 0;       ///< number of items
  /// Time from start to end with the GPU to itself. The launch latency is not part of it, because it belongs to the
  /// device.
  Seconds work{0};
  std::uint64_t launches = 1;  ///< number of launches that the callback makes
  Seconds call{0};             ///< host time of the callback beyond that of its launches; a graph does not call it
  bool waits = false;          ///< whether the callback returns only when its work has ended
  std::uint64_t blocks = 1;    ///< number of thread blocks of the grid
  /// Largest number of thread blocks of the kernel that are resident on the GPU at the same time. A smaller grid leaves
  /// space for other kernels.
  std::uint64_t resident_blocks = 1;
  /// Number of thread blocks that use the whole throughput of the GPU. More thread blocks run in further waves. Kernels
  /// that run at the same time and together need more than the whole throughput all become slower.
  std::uint64_t full_rate_blocks = 1;
  /// The regions that the kernel gets, in the order of its parameters.
  std::vector<Access> operands;
  std::vector<Flow> flows;  ///< bytes that the kernel moves over links; empty when all its data are on the GPU
  std::optional<MeasuredFlow> measured{};  ///< measured times, which the simulator uses instead of `flows`
  /// How far the bandwidth of device memory limits the kernel, from 0 (it only computes) to 1. Kernels of movers slow
  /// the kernel down accordingly (MutualSlowdown).
  double memory_bound = 1;
};

/// A copy by a host thread (memcpy). The op's agent performs it itself, without a stream.
struct HostCopy {
  Region from;  ///< what is read
  Region to;    ///< what is written
};

/// A call other than a copy. The op's agent performs it itself, without a stream.
struct HostCall {
  /// The kinds of calls.
  enum class Kind : std::uint8_t {
    touch,           ///< reads and writes one byte of every page, which moves pages of managed memory to the host
    flush,           ///< writes the region back from all caches of the CPU and removes it from them
    pin,             ///< pins a region of a pageable buffer
    unpin,           ///< unpins a region that an op has pinned
    allocate,        ///< allocates memory of the kind, place and size of the region's buffer, which has no other memory
    release,         ///< releases memory that an op has allocated
    create_stream,   ///< creates another stream of the GPU, in which nothing runs; has no region
    destroy_stream,  ///< destroys the stream that was created last; has no region
    wait,            ///< lets the agent wait until the ops in `after` have ended; has no region
  };
  Kind kind = Kind::touch;  ///< kind of the call
  Region region{};          ///< the memory; unused by kinds without a region
  Seconds work{0};          ///< wait: time for which the agent is busy with other work afterwards
};
/// Whether calls of this kind have a region.
bool has_region(HostCall::Kind);

/// Moves the blocks [first, first + count) of a list from a pool in host memory to contiguous memory (gather), or back
/// (scatter). With a stream, the contiguous memory is on a GPU. Without one it is in host memory, and the op's agent
/// moves the blocks itself.
struct BlockCopy {
  BlockListId list;         ///< the list
  std::uint64_t first = 0;  ///< position in the list of the first block
  std::uint64_t count = 0;  ///< number of blocks
  bool gather = true;       ///< true: from the pool; false: to the pool
  Region pool;    ///< the part of the pool that is used: block 0 begins at its start, no block reaches beyond its end
  Region packed;  ///< count · block bytes, in the order of the list
  Mover mover{};  ///< what moves the blocks; unused without a stream
};

/// A prefetch, which moves pages of managed memory to a place.
struct Prefetch {
  Region region;  ///< the bytes in a managed buffer
  Place to;       ///< destination of their pages
};

/// An operation of a schedule.
struct Op {
  std::variant<Copy, Kernel, HostCopy, HostCall, Prefetch, BlockCopy> what;  ///< the operation itself
  /// The stream in which the op runs; none for an op that an agent performs itself (HostCopy, HostCall,
  /// a BlockCopy in host memory, a Kernel on the host).
  StreamId stream;
  /// The host agent that submits or performs the op. Each agent handles its ops in the order of the schedule.
  AgentId agent{0};
  /// Ops that must have ended before this op starts, in addition to those before it in its stream. They are earlier in
  /// the schedule.
  std::vector<OpId> after;
  /// The chunk that the op belongs to. It names the op in messages and pictures.
  std::uint32_t chunk = 0;
  /// Whether the op is submitted in one call with the op before it in the schedule (cudaMemcpyBatchAsync). Both are
  /// copies of one direction by the same agent and in the same stream, and this op has an empty `after`. An op that
  /// waits for one copy of a batch waits for all of them.
  bool batched = false;
};

/// A stream of a GPU. Its ops run one after the other, in the order of the schedule.
struct Stream {
  std::string name;             ///< name in messages and pictures
  Place place = Place::gpu(0);  ///< the GPU of the stream
  /// Whether thread blocks of its kernels start before waiting thread blocks of other streams' kernels (the highest
  /// priority of cudaStreamCreateWithPriority). The kernel of a mover needs it concurrent with a kernel that occupies
  /// the whole GPU.
  bool urgent = false;
};

/// A host thread that submits ops, or performs them itself.
struct Agent {
  std::string name;                          ///< name in messages and pictures
  std::optional<std::uint16_t> numa_node{};  ///< NUMA node on whose cores the thread runs, any_numa_node for that of
                                             ///< Place::host(); none: all cores that the process may use
};

/// An array that stays on the GPU from one run of the schedule to the next. No op copies it: it is copied before the
/// first run (see `copies_of_kept`).
struct KeptArray {
  BufferId host;  ///< the caller's memory
  BufferId gpu;   ///< memory of the same size on the GPU
};

/// Buffers, kernels, streams and agents, and the ops on them in the order of submission.
struct Schedule {
  std::vector<Buffer> buffers;          ///< by BufferId
  std::vector<std::string> kernels;     ///< names of the kernels, by KernelId
  std::vector<Stream> streams;          ///< by StreamId
  std::vector<Agent> agents{{"main"}};  ///< by AgentId
  std::vector<BlockList> lists{};       ///< by BlockListId
  std::vector<KeptArray> kept{};        ///< arrays that stay on the GPU between runs
  std::vector<Op> ops;                  ///< by OpId, in the order of submission
  /// Whether GPUs address each other's memory if they can. Otherwise copies between GPUs go through the host.
  bool peer_access = true;
  /// Whether all ops are submitted in one call, as a graph that is created before the run. A graph has one agent, and
  /// no op blocks it.
  bool as_graph = false;

  /// Adds a buffer and returns its id.
  BufferId add_buffer(Buffer);
  /// Adds a kernel and returns its id.
  KernelId add_kernel(std::string name);
  /// Adds a list of blocks and returns its id.
  BlockListId add_list(BlockList);
  /// Adds a stream and returns its id.
  StreamId add_stream(std::string name, Place place = Place::gpu(0));
  /// Adds the op after all others and returns its id. `validate` checks it, not this function.
  OpId add(Op);
};

/// The direction of a copy.
enum class CopyDirection : std::uint8_t { host_to_device, device_to_host, device_to_device, host_to_host };
/// The direction that follows from the places of the copy's buffers.
CopyDirection direction(const Schedule&, const Copy&);
/// The direction in which the blocks move.
CopyDirection direction(const Schedule&, const BlockCopy&);

/// Whether two ops access different blocks of a pool through one list. The device refuses a list that names a block
/// twice when an op writes to the pool through it. The contiguous memory of the two may overlap all the same.
bool are_apart(const Schedule&, OpId, OpId);

/// A schedule with the ops of `first` and then those of `second`, on the same buffers, kernels, streams and agents.
/// Throws Error unless the tables of both are equal. An op of `second` that accesses bytes which
/// an op of `first` accesses, one of the two for writing, gets a dependency on it unless both are in one stream. Both
/// schedules must be sound (`validate`). The result is sound too, unless `second` allocates or pins what `first` has
/// allocated or pinned and not released.
Schedule concatenate(const Schedule& first, const Schedule& second);

/// A schedule on the buffers of `schedule` that copies kept arrays to their GPUs, or back to the host.
Schedule copies_of_kept(const Schedule& schedule, std::span<const KeptArray> arrays, CopyDirection);

/// Whether the agent of the op cannot continue before the op has ended. Either the agent performs the op itself, or the
/// op is a kernel whose callback waits, or it copies from or to pageable memory, which the driver stages through its
/// own buffers before the call returns.
bool blocks_agent(const Schedule&, const Op&);
/// The first op that blocks its agent (`blocks_agent`), or none.
OpId first_blocking(const Schedule&);
/// Whether all ops can be submitted before any of them runs. They cannot when an op blocks its agent, moves managed
/// memory or copies between GPUs through the host, because the driver may wait in these calls.
bool can_be_held(const Schedule&);
/// Whether an op of the schedule allocates the memory of the buffer, so that no memory must be bound to it.
bool is_allocated_by_op(const Schedule&, BufferId);

/// The first op of the batch that contains this op, or the op itself if it is in no batch.
OpId first_of_batch(const Schedule&, OpId);
/// The last op of the batch that contains this op, or the op itself if it is in no batch.
OpId last_of_batch(const Schedule&, OpId);

/// Calls `visit(region, mode)` for each access of the op to a buffer.
void for_each_access(const Op&, const auto& visit);

/// The name of an op in messages, such as "copy H2D of chunk 3 (op 9)".
std::string describe(const Schedule&, OpId);

/// Total size of the buffers at a place.
Bytes memory_at(const Schedule&, Place);

/// The name of the kind of call, such as "touch by the host" or "pin".
std::string to_string(HostCall::Kind);
/// The key of the call in HostModel::calls, such as "pin" or "allocate device". Mapped memory has the key of pinned
/// memory.
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
    visit(prefetch->region, AccessMode::write);  // a concurrent access could move the pages back
  } else if (const auto* blocks = std::get_if<BlockCopy>(&op.what)) {
    visit(blocks->pool, blocks->gather ? AccessMode::read : AccessMode::write);
    visit(blocks->packed, blocks->gather ? AccessMode::write : AccessMode::read);
  } else if (const auto* kernel = std::get_if<Kernel>(&op.what)) {
    for (const Access& a : kernel->operands)
      if (a.region.length.count > 0) visit(a.region, a.mode);  // an operand without bytes has no access
  }
}

}  // namespace shiplap
