// Jobs with random kernels over shared arrays, for tests of what runs several of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "shiplap/workload/job.hpp"

namespace shiplap {

/// Jobs that hand arrays to each other. Each item of an output depends on all that the kernel may read for it.
class DrawnJobs {
 public:
  explicit DrawnJobs(std::uint32_t seed) : draw_(seed) {
    items_ = between(8, 90);
    const std::size_t arrays = between(2, 6);
    for (std::size_t a = 0; a < arrays; ++a) {
      elements_of_item_.push_back(2 * between(1, 2));
      data_.emplace_back(items_ * elements_of_item_.back());
      for (std::uint32_t& value : data_.back()) value = static_cast<std::uint32_t>(draw_());
    }
    sum_.assign(4, 0);
    const std::size_t count = between(2, 5);
    for (std::size_t j = 0; j < count; ++j) jobs_.push_back(drawn(j));
  }
  DrawnJobs(const DrawnJobs&) = delete;
  DrawnJobs& operator=(const DrawnJobs&) = delete;

  const std::vector<Job>& jobs() const { return jobs_; }
  std::vector<std::vector<std::uint32_t>>& data() { return data_; }
  std::vector<std::uint32_t>& sum() { return sum_; }
  bool was_out_of_bounds() const { return *out_of_bounds_; }
  std::uint64_t between(std::uint64_t low, std::uint64_t high) { return low + draw_() % (high - low + 1); }

  /// Runs the kernels one after the other over all items on the host.
  static void run_on_host(const std::vector<Job>& jobs) {
    for (const Job& job : jobs) {
      std::vector<std::byte*> operands;
      std::vector<Bytes> lengths;
      for (const Array& array : job.arrays) {
        operands.push_back(array.data);
        lengths.push_back(array.size);
      }
      const std::vector<Bytes> origins(job.arrays.size());
      job.binding.host(
          {.first_item = 0, .items = job.items, .operands = operands, .lengths = lengths, .origins = origins});
    }
  }

 private:
  Array array_of(std::size_t a, Role role) {
    return {.name = "a" + std::to_string(a),
            .role = role,
            .size = Bytes{data_[a].size() * sizeof(std::uint32_t)},
            .element = Bytes{sizeof(std::uint32_t)},
            .memory = MemoryKind::pinned,
            .data = reinterpret_cast<std::byte*>(data_[a].data())};
  }

  Job drawn(std::size_t number) {
    Job job;
    const std::uint64_t scale = between(1, 4) == 1 ? 2 : 1;
    job.items = items_ * scale;
    job.name = "k" + std::to_string(number);
    job.items_per_block = between(1, 3);
    std::vector<std::size_t> free(data_.size());
    for (std::size_t a = 0; a < free.size(); ++a) free[a] = a;
    std::ranges::shuffle(free, draw_);
    const std::size_t written = between(1, std::min<std::size_t>(2, free.size() - 1));
    for (std::size_t w = 0; w < written; ++w)
      job.arrays.push_back(array_of(free[w], between(0, 3) == 0 ? Role::inout : Role::out));
    const std::size_t read = between(1, std::min<std::size_t>(2, free.size() - written));
    for (std::size_t r = 0; r < read; ++r) {
      job.arrays.push_back(array_of(free[written + r], between(0, 9) == 0 ? Role::broadcast : Role::in));
      if (job.arrays.back().role == Role::in && between(0, 1) == 0)
        job.arrays.back().reach = halo(between(0, 2), between(0, 2));
    }
    if (between(0, 7) == 0)
      job.arrays.push_back({.name = "sum",
                            .role = Role::carried,
                            .size = Bytes{sum_.size() * sizeof(std::uint32_t)},
                            .element = Bytes{sizeof(std::uint32_t)},
                            .memory = MemoryKind::pinned,
                            .data = reinterpret_cast<std::byte*>(sum_.data())});
    const double work = static_cast<double>(between(1, 40)) * 1e-6;
    job.cost = {.points = {{job.items, Interval<Seconds>::exact(Seconds{work})}}, .origin = "stated"};
    job.binding.host = [arrays = job.arrays, items = job.items, number, bad = out_of_bounds_](const Launch& launch) {
      run(arrays, items, static_cast<std::uint32_t>(number), *bad, launch);
    };
    return job;
  }

  static void run(const std::vector<Array>& arrays, std::uint64_t items, std::uint32_t number, bool& bad,
                  const Launch& launch) {
    const auto per_item = [&](std::size_t a) { return arrays[a].size.count / sizeof(std::uint32_t) / items; };
    const auto at = [&](std::size_t a, std::uint64_t element) {
      const std::uint64_t origin = launch.origins[a].count / sizeof(std::uint32_t);
      if (element < origin || (element - origin + 1) * sizeof(std::uint32_t) > launch.lengths[a].count) {
        bad = true;
        element = origin;
      }
      return reinterpret_cast<std::uint32_t*>(launch.operands[a]) + (element - origin);
    };
    for (std::uint64_t i = launch.first_item; i < launch.first_item + launch.items; ++i) {
      std::uint32_t value = number * 2654435761u + static_cast<std::uint32_t>(i);
      for (std::size_t a = 0; a < arrays.size(); ++a) {
        const Array& array = arrays[a];
        if (array.role == Role::out || array.role == Role::carried) continue;
        const bool whole = array.role == Role::broadcast;
        const std::uint64_t first = whole ? 0 : i - std::min(i, array.reach.before);
        const std::uint64_t last = whole ? items - 1 : std::min(items - 1, i + array.reach.after);
        for (std::uint64_t e = first * per_item(a); e < (last + 1) * per_item(a); ++e) value = value * 31 + *at(a, e);
      }
      for (std::size_t a = 0; a < arrays.size(); ++a) {
        if (arrays[a].role == Role::carried) *at(a, 0) += value;
        if (is_output(arrays[a].role))
          for (std::uint64_t e = i * per_item(a); e < (i + 1) * per_item(a); ++e)
            *at(a, e) = value + static_cast<std::uint32_t>(e) * 7;
      }
    }
  }

  std::mt19937 draw_;
  std::uint64_t items_ = 0;
  std::vector<std::uint64_t> elements_of_item_;
  std::vector<std::vector<std::uint32_t>> data_;
  std::vector<std::uint32_t> sum_;
  std::vector<Job> jobs_;
  std::shared_ptr<bool> out_of_bounds_ = std::make_shared<bool>(false);
};

}  // namespace shiplap
