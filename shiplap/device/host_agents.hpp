// Threads that make the calls of a schedule's host agents.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace shiplap {

/// One thread for each agent except the first, which uses the caller's thread. The threads are kept for many runs and
/// sleep between them.
class HostAgents {
 public:
  /// Calls `begin(a)` in the thread of each agent a except the first, and returns when all these calls have returned.
  /// An exception of `begin` is thrown by the constructor.
  explicit HostAgents(std::size_t agents, std::function<void(std::size_t)> begin = {});
  ~HostAgents();
  HostAgents(const HostAgents&) = delete;
  HostAgents& operator=(const HostAgents&) = delete;

  std::size_t count() const { return threads_.size() + 1; }
  /// Calls `work(a)` once for each agent a, concurrently, and returns when all calls have ended. All agents start
  /// together, once the last one is awake and `ready` has returned; that start time is the result. When agents throw,
  /// the others go on unless they look at `has_failed`, and `run` throws the first exception after all have ended. When
  /// `ready` throws, no work is started. The caller's thread calls `meanwhile` every 10 ms while it only waits for the
  /// others; what it throws counts as an exception of an agent.
  std::chrono::steady_clock::time_point run(const std::function<void(std::size_t)>& work,
                                            const std::function<void()>& ready = {},
                                            const std::function<void()>& meanwhile = {});
  /// Whether something has thrown in the current run.
  bool has_failed() const { return failed_.load(std::memory_order_acquire); }
  /// Whether the work of an agent has ended in the current run, also by an exception. An agent that waits for another
  /// one must poll this.
  bool has_ended(std::size_t agent) const { return ended_[agent].load(std::memory_order_acquire); }

 private:
  void leave();
  void serve(std::size_t agent);
  void perform(std::size_t agent);
  void note_failure();
  void wait_for_others(const std::function<void()>& meanwhile);

  std::atomic<std::uint32_t> round_{0};    // number of the run; a change wakes the threads
  std::atomic<std::uint32_t> started_{0};  // number of the run that may begin
  std::atomic<std::size_t> awake_{0};
  std::atomic<std::size_t> done_{0};
  std::unique_ptr<std::atomic<bool>[]> ended_;  // by agent
  std::atomic<bool> not_ready_{false};
  std::atomic<bool> failed_{false};
  std::atomic<bool> leaving_{false};
  const std::function<void(std::size_t)>* work_ = nullptr;
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::function<void(std::size_t)> begin_;
  std::atomic<std::size_t> begun_{0};
  std::vector<std::jthread> threads_;
};

}  // namespace shiplap
