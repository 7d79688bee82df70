// The arrays of a workload in memory, for tests that call its host kernel chunk by chunk.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "shiplap/workload/data.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap::testing {

class WorkloadMemory {
 public:
  /// Filled with the workload's data.
  explicit WorkloadMemory(Workload workload) : workload_(std::move(workload)) {
    for (const Array& a : workload_.job.arrays) memory_.emplace_back(size_on_host(a).count);
    workload_.fill(arrays());
  }
  explicit WorkloadMemory(const std::string& name) : WorkloadMemory(find_workload(name, {})) {}

  const Job& job() const { return workload_.job; }
  std::string verify() { return workload_.verify(arrays()); }
  /// Whether `verify` finds it when one bit of this byte is another one.
  bool finds_wrong_byte(std::size_t array, std::size_t byte) {
    memory_[array][byte] ^= std::byte{1};
    const bool found = !verify().empty();
    memory_[array][byte] ^= std::byte{1};
    return found;
  }

  std::vector<std::span<std::byte>> arrays() { return {memory_.begin(), memory_.end()}; }
  template <class T>
  std::span<T> array(std::size_t a) {
    return as_elements<T>(memory_[a]);
  }

  /// The host kernel on copies of exactly what the chunk reaches, and on scratch of its own.
  void run(ItemRange chunk) {
    const Job& job = workload_.job;
    std::vector<std::vector<std::byte>> pieces;
    std::vector<std::byte*> operands;
    std::vector<Bytes> lengths;
    std::vector<Bytes> origins;
    for (std::size_t a = 0; a < job.arrays.size(); ++a) {
      const Array& array = job.arrays[a];
      const ByteRange part = reach_of(job, array, chunk);
      if (array.role == Role::scratch) {  // has no memory on the host
        pieces.emplace_back(part.length.count);
      } else {
        const auto begin =
            memory_[array.prefix_of.value_or(a)].begin() + static_cast<std::ptrdiff_t>(part.offset.count);
        pieces.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(part.length.count));
      }
      operands.push_back(pieces.back().data());
      lengths.push_back(part.length);
      origins.push_back(part.offset);
    }
    job.binding.host({.first_item = chunk.first,
                      .items = chunk.count,
                      .operands = operands,
                      .lengths = lengths,
                      .origins = origins});
    for (std::size_t a = 0; a < job.arrays.size(); ++a)
      if (!memory_[a].empty())
        std::ranges::copy(pieces[a], memory_[a].begin() + static_cast<std::ptrdiff_t>(origins[a].count));
  }

  /// In chunks of so many items, and what is left.
  void run(std::uint64_t items_of_chunk) {
    for (std::uint64_t first = 0; first < job().items; first += items_of_chunk)
      run(ItemRange{first, std::min(items_of_chunk, job().items - first)});
  }
  void run_in(std::uint32_t chunks) {
    for (const ItemRange& chunk : cut_into_chunks(workload_.job, chunks)) run(chunk);
  }

  /// In chunks of 1, 2, 3 … items.
  void run_in_odd_chunks() {
    std::uint64_t first = 0;
    for (std::uint64_t count = 1; first < workload_.job.items; first += count, ++count)
      run({first, std::min(count, workload_.job.items - first)});
  }

 private:
  Workload workload_;
  std::vector<std::vector<std::byte>> memory_;
};

/// That nothing is found before the kernel ran but a fault, none after, and one when any single byte among the first,
/// the last and some between of each array is another.
inline void expect_that_every_byte_is_verified(const Workload& workload) {
  WorkloadMemory memory(workload);
  EXPECT_NE(workload.verify(memory.arrays()), "") << workload.job.name << ": the kernel has not run yet";
  memory.run({0, workload.job.items});
  EXPECT_EQ(workload.verify(memory.arrays()), "") << workload.job.name;
  for (std::size_t a = 0; a < workload.job.arrays.size(); ++a) {
    const std::span<std::byte> bytes = memory.arrays()[a];
    for (std::size_t i = 0; i < bytes.size(); i += i + 64 < bytes.size() ? 61 : 1) {
      for (const std::byte change : {std::byte{1}, std::byte{0x80}}) {
        bytes[i] ^= change;
        EXPECT_NE(workload.verify(memory.arrays()), "")
            << workload.job.name << ", array " << workload.job.arrays[a].name << ", byte " << i;
        bytes[i] ^= change;
      }
    }
  }
  EXPECT_EQ(workload.verify(memory.arrays()), "") << workload.job.name;
}

}  // namespace shiplap::testing
