// A gate that holds streams until the host has submitted all ops, so that the measured time contains no submission.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "shiplap/core/units.hpp"
#include "shiplap/device/cuda/handles.hpp"

namespace shiplap {

/// Time limit after which a gate opens by itself. A submission takes a few microseconds for each op, which is far less.
constexpr Seconds longest_held{10};

/// A one-thread kernel in its own stream that polls a flag in host memory. Other streams are held by waiting for
/// `closed()`. The kernel ends after `limit`, so that a host that is blocked by a full hardware queue can continue.
class Gate {
 public:
  explicit Gate(const Api&, Seconds limit = longest_held);
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  /// Closes the gate, which must be open. `mark`, if given, is recorded right after the gate.
  void close(cudaEvent_t mark = nullptr);
  /// The event after the gate. Each stream that is to be held must wait for it.
  cudaEvent_t closed() const { return behind_.get(); }
  void release() noexcept;
  /// Opens the gate and waits until its kernel has ended.
  void drain() noexcept;
  /// Whether the gate has reached its time limit since it was last closed. The result is final once the held streams
  /// have ended.
  bool timed_out() const noexcept;
  Seconds limit() const { return limit_; }

 private:
  /// Flags in host memory that the kernel reads and writes, each in its own cache line (64 bytes).
  struct Flags {
    alignas(64) std::uint32_t open;
    alignas(64) std::uint32_t timed_out;
  };

  const Api& api_;
  OwnContext own_;
  Seconds limit_;
  PinnedMemory memory_;
  Flags* flags_ = nullptr;         ///< host address of the flags
  Flags* device_flags_ = nullptr;  ///< device address of the flags
  Event behind_;
  StreamHandle stream_;
};

/// The gates of a device's GPUs. All executions share them, because creating a gate takes milliseconds.
class Gates {
 public:
  explicit Gates(const Api& api) : api_(api) {}

  /// Exclusive use of a gate.
  class Use {
   public:
    /// Throws Error when the calling thread uses the gate already, because it would wait for itself.
    Use(Gate&, std::mutex&, std::atomic<std::thread::id>& user);
    Gate* operator->() const { return gate_; }

   private:
    Gate* gate_;
    std::unique_lock<std::mutex> lock_;
  };
  /// Takes the gate of a GPU (by device number), which the calling thread has selected. It waits until the gate is
  /// free. The destructor of the result frees it. Throws Error when the calling thread uses it already.
  Use take(int gpu);

 private:
  struct One {
    explicit One(const Api& api) : gate(api) {}
    Gate gate;
    std::mutex mutex;
    std::atomic<std::thread::id> user{};  ///< thread that uses the gate, valid while the mutex is locked
  };
  const Api& api_;
  std::mutex mutex_;
  std::map<int, std::unique_ptr<One>> gates_;
};

/// The kernel of the gate, for the runtime's queries about kernels.
const void* gate_kernel();

}  // namespace shiplap
