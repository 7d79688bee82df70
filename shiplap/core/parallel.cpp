#include "shiplap/core/parallel.hpp"

#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

#include "shiplap/core/host_limits.hpp"
#include "shiplap/core/thread.hpp"

namespace shiplap {

void parallel_for(std::uint64_t count, std::uint64_t grain,
                  const std::function<void(std::uint64_t, std::uint64_t)>& body) {
  const std::uint64_t grains = grain == 0 ? 1 : (count + grain - 1) / grain;
  const std::uint64_t workers = std::min<std::uint64_t>(grains, usable_cpus());
  if (workers < 2) {
    if (count > 0) body(0, count);
    return;
  }
  std::vector<std::exception_ptr> failures(workers);
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t w = 0; w < workers; ++w) {
      const std::uint64_t begin = grains * w / workers * grain;
      const std::uint64_t end = std::min(count, grains * (w + 1) / workers * grain);
      threads.push_back(start_thread([&, begin, end, w] {
        try {
          body(begin, end);
        } catch (...) {
          failures[w] = std::current_exception();
        }
      }));
    }
  }
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace shiplap
