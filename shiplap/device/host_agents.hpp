// Threads that make the calls of a schedule's host agents.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace shiplap {

/// A thread for each agent but the first, which is the caller's. The threads are kept for many runs and sleep between
/// them.
class HostAgents {
 public:
  /// `begin(a)` is called first in the thread of each agent a but the first, and has returned there when the
  /// constructor does; what it throws, the constructor throws.
  explicit HostAgents(std::size_t agents, std::function<void(std::size_t)> begin = {});
  ~HostAgents();
  HostAgents(const HostAgents&) = delete;
  HostAgents& operator=(const HostAgents&) = delete;

  std::size_t count() const { return threads_.size() + 1; }
  /// Calls `work(a)` once for each agent a, at the same time: all begin when the last one is awake and `ready` has
  /// returned, at the time that is returned. Returns when all have ended. The first exception that one of them throws
  /// sets `stopped()`, so that agents that wait for others give up, and is thrown here; when `ready` throws, no work is
  /// begun.
  std::chrono::steady_clock::time_point run(const std::function<void(std::size_t)>& work,
                                            const std::function<void()>& ready = {});
  /// Whether an agent has failed in the present run. Whoever waits for another agent looks at it.
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

 private:
  void leave();
  void serve(std::size_t agent);
  void perform(std::size_t agent);

  std::atomic<std::uint32_t> round_{0};    // a new one wakes the threads
  std::atomic<std::uint32_t> started_{0};  // the round that may begin
  std::atomic<std::size_t> awake_{0};
  std::atomic<std::size_t> done_{0};
  std::atomic<bool> stopped_{false};
  std::atomic<bool> not_ready_{false};
  std::atomic<bool> leaving_{false};
  const std::function<void(std::size_t)>* work_ = nullptr;
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::function<void(std::size_t)> begin_;
  std::atomic<std::size_t> begun_{0};
  std::vector<std::jthread> threads_;
};

}  // namespace shiplap
