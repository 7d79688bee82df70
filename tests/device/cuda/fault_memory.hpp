// Memory and kernels for the schedules that faults are put into, and what must be in the output of a run that failed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "shiplap/device/cuda/check.hpp"
#include "shiplap/device/cuda/probe_kernels.hpp"
#include "shiplap/device/device.hpp"
#include "tests/device/cuda/fault_schedules.hpp"

namespace shiplap::testing {

inline constexpr std::byte untouched{0xee};

inline std::byte input_byte(std::size_t i) { return static_cast<std::byte>(i * 7 + 1); }

/// Inverts by itself, and makes the call that a real one makes: the fake refuses it on another GPU than the stream's.
inline KernelBinding inverting_kernel(const Api& api) {
  KernelBinding binding;
  binding.cuda = [&api](const Launch& l) {
    check(api, api.launch_kernel(empty_kernel(), dim3(1), dim3(1), nullptr, 0, static_cast<cudaStream_t>(l.stream)),
          "cudaLaunchKernel", "a kernel of the test");
    for (std::uint64_t i = 0; i < l.lengths[0].count; ++i) l.operands[1][i] = ~l.operands[0][i];
  };
  return binding;
}

/// Memory for a schedule's buffers: the first is the input, the last the output.
class FaultMemory {
 public:
  FaultMemory(Device& device, const Api& api, const Schedule& schedule, bool inverted) : inverted_(inverted) {
    for (std::uint32_t i = 0; i < schedule.buffers.size(); ++i) {
      const Buffer& b = schedule.buffers[i];
      const bool by_op = is_allocated_by_op(schedule, BufferId{i});
      memory_.push_back(by_op ? Memory() : device.allocate(b.place, b.memory, b.size));
      bindings.buffers.push_back(memory_.back().data());
    }
    // Neighbouring blocks change places, so that a list moves a chunk as a whole.
    indices_.resize(schedule.lists.size());
    for (std::size_t i = 0; i < indices_.size(); ++i)
      for (std::uint32_t k = 0; k < schedule.lists[i].count && !schedule.lists[i].regular; ++k)
        indices_[i].push_back(k ^ 1);
    for (const auto& indices : indices_) bindings.lists.emplace_back(indices);
    bindings.kernels.assign(schedule.kernels.size(), inverting_kernel(api));
    reset();
  }

  void reset() {
    const std::span<std::byte> input = memory_.front().bytes();
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = input_byte(i);
    std::ranges::fill(memory_.back().bytes(), untouched);
  }
  void expect_output() const {
    for (std::uint32_t c = 0; c < fault_chunks; ++c) EXPECT_TRUE(is_complete(c)) << "chunk " << c;
  }
  void expect_whole_chunks() const {
    for (std::uint32_t c = 0; c < fault_chunks; ++c) EXPECT_TRUE(is_complete(c) || is_untouched(c)) << "chunk " << c;
  }
  bool is_untouched(std::uint32_t c) const {
    return std::ranges::count(chunk(c), untouched) == static_cast<std::ptrdiff_t>(chunk(c).size());
  }
  bool is_complete(std::uint32_t c) const {
    for (std::size_t i = 0; i < fault_chunk.count; ++i) {
      const std::byte in = input_byte(c * fault_chunk.count + i);
      if (chunk(c)[i] != (inverted_ ? ~in : in)) return false;
    }
    return true;
  }

  Bindings bindings;

 private:
  std::span<const std::byte> chunk(std::uint32_t c) const {
    return memory_.back().bytes().subspan(c * fault_chunk.count, fault_chunk.count);
  }

  std::vector<Memory> memory_;
  std::vector<std::vector<std::uint32_t>> indices_;  // by list; empty for a regular one
  bool inverted_;
};

}  // namespace shiplap::testing
