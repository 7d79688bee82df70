// Host threads that move bytes at the same time and share the bandwidth of the host's memory.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "shiplap/sim/resource.hpp"

namespace shiplap::sim {

/// Work of one kind by several threads at the same time. Every thread gets the same fraction of the rate that all
/// active threads reach together.
class HostThreads final : public Resource {
 public:
  /// Rate of all threads together in bytes per second, by their number.
  using Rate = std::function<double(std::size_t threads)>;

  explicit HostThreads(Rate rate) : rate_(std::move(rate)) {}

  void start(OpIndex op, double bytes, double now);
  OpIndex advance() override;

 private:
  void update_progress(double now);

  struct Work {
    OpIndex op;
    double remaining;
  };
  Rate rate_;
  std::vector<Work> active_;
  double updated_ = 0;
  double rate_per_thread_ = 0;  // in bytes per second, since `updated_`
};

}  // namespace shiplap::sim
