#include "shiplap/device/host_agents.hpp"

#include <utility>

#include "shiplap/core/thread.hpp"

namespace shiplap {
namespace {

constexpr std::chrono::milliseconds between_calls{10};  // time between two calls of `meanwhile`

}  // namespace

HostAgents::HostAgents(std::size_t agents, std::function<void(std::size_t)> begin)
    : ended_(std::make_unique<std::atomic<bool>[]>(agents)), begin_(std::move(begin)) {
  try {
    for (std::size_t a = 1; a < agents; ++a) threads_.push_back(start_thread([this, a] { serve(a); }));
    while (begun_.load(std::memory_order_acquire) < threads_.size()) std::this_thread::yield();
    if (failure_) std::rethrow_exception(failure_);
  } catch (...) {  // threads that were started already must not wait for ever
    leave();
    throw;
  }
}

HostAgents::~HostAgents() { leave(); }

void HostAgents::leave() {
  leaving_ = true;
  ++round_;
  round_.notify_all();
}

std::chrono::steady_clock::time_point HostAgents::run(const std::function<void(std::size_t)>& work,
                                                      const std::function<void()>& ready,
                                                      const std::function<void()>& meanwhile) {
  work_ = &work;
  for (std::size_t agent = 0; agent < count(); ++agent) ended_[agent] = false;
  failure_ = nullptr;
  failed_ = false;
  not_ready_ = false;
  awake_ = 0;
  done_ = 0;
  const std::uint32_t round = ++round_;
  round_.notify_all();
  // Waking takes tens of microseconds, which do not count as work.
  while (awake_.load(std::memory_order_acquire) < threads_.size()) std::this_thread::yield();
  if (ready) {
    try {
      ready();
    } catch (...) {
      failure_ = std::current_exception();
      not_ready_ = true;
    }
  }
  const auto start = std::chrono::steady_clock::now();
  started_.store(round, std::memory_order_release);
  perform(0);
  wait_for_others(meanwhile);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  return start;
}

void HostAgents::wait_for_others(const std::function<void()>& meanwhile) {
  auto next = std::chrono::steady_clock::now() + between_calls;
  while (done_.load(std::memory_order_acquire) < threads_.size()) {
    std::this_thread::yield();
    if (!meanwhile || has_failed() || std::chrono::steady_clock::now() < next) continue;
    try {
      meanwhile();
    } catch (...) {
      note_failure();
    }
    next = std::chrono::steady_clock::now() + between_calls;
  }
}

void HostAgents::note_failure() {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::current_exception();
  failed_.store(true, std::memory_order_release);
}

void HostAgents::serve(std::size_t agent) {
  try {
    if (begin_) begin_(agent);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
  }
  ++begun_;
  for (std::uint32_t seen = 0;;) {
    round_.wait(seen);
    seen = round_;
    if (leaving_) return;
    ++awake_;
    while (started_.load(std::memory_order_acquire) != seen) std::this_thread::yield();
    perform(agent);
    ++done_;
  }
}

void HostAgents::perform(std::size_t agent) {
  if (not_ready_) return;
  try {
    (*work_)(agent);
  } catch (...) {
    note_failure();
  }
  ended_[agent].store(true, std::memory_order_release);
}

}  // namespace shiplap
