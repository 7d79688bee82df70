// Interface of what executes schedules: one GPU, several GPUs, or a simulated GPU. measurable_device.hpp adds what
// measuring needs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "shiplap/device/device_info.hpp"
#include "shiplap/device/execution.hpp"
#include "shiplap/device/memory.hpp"
#include "shiplap/schedule/blocks.hpp"

namespace shiplap {

struct Bindings;
struct BlockMove;
struct Schedule;
class StreamGap;

/// Executes schedules. `open` opens one by name. An implementation must provide `info`, `allocate` and `prepare`. Each
/// other method documents what happens on a device that does not support it.
///
/// Memory may outlive its device. An execution must not. `open` returns a shared owner of the device; whoever keeps a
/// device, such as a node or a prepared job, shares it (`shared_device`).
class Device : public std::enable_shared_from_this<Device> {
 public:
  virtual ~Device();
  /// Returns the facts of the device: its free memory at this moment, and the rest at least as when it was opened.
  /// Throws Error when the GPU cannot be queried.
  virtual DeviceInfo info() const = 0;
  /// Whether the device simulates a GPU. Does not query the GPU.
  virtual bool is_virtual() const { return info().is_virtual; }
  /// Allocates memory. Pages of host memory exist when this returns, on the NUMA node asked for. Throws Error with
  /// requested and available bytes when memory is short, Unsupported for a kind that the device does not have.
  virtual Memory allocate(Place, MemoryKind, Bytes) = 0;
  /// Returns the kind of `size` bytes of host memory from any allocator: pageable, pinned or managed. Where the device
  /// cannot tell, it returns pageable. Throws Error when only a part of them is pinned: CUDA copies no memory across
  /// the border of a pinned range.
  virtual MemoryKind kind_of(const std::byte*, Bytes size = Bytes{1}) const;
  /// The GPU of this device on which device memory is, as in Place::gpu; nullopt for other memory, and for memory of a
  /// GPU that is none of this device.
  virtual std::optional<std::uint16_t> gpu_of(const std::byte*) const;
  /// Pins host memory that the device did not allocate, until the result is destroyed. The caller still owns the
  /// memory. Several holders, also of different devices and in different threads, may pin the same memory or a part of
  /// it, and the last one unpins it. Memory that others have pinned stays as it is. Throws Error with a remedy when the
  /// system refuses or only a part of the memory is pinned already, Unsupported where the device cannot pin.
  virtual Memory pin(std::byte*, Bytes);
  /// Throws Error, as `pin` does, for memory whose kind the system refuses to pin: files that are mapped shared, memory
  /// that cannot be written. Only the first and the last byte are tried, and other threads do not see them pinned.
  virtual void require_pinnable(std::byte*, Bytes);
  /// Checks the schedule (`validate`) and prepares it to run with the bindings. The memory and kernels of the bindings
  /// must outlive the execution. Throws Error for an unsound schedule or bindings that do not fit it, Unsupported for
  /// what the device cannot do.
  virtual std::unique_ptr<Execution> prepare(const Schedule&, const Bindings&) = 0;
  /// Prepares a schedule like `prepare`, but in the streams of `other`: both executions use the same stream i. In each
  /// stream, work that is submitted later runs after work that was submitted before. Nothing else is ordered, so the
  /// caller synchronises memory that both use. `other` may be destroyed first. Throws Error when `other` belongs to
  /// another device, or its run is in flight and was not submitted to shared streams. Throws Unsupported where host
  /// agents perform ops of either schedule, for graphs, for several agents, and where the device cannot share streams.
  virtual std::unique_ptr<Execution> prepare_behind(const Execution& other, const Schedule&, const Bindings&);
  /// Whether `stream`, a cudaStream_t, is being captured into a graph.
  virtual bool is_capturing(void* stream) const;
  /// Blocks `stream`, a cudaStream_t of the GPU, behind the work enqueued so far (see StreamGap). Throws Unsupported on
  /// a device without CUDA streams, and for a stream that is being captured: a gap opens once, and a graph runs often.
  virtual std::unique_ptr<StreamGap> open_gap(void* stream);
  /// Enqueues the movement of blocks in `stream`, a cudaStream_t of the first GPU, by the first of `movers` that the
  /// stream accepts, and returns this mover. Neither a stream that is being captured nor the default stream accepts
  /// cudaMemcpyBatchAsync. The indices are not checked, and may change when the call has returned. Throws Unsupported
  /// when the stream accepts none of the movers, or the device moves blocks in schedules only.
  virtual Mover move_blocks(const BlockMove&, std::span<const Mover> movers, void* stream);
};

/// A further owner of a device. A device that no std::shared_ptr owns is not kept alive: it must outlive the result.
template <class AnyDevice>
std::shared_ptr<AnyDevice> shared_device(AnyDevice& device) {
  return {static_cast<Device&>(device).weak_from_this().lock(), &device};
}

}  // namespace shiplap
