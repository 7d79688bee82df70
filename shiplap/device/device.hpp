// What executes schedules: a GPU, several of them, or a simulated one. What measuring needs besides is in
// measurable_device.hpp.
#pragma once

#include <memory>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/device_info.hpp"
#include "shiplap/device/execution.hpp"
#include "shiplap/device/memory.hpp"

namespace shiplap {

/// Executes schedules. `open` opens one by name. An implementation must know its own facts, allocate and prepare; the
/// other methods say what they do where an implementation cannot do it.
///
/// Memory may outlive its device. An execution must not.
class Device {
 public:
  virtual ~Device() = default;
  /// What the device is and has now. Throws Error when the GPU cannot be asked.
  virtual DeviceInfo info() const = 0;
  /// Obtains memory. Pages of host memory exist when this returns, on the NUMA node asked for. Throws Error with the
  /// numbers when memory is short, Unsupported for a kind that the device does not have.
  virtual Memory allocate(Place, MemoryKind, Bytes) = 0;
  /// The kind of host memory, wherever it came from: pageable, pinned or managed. Pageable where the device cannot
  /// tell.
  virtual MemoryKind kind_of(const std::byte*) const { return MemoryKind::pageable; }
  /// Pins host memory that came from elsewhere, until the result is destroyed; the memory stays its owner's. Several
  /// holders may pin the same memory, and the last one unpins it. Memory that is pinned already stays as it is. Throws
  /// Error with what to do when the system refuses, Unsupported where the device cannot pin.
  virtual Memory pin(std::byte*, Bytes) {
    throw Unsupported("this device does not pin memory that came from elsewhere");
  }
  /// Checks the schedule (`validate`), resolves it against the bindings and gets ready to run it. The memory and
  /// kernels of the bindings must outlive the execution. Throws Error for an unsound schedule or bindings that do not
  /// fit it, Unsupported for what the device cannot do.
  virtual std::unique_ptr<Execution> prepare(const Schedule&, const Bindings&) = 0;
  /// As `prepare`, in the streams of `other`: stream i is the same stream for both. What is submitted later comes
  /// behind what was submitted before, stream by stream. Nothing else is ordered: the caller sees to memory that both
  /// use. `other` may be destroyed first. Throws Error when `other` is of another device, or its run is in flight and
  /// was not submitted to shared streams; Unsupported where host agents perform ops of either, for graphs, for several
  /// agents, and where the device cannot share streams.
  virtual std::unique_ptr<Execution> prepare_behind(const Execution& /*other*/, const Schedule&, const Bindings&) {
    throw Unsupported("executions of this device do not share streams");
  }
  /// Opens a gap at the end of `stream`, a cudaStream_t of the GPU. Throws Unsupported where there are no streams.
  virtual std::unique_ptr<StreamGap> open_gap(void* /*stream*/) {
    throw Unsupported("this device has no streams that a run could be put between");
  }
};

}  // namespace shiplap
