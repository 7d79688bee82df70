// Memory and kernels for schedules of transfers, and what must be in the output of a run, also of one that failed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "shiplap/device/bindings.hpp"
#include "shiplap/device/device.hpp"
#include "tests/device/suite/transfers.hpp"

namespace shiplap::testing {

inline constexpr std::byte untouched{0xee};

inline std::byte input_byte(std::size_t i) { return static_cast<std::byte>(i * 7 + 1); }

/// Memory for a schedule's buffers: the first is the input, the last the output. `inverting` inverts its first operand
/// into its second.
class TransferMemory {
 public:
  TransferMemory(Device& device, const KernelBinding& inverting, const Schedule& schedule, bool inverted)
      : inverted_(inverted) {
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
    bindings.kernels.assign(schedule.kernels.size(), inverting);
    reset();
  }

  void reset() {
    const std::span<std::byte> input = memory_.front().bytes();
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = input_byte(i);
    std::ranges::fill(memory_.back().bytes(), untouched);
  }
  void expect_output() const {
    for (std::uint32_t c = 0; c < transfer_chunks; ++c) EXPECT_TRUE(is_complete(c)) << "chunk " << c;
  }
  void expect_whole_chunks() const {
    for (std::uint32_t c = 0; c < transfer_chunks; ++c) EXPECT_TRUE(is_complete(c) || is_untouched(c)) << "chunk " << c;
  }
  bool is_untouched(std::uint32_t c) const {
    return std::ranges::count(chunk(c), untouched) == static_cast<std::ptrdiff_t>(chunk(c).size());
  }
  bool is_complete(std::uint32_t c) const {
    for (std::size_t i = 0; i < transfer_chunk.count; ++i) {
      const std::byte in = input_byte(c * transfer_chunk.count + i);
      if (chunk(c)[i] != (inverted_ ? ~in : in)) return false;
    }
    return true;
  }
  /// Puts `what` in front of the kernels, for one chunk.
  void before_kernel_of(std::uint64_t chunk, const std::function<void(const Launch&)>& what) {
    for (KernelBinding& kernel : bindings.kernels)
      for (KernelFunction* function : {&kernel.host, &kernel.cuda})
        if (*function)
          *function = [chunk, what, then = *function](const Launch& l) {
            if (l.first_item == chunk) what(l);
            then(l);
          };
  }

  Bindings bindings;

 private:
  std::span<const std::byte> chunk(std::uint32_t c) const {
    return memory_.back().bytes().subspan(c * transfer_chunk.count, transfer_chunk.count);
  }

  std::vector<Memory> memory_;
  std::vector<std::vector<std::uint32_t>> indices_;  // by list; empty for a regular one
  bool inverted_;
};

}  // namespace shiplap::testing
