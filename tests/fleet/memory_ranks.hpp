// Ranks that are threads of a test.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/fleet/communicator.hpp"

namespace shiplap {

/// The messages of all ranks.
class Mail {
 public:
  explicit Mail(std::size_t ranks) : boxes_(ranks) {}
  std::size_t size() const { return boxes_.size(); }

  void put(std::size_t to, RankMessage message) {
    {
      const std::lock_guard lock(mutex_);
      boxes_.at(to).push_back(std::move(message));
    }
    changed_.notify_all();
  }
  std::optional<RankMessage> take(std::size_t rank, const Deadline& deadline) {
    std::unique_lock lock(mutex_);
    while (boxes_[rank].empty()) {
      if (deadline.passed()) return std::nullopt;
      changed_.wait_for(lock, std::min(deadline.left(), Seconds{1}));
    }
    RankMessage first = std::move(boxes_[rank].front());
    boxes_[rank].pop_front();
    return first;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::deque<RankMessage>> boxes_;
};

class MemoryRanks : public Communicator {
 public:
  MemoryRanks(Mail& mail, std::size_t rank) : mail_(mail), rank_(rank) {}
  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return mail_.size(); }
  void send(std::size_t to, const std::string& text) override { mail_.put(to, {.from = rank_, .text = text}); }
  std::optional<RankMessage> receive(const Deadline& deadline) override { return mail_.take(rank_, deadline); }
  void abandon(std::size_t rank) override { abandoned.push_back(rank); }

  std::vector<std::size_t> abandoned;

 private:
  Mail& mail_;
  std::size_t rank_;
};

}  // namespace shiplap
