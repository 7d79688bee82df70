// The one interface to whatever can run a schedule. Two implement it: cuda:N and virtual:PROFILE.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/schedule/timeline.hpp"

namespace shiplap {

/// What a device is, and what it is able to do.
struct DeviceInfo {
  std::string id;                              ///< "cuda:0", "cuda:0,1", "virtual:h200"
  std::string name;                            ///< "NVIDIA H200"
  bool is_virtual = false;                     ///< simulated: `virtual:PROFILE`
  std::shared_ptr<const Profile> simulated{};  ///< the profile that a virtual device simulates; null for a GPU
  Bytes memory;                                ///< total
  Bytes free_memory;                           ///< at the time of asking
  unsigned multiprocessors = 0;                ///< of the GPU
  unsigned copy_engines = 0;                   ///< that can work at the same time
  unsigned resident_threads = 0;               ///< threads that the GPU holds at once
  Bytes l2_cache{};                            ///< of the GPU; 0 where none is known: virtual devices simulate none
  unsigned gpus = 1;                           ///< what is said here of the GPU is said of the first
  bool peer_access = false;                    ///< the GPUs can address each other's memory
  std::vector<std::uint16_t> numa_nodes{};     ///< of the host, by the system's numbers
  std::string limits;                          ///< facts a reader should know, one line ("ECC on, driver 580.159")
  Conditions conditions;                       ///< driver, runtime, clocks, CPU, NUMA: goes into profiles and results
};

/// Memory obtained from a device; freed when it goes out of scope.
class Memory {
 public:
  using Release = std::function<void(std::byte*)>;  ///< gives the memory back
  /// None: `data()` is null.
  Memory() = default;
  /// Takes over `data`, which `release` is called with at the end.
  Memory(std::byte* data, Bytes size, Place place, MemoryKind kind, Release release)
      : data_(data, std::move(release)), size_(size), place_(place), kind_(kind) {}

  /// Of its first byte; null for none.
  std::byte* data() const { return data_.get(); }
  /// As it was asked for.
  Bytes size() const { return size_; }
  /// Where it lives.
  Place place() const { return place_; }
  /// How it was obtained.
  MemoryKind kind() const { return kind_; }
  /// Host memory as a span. Undefined for memory on a GPU.
  std::span<std::byte> bytes() const { return {data_.get(), size_.count}; }

 private:
  std::unique_ptr<std::byte, Release> data_{nullptr, [](std::byte*) {}};
  Bytes size_;
  Place place_;
  MemoryKind kind_ = MemoryKind::pageable;
};

/// How the spans of ops are observed.
enum class Trace : std::uint8_t {
  none,
  best,     ///< by the GPU's own activity records where they can be had, else by events
  events,   ///< by events around each op, which cost the engines time and hold the op's wait for its engine too
  kernels,  ///< of kernels alone, by events around each: what may be on all the time; other spans are zero
};

/// How a schedule is run and what is observed.
struct RunOptions {
  /// Hold every queue behind a gate until all ops are submitted: submission stays out of the figure.
  bool hold = false;
  /// Record start and end of every op; headline times are taken without.
  Trace trace = Trace::none;
  /// The queue that is timed: the clock starts when it may begin and stops with its last op, and the other queues are
  /// load beside it. None: from the first op to the end of all queues.
  QueueId timed{};
  /// Looked at before each chunk: when it is asked to stop, nothing more is submitted, what was submitted is waited
  /// for, and Cancelled is thrown. A graph is looked at once.
  std::stop_token stop{};
};

/// What was observed of one run.
struct RunResult {
  /// Makespan by device events: from the mark in front of the first op to the end of all queues, or of the one that is
  /// timed. With `trace`, spans of every op too.
  Timeline timeline;
  std::string trace_source;  ///< what the spans were observed by, for people; empty without a trace
  /// By op: start and end, by the host's clock, of those that agents performed themselves. Empty where there are none.
  std::vector<Span> host_spans;
  Seconds submission{0};  ///< host time from the first call to the return of the last submitting call
  Seconds host_total{0};  ///< host time from the first call until the host knows that all work has ended
  /// That moment, since its queues were made. Those of executions that share queues can be compared.
  Seconds ended{0};
};

/// Grid, block and occupancy of a kernel launch.
struct LaunchShape {
  std::uint64_t blocks = 1;             ///< number of blocks in the grid
  unsigned threads = 1;                 ///< number of threads in a block
  std::uint64_t max_blocks_per_sm = 0;  ///< by the occupancy API; 0 when unknown
};

/// A schedule made ready to run many times: streams, events and checks are done once.
class Execution {
 public:
  virtual ~Execution() = default;
  /// Makes all calls of the schedule, behind what other executions have submitted to the same queues
  /// (`Device::prepare_behind`), and does not wait for their end; host agents have then done their part. Until `wait`
  /// it cannot be submitted again, and the thread that submitted a held run waits for it before it holds another.
  /// Throws Error naming the call, the op and its chunk. Then nothing of the run is in flight any more, and it can be
  /// run again. What each op that was submitted before writes is complete, and an op is submitted only when those that
  /// it depends on are; what the others write is as it was. Of the op that failed itself a part may have been written:
  /// of a kernel whose function threw, or of a batch. When the GPU has failed (a kernel that traps) all that was
  /// submitted may be written in part, and every further call throws.
  virtual void submit(const RunOptions& = {}) = 0;
  /// Waits for the end of what was submitted. Throws as `submit` does.
  virtual RunResult wait() = 0;
  /// Runs the schedule once and waits for its end. Throws as `submit` does.
  RunResult run(const RunOptions& options = {}) {
    submit(options);
    return wait();
  }
  /// The kernel launches of a graph, in no particular order. Empty when the schedule is not a graph.
  virtual std::vector<LaunchShape> launches() const { return {}; }
};

/// Kernels that the measurements need and every device has.
struct ProbeKernel {
  /// What it does.
  enum class Kind : std::uint8_t {
    empty,         ///< does nothing
    spin,          ///< every block is busy for a fixed time; 1024 threads a block
    stream,        ///< reads `amount` / 2 bytes of device memory and writes as many
    multiply_add,  ///< `amount` fp32 operations in registers
    map,           ///< copies its first operand to its second, `amount` bytes (4, 8 or 16) a thread at a time
    touch,         ///< reads and writes one byte in every `amount` of its operand: a page a warp
    chase,         ///< one thread follows `amount` reads of 8 bytes through its operand, each known by the one before
  };
  KernelBinding binding;  ///< its function on this device
  /// What the simulator should charge; 0 on a real device, which needs no such hint.
  Seconds work{0};
  std::uint64_t blocks = 1;           ///< grid
  std::uint64_t resident_blocks = 1;  ///< that fill the GPU
};

/// Threads in a block of ProbeKernel::Kind::map.
inline constexpr unsigned map_probe_threads = 256;

/// A place in a stream of the caller's: what was enqueued before can be waited for, and what is enqueued after it waits
/// until this is released, or gone.
class StreamGap {
 public:
  virtual ~StreamGap() = default;
  /// The host waits for all that was enqueued before. Throws Error when that failed.
  virtual void wait() = 0;
  /// Lets what is enqueued after it begin.
  virtual void release() noexcept = 0;
};

/// Something that runs schedules: a GPU of this node, several of them, or a simulated one. Opened by `open`.
class Device {
 public:
  virtual ~Device() = default;
  /// What it is and has, as it is now. Throws Error when the GPU cannot be asked.
  virtual DeviceInfo info() const = 0;
  /// What changes while it works, as it is now: clocks and what holds them down, the link's speed. Empty where there is
  /// nothing to tell.
  virtual Conditions state() const { return {}; }
  /// What holds the clocks down at this moment, which `state` tells too, and this quickly; empty when nothing does or
  /// nothing is known.
  virtual std::string clocks_held_by() const { return {}; }
  /// Host memory is touched, so that its pages exist, and on the NUMA node asked for. Throws Error with the numbers
  /// when memory is short, Unsupported for a kind that the device does not have.
  virtual Memory allocate(Place, MemoryKind, Bytes) = 0;
  /// What memory of the host is, wherever it came from: pageable, pinned or managed.
  virtual MemoryKind kind_of(const std::byte*) const { return MemoryKind::pageable; }
  /// Page-locks host memory that came from elsewhere, until what is returned goes; it stays its owner's. Throws Error
  /// with what to do when the system refuses, Unsupported where that cannot be done.
  virtual Memory page_lock(std::byte*, Bytes);
  /// `stream`: a cudaStream_t of the GPU. Throws Unsupported where there are no streams.
  virtual std::unique_ptr<StreamGap> open_gap(void* stream);
  /// The NUMA nodes on which the pages of host memory really are; nullopt where that cannot be told.
  virtual std::optional<std::vector<unsigned>> numa_nodes(const Memory&) const { return std::nullopt; }
  /// Which share of the pages of managed memory is on the host; nullopt where that cannot be told.
  virtual std::optional<double> share_on_host(const Memory&) const { return std::nullopt; }
  /// Writes the test pattern of `seed`: every 8-byte word is a hash of its index and the seed. A GPU does that for
  /// mapped memory too, so that none of it lies in the processors' caches; the next call compares it likewise.
  virtual void fill(const Memory&, std::uint64_t seed) = 0;
  /// Number of bytes of memory[offset, offset + length) that differ from the pattern of `seed` at pattern_offset + i.
  /// Offsets are multiples of 8 or 0; any length.
  virtual std::uint64_t mismatches(const Memory&, Bytes offset, Bytes length, std::uint64_t seed,
                                   Bytes pattern_offset) = 0;
  /// Checks the schedule (`validate`), resolves it against the bindings and gets ready to run it. Throws Error.
  virtual std::unique_ptr<Execution> prepare(const Schedule&, const Bindings&) = 0;
  /// The same in the queues of another one, which queue i of both is: what is submitted later comes behind what was
  /// submitted before, queue by queue, and nothing else is ordered: memory that both use is the caller's to look after.
  /// `other` may go first. Throws Error for one of another device, or whose run is in flight and was not submitted to
  /// shared queues; Unsupported where host agents perform ops of either, for graphs and for several agents.
  virtual std::unique_ptr<Execution> prepare_behind(const Execution& other, const Schedule&, const Bindings&);
  /// `blocks` sets the grid of `empty`, `spin`, `map` and `touch` (256 threads a block); the others choose theirs.
  /// `data` is device memory of at least `amount` bytes for `stream`, unused by the others.
  virtual ProbeKernel probe_kernel(ProbeKernel::Kind, std::uint64_t blocks, double amount) = 0;
};

inline std::unique_ptr<Execution> Device::prepare_behind(const Execution&, const Schedule&, const Bindings&) {
  throw Unsupported("executions of this device do not share queues");
}
inline std::unique_ptr<StreamGap> Device::open_gap(void*) {
  throw Unsupported("this device has no streams that a run could be put between");
}
inline Memory Device::page_lock(std::byte*, Bytes) {
  throw Unsupported("this device does not page-lock memory that came from elsewhere");
}

}  // namespace shiplap
