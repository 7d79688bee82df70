// Edits of a step: ops are removed, moved, replaced and added while dependencies stay right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "shiplap/advise/program_step.hpp"

namespace shiplap {

/// The number of a stream that no op of the step uses.
std::uint32_t free_stream(const ProgramStep&);

/// A new list of ops, made of ops of a step and of further ones. Dependencies on ops that are left out are dropped.
class StepEdit {
 public:
  /// Begins with an empty list.
  explicit StepEdit(const ProgramStep& step) : step_(step), new_index_(step.ops.size()) {}

  /// Appends an op of the step and returns it for changes. What waits for it in the step waits for it in the list.
  StepOp& keep(std::size_t op);
  /// Leaves an op of the step out. The thread's own time before it passes to the thread's next op that is appended,
  /// unless this time was spent for the op alone.
  void leave_out(std::size_t op, bool with_time_before = false);
  /// Appends a further op, whose `after` has indices in the list, and returns its index.
  std::size_t add(StepOp);
  /// What waits for `op` of the step waits for `index` of the list instead.
  void replace(std::size_t op, std::size_t index) { new_index_[op] = index; }
  /// Number of ops in the list.
  std::size_t size() const { return ops_.size(); }

  /// The step with the list.
  ProgramStep finish() &&;

 private:
  struct Listed {
    StepOp op;
    bool is_new;  ///< `after` has indices in the list
  };
  void pass_on(StepOp&);

  const ProgramStep& step_;
  std::vector<std::optional<std::size_t>> new_index_;
  std::vector<Listed> ops_;
  std::vector<std::pair<std::uint32_t, Seconds>> left_;  ///< host time of ops that were left out, by thread
};

}  // namespace shiplap
