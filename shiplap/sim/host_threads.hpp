// Host threads that move bytes at the same time and share the host's memory.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "shiplap/sim/resource.hpp"

namespace shiplap::sim {

/// Work of one kind by several threads at once: each gets an equal share of what as many threads reach together.
class HostThreads final : public Resource {
 public:
  /// Bytes a second of all threads together, by their number.
  using Rate = std::function<double(std::size_t threads)>;

  explicit HostThreads(Rate rate) : rate_(std::move(rate)) {}

  void start(OpIndex op, double bytes, double now);
  /// The first of those that end at the same time ends.
  OpIndex advance() override;

 private:
  void settle(double now);

  struct Work {
    OpIndex op;
    double remaining;
  };
  Rate rate_;
  std::vector<Work> at_work_;
  double updated_ = 0;
  double each_ = 0;  // bytes a second of one thread since `updated_`
};

}  // namespace shiplap::sim
