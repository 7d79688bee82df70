// Host threads that move bytes at the same time and share the host's memory.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace shiplap::sim {

/// Work of the same sort, by several threads at once: each gets an equal share of what so many threads reach together.
class HostThreads {
 public:
  /// Bytes a second of all threads together, by their number.
  using Rate = std::function<double(std::size_t threads)>;

  void start(std::uint32_t op, double bytes, double now, const Rate&);
  /// The moment at which the next of them ends; infinity when none is at work.
  double next() const { return next_; }
  /// The op that ends at `next()`, the first of equals; it is at work no more.
  std::uint32_t retire(const Rate&);

 private:
  void settle(double now, const Rate&);

  struct Work {
    std::uint32_t op;
    double remaining;
  };
  std::vector<Work> at_work_;
  double updated_ = 0;
  double each_ = 0;  // bytes a second of one thread since `updated_`
  double next_ = never;

  static const double never;
};

}  // namespace shiplap::sim
