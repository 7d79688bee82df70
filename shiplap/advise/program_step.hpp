// One typical step of a recorded program: its ops in the order of their calls, with what each waits for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shiplap/advise/recording.hpp"
#include "shiplap/advise/steps.hpp"
#include "shiplap/core/interval.hpp"
#include "shiplap/core/units.hpp"

namespace shiplap {

/// An op of the same step, or of a step before it.
struct EarlierOp {
  std::size_t op = 0;     ///< index in ProgramStep::ops
  std::size_t steps = 0;  ///< 0: of the same step, 1: of the one before
  friend bool operator==(const EarlierOp&, const EarlierOp&) = default;
};

/// What a host thread puts into a stream, or a wait of the thread.
struct StepOp {
  /// The kinds of ops.
  enum class Kind : std::uint8_t {
    copy,    ///< between host and GPU
    kernel,  ///< a kernel; also a fill, a copy within device memory, or a graph as a whole
    wait,    ///< the host waits for `after`
  };
  /// What an op of Kind::kernel is.
  enum class Work : std::uint8_t { kernel, fill, device_copy, graph };
  Kind kind = Kind::kernel;
  Work work = Work::kernel;
  std::string name;          ///< name of the kernel, or of the function that waits or copies
  std::uint32_t thread = 0;  ///< number of the host thread
  std::uint32_t stream = 0;  ///< number of the stream on its GPU; unused by a wait
  std::uint32_t gpu = 0;     ///< number of the GPU
  /// Host time of the thread between its call before and this one: the program's own code, and calls that are not among
  /// the ops.
  Seconds host_before{0};
  /// The op of another thread whose call this thread has waited for, as far as its times tell. `host_before` then
  /// begins at the end of that call.
  std::optional<EarlierOp> handed_over_by{};
  Seconds allocating{0};          ///< part of `host_before` in calls that allocate and free memory
  std::uint32_t allocations = 0;  ///< number of calls in `host_before` that allocate or pin memory
  std::uint32_t frees = 0;        ///< number of calls in `host_before` that free or unpin memory
  Seconds call{0};                ///< host time in the call, without waiting for the GPU
  Seconds returning{0};           ///< from the end of what the call waited for until its return
  /// Recorded time of a kernel; of a copy from or to pageable memory, from when it could start until its call returned.
  /// 0: as the profile says.
  Seconds time{0};
  bool blocks = false;             ///< whether the call of a copy returns only when the copy has ended
  std::vector<EarlierOp> after{};  ///< ops of other streams that it waits for; wait: ops that the host waits for

  Bytes size{};                                   ///< copy: bytes
  MemoryKind host_memory = MemoryKind::pageable;  ///< copy: kind of the host memory
  bool to_device = true;                          ///< copy: direction
  std::uint64_t host_address = 0;                 ///< copy: address in host memory; 0: unknown
  std::uint64_t device_address = 0;               ///< copy: address in device memory; 0: unknown
  bool is_gathered = false;      ///< copy: the host gathers the bytes before it, which `host_before` contains
  bool same_content = false;     ///< copy: the bytes of all recorded steps were probably the same
  bool changed_content = false;  ///< copy: the bytes of two recorded steps differed
  bool same_address = false;     ///< copy: the host address was the same in all recorded steps
  std::uint64_t grid = 1;        ///< kernel: thread blocks
  std::uint32_t threads = 256;   ///< kernel: threads of a block
  Bytes reads_host{};            ///< kernel: bytes that it reads from mapped host memory (zero-copy)
  Bytes writes_host{};           ///< kernel: bytes that it writes to mapped host memory
  bool copies_to_host = false;   ///< kernel: whether it is a graph that contains copies to the host
};

inline bool is_copy(const StepOp& op) { return op.kind == StepOp::Kind::copy; }

/// Managed memory that moved by page faults in a step, in the median.
struct StepMigrations {
  std::size_t moves_to_device = 0;  ///< number of times that pages moved to the GPU
  Bytes to_device;                  ///< bytes that moved to the GPU
  Bytes to_host;                    ///< bytes that moved to the host
  Seconds on_device{0};             ///< time in which pages moved to the GPU
  Seconds on_host{0};               ///< time in which pages moved to the host
};

/// The step.
struct ProgramStep {
  std::vector<StepOp> ops;          ///< in the order of their calls
  Interval<Seconds> time;           ///< time of the step: the median of all recorded steps, and their quartiles
  std::size_t repeats = 0;          ///< number of recorded steps of this kind
  Seconds total{0};                 ///< time of all steps together
  bool once = false;                ///< whether the program does it once, so that no step follows
  Seconds host_after{0};            ///< host time of the first op's thread after its last op, where it is done once
  StepMigrations migrations;        ///< managed memory that moved
  bool has_inferred_waits = false;  ///< see Recording::has_inferred_waits
  /// Whether the host launches one kernel again and again and waits in between, as for an iteration, whose next launch
  /// needs what the one before has computed.
  bool is_iteration = false;
};

/// Builds the typical step. A thread that makes no call for long, and then one soon after a call of another thread,
/// counts as having waited for this call: no record tells what threads of a program wait for. Calls without an op that
/// belong to no known function count as host time. The default stream is ordered with other streams unless their work
/// was seen to overlap. First launches of kernels are without the time that loads their modules.
///
/// Steps of the usual size count (of_usual_size). Where their ops differ, an op of one step corresponds to the one of
/// the same kind in another, counted from the end.
ProgramStep program_step(const Recording&, const Steps&);

}  // namespace shiplap
