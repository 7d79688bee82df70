// Steps that tests make op by op.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "shiplap/advise/program_step.hpp"

namespace shiplap {

/// A step of one thread. Each function appends an op and returns its index.
struct MadeStep {
  ProgramStep step;

  MadeStep() { step.time = Interval<Seconds>::exact(milliseconds(10)); }

  std::size_t in(Bytes size, MemoryKind memory = MemoryKind::pinned, std::uint32_t stream = 1) {
    return copy(size, memory, stream, true);
  }
  std::size_t out(Bytes size, MemoryKind memory = MemoryKind::pinned, std::uint32_t stream = 1) {
    return copy(size, memory, stream, false);
  }
  std::size_t kernel(Seconds time, std::uint32_t stream = 1, std::vector<EarlierOp> after = {}) {
    StepOp op{};
    op.kind = StepOp::Kind::kernel;
    op.name = "kernel";
    op.stream = stream;
    op.time = time;
    op.after = std::move(after);
    return add(std::move(op));
  }
  std::size_t wait(std::vector<EarlierOp> after) {
    StepOp op{};
    op.kind = StepOp::Kind::wait;
    op.name = "wait";
    op.after = std::move(after);
    return add(std::move(op));
  }
  StepOp& operator[](std::size_t op) { return step.ops[op]; }
  StepOp& last() { return step.ops.back(); }

 private:
  std::size_t add(StepOp op) {
    step.ops.push_back(std::move(op));
    return step.ops.size() - 1;
  }
  std::size_t copy(Bytes size, MemoryKind memory, std::uint32_t stream, bool to_device) {
    StepOp op{};
    op.kind = StepOp::Kind::copy;
    op.name = "copy";
    op.stream = stream;
    op.size = size;
    op.host_memory = memory;
    op.to_device = to_device;
    return add(std::move(op));
  }
};

/// Bytes that a step copies in one direction.
inline Bytes copied_bytes(const ProgramStep& step, bool to_device) {
  Bytes sum;
  for (const StepOp& op : step.ops)
    if (op.kind == StepOp::Kind::copy && op.to_device == to_device) sum += op.size;
  return sum;
}
/// Time of all kernels of a step.
inline Seconds kernel_time(const ProgramStep& step) {
  Seconds sum{0};
  for (const StepOp& op : step.ops)
    if (op.kind == StepOp::Kind::kernel) sum += op.time;
  return sum;
}
/// Host time before all calls of a step.
inline Seconds time_before_calls(const ProgramStep& step) {
  Seconds sum{0};
  for (const StepOp& op : step.ops) sum += op.host_before;
  return sum;
}
/// The ops of a step by the first letters of what they do: in, out, kernel, wait.
inline std::string letters_of(const ProgramStep& step) {
  std::string letters;
  for (const StepOp& op : step.ops)
    letters += op.kind == StepOp::Kind::wait ? 'w' : op.kind == StepOp::Kind::kernel ? 'k' : op.to_device ? 'i' : 'o';
  return letters;
}

#define EXPECT_MICROSECONDS(time_, expected_us) EXPECT_NEAR(in_microseconds(time_), expected_us, 1e-6)

}  // namespace shiplap
