// Holds streams back until the host has submitted everything: what is timed behind the gate contains no submission.
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

/// Time after which a gate opens by itself: long beside any submission, which takes a few microseconds for each op.
constexpr Seconds longest_held{10};

/// A kernel of one thread on a stream of its own that polls a flag in host memory. Other streams are held by waiting
/// for `closed()`. The kernel gives up after `limit`, so that a host that is blocked by a full hardware queue gets on.
class Gate {
 public:
  explicit Gate(const Api&, Seconds limit = longest_held);
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  /// Closes the gate; it must not be closed already. `mark`, where given, is recorded right behind it.
  void close(cudaEvent_t mark = nullptr);
  /// The event behind the gate, to be waited for by every stream that is to be held.
  cudaEvent_t closed() const { return behind_.get(); }
  void release() noexcept;
  /// Releases and waits until the gate's kernel has ended.
  void drain() noexcept;
  /// Whether the gate has opened by itself since it was last closed. To be asked once the held streams have ended.
  bool timed_out() const noexcept;
  Seconds limit() const { return limit_; }

 private:
  /// The flags are in host memory that the kernel reads and writes, each in a cache line of its own (64 bytes).
  struct Flags {
    alignas(64) std::uint32_t open;
    alignas(64) std::uint32_t timed_out;
  };

  const Api& api_;
  Seconds limit_;
  PinnedMemory memory_;
  Flags* flags_ = nullptr;         ///< as the host addresses them
  Flags* device_flags_ = nullptr;  ///< as the kernel addresses them
  Event behind_;
  StreamHandle stream_;
};

/// The gates of a device's GPUs, which its executions share: making one takes milliseconds.
class Gates {
 public:
  explicit Gates(const Api& api) : api_(api) {}

  /// A gate while nobody else uses it.
  class Use {
   public:
    /// Throws Error when the calling thread is the user already, because it would wait for itself.
    Use(Gate&, std::mutex&, std::atomic<std::thread::id>& user);
    Gate* operator->() const { return gate_; }

   private:
    Gate* gate_;
    std::unique_lock<std::mutex> lock_;
  };
  /// Takes the gate of a GPU (by the runtime's number), which the calling thread has selected. Waits until nobody else
  /// uses it; it is free again when the result is destroyed. Throws Error when the calling thread uses it already.
  Use take(int gpu);

 private:
  struct One {
    explicit One(const Api& api) : gate(api) {}
    Gate gate;
    std::mutex mutex;
    std::atomic<std::thread::id> user{};  ///< while the mutex is locked
  };
  const Api& api_;
  std::mutex mutex_;
  std::map<int, std::unique_ptr<One>> gates_;
};

/// The kernel of the gate, for the runtime's queries about kernels.
const void* gate_kernel();

}  // namespace shiplap
