// The two ends of rank 0, which coordinates the others and checks GPUs of its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>

#include "shiplap/fleet/communicator.hpp"
#include "shiplap/fleet/coordinator.hpp"
#include "shiplap/fleet/worker.hpp"

namespace shiplap {

/// Gives rank 0 two ends: one for its coordinator, which receives from all ranks, and one for its worker, which talks
/// to the coordinator in another thread. Only the coordinator's thread uses the connection to the other ranks.
class CoordinatorLoopback {
 public:
  /// `others` connects to the other ranks and must outlive this. Throws UsageError unless it is that of rank 0.
  explicit CoordinatorLoopback(Communicator& others);

  Communicator& coordinator() { return coordinator_; }
  Communicator& worker() { return worker_; }
  /// Says that the worker has ended without being told to, so that the coordinator does not wait for it.
  void worker_has_ended() { worker_has_ended_ = true; }

 private:
  /// Texts from one thread to another.
  class Mailbox {
   public:
    void push(std::string text);
    std::optional<std::string> pop(const Deadline&);

   private:
    std::mutex mutex_;
    std::condition_variable filled_;
    std::deque<std::string> texts_;
  };

  class Coordinator : public Communicator {
   public:
    explicit Coordinator(CoordinatorLoopback& both) : both_(both) {}
    std::size_t rank() const override { return 0; }
    std::size_t size() const override { return both_.others_.size(); }
    void send(std::size_t to, const std::string& text) override;
    std::optional<RankMessage> receive(const Deadline&) override;
    void abandon(std::size_t rank) override;
    bool has_ended(std::size_t rank) const override { return rank == 0 && both_.worker_has_ended_; }

   private:
    CoordinatorLoopback& both_;
  };

  class Worker : public Communicator {
   public:
    explicit Worker(CoordinatorLoopback& both) : both_(both) {}
    std::size_t rank() const override { return 0; }
    std::size_t size() const override { return both_.others_.size(); }
    /// Throws Error unless `to` is 0.
    void send(std::size_t to, const std::string& text) override;
    std::optional<RankMessage> receive(const Deadline&) override;
    void abandon(std::size_t) override {}

   private:
    CoordinatorLoopback& both_;
  };

  Communicator& others_;
  Mailbox to_coordinator_;
  Mailbox to_worker_;
  std::atomic<bool> worker_has_ended_{false};
  Coordinator coordinator_{*this};
  Worker worker_{*this};
};

/// Does the part of rank 0: coordinates all ranks, and works as one of them in another thread. `others` connects to the
/// other ranks. Throws as `coordinate` does.
FleetRun coordinate_and_work(Communicator& others, const CoordinatorOptions&, const RankWork&, Seconds longest_silence);

}  // namespace shiplap
