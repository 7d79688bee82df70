#include "shiplap/fleet/coordinator_loopback.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/core/thread.hpp"
#include "shiplap/core/what_failed.hpp"

namespace shiplap {
namespace {

/// Longest wait for other ranks before the worker of this rank is heard again.
constexpr Seconds look_at_worker = milliseconds(100);
/// Longest wait at once. A condition variable cannot wait for an infinite time.
constexpr Seconds longest_wait{3600};

std::string message_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return what_failed(error);
  }
}

}  // namespace

CoordinatorLoopback::CoordinatorLoopback(Communicator& others) : others_(others) {
  if (others.rank() != 0) throw UsageError(fmt::format("rank {} cannot coordinate: rank 0 does", others.rank()));
}

void CoordinatorLoopback::Mailbox::push(std::string text) {
  {
    const std::lock_guard lock(mutex_);
    texts_.push_back(std::move(text));
  }
  filled_.notify_one();
}

std::optional<std::string> CoordinatorLoopback::Mailbox::pop(const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  while (texts_.empty()) {
    const Seconds left = std::min(deadline.left(), longest_wait);
    if (left <= Seconds{0}) return std::nullopt;
    filled_.wait_for(lock, left);
  }
  std::string first = std::move(texts_.front());
  texts_.pop_front();
  return first;
}

void CoordinatorLoopback::Coordinator::send(std::size_t to, const std::string& text) {
  if (to == 0)
    both_.to_worker_.push(text);
  else
    both_.others_.send(to, text);
}

std::optional<RankMessage> CoordinatorLoopback::Coordinator::receive(const Deadline& deadline) {
  for (;;) {
    if (auto text = both_.to_coordinator_.pop(Deadline(steady_time())))
      return RankMessage{.from = 0, .text = std::move(*text)};
    const Seconds left = deadline.left();
    if (auto message = both_.others_.receive(Deadline(steady_time() + std::clamp(left, Seconds{0}, look_at_worker))))
      return message;
    if (left <= Seconds{0}) return std::nullopt;
  }
}

void CoordinatorLoopback::Coordinator::abandon(std::size_t rank) {
  if (rank != 0) both_.others_.abandon(rank);
}

void CoordinatorLoopback::Worker::send(std::size_t to, const std::string& text) {
  if (to != 0) throw Error(fmt::format("the worker of rank 0 sends to rank 0 alone, not to rank {}", to));
  both_.to_coordinator_.push(text);
}

std::optional<RankMessage> CoordinatorLoopback::Worker::receive(const Deadline& deadline) {
  auto text = both_.to_worker_.pop(deadline);
  if (!text) return std::nullopt;
  return RankMessage{.from = 0, .text = std::move(*text)};
}

FleetRun coordinate_and_work(Communicator& others, const CoordinatorOptions& options, const RankWork& own_work,
                             Seconds longest_silence) {
  CoordinatorLoopback both(others);
  std::exception_ptr failure;
  FleetRun run;
  {
    std::jthread worker;
    try {
      worker = start_thread([&] {
        try {
          run_worker(both.worker(), own_work, longest_silence);
        } catch (...) {
          failure = std::current_exception();
          both.worker_has_ended();
        }
      });
      run = coordinate(both.coordinator(), options);
    } catch (...) {
      end_all_ranks(both.coordinator(), Deadline(steady_time() + options.begin_within));
      throw;
    }
  }
  if (failure) run.failed.push_back("rank 0: " + message_of(failure));
  return run;
}

}  // namespace shiplap
