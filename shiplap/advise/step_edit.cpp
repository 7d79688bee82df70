#include "shiplap/advise/step_edit.hpp"

#include <algorithm>
#include <utility>

namespace shiplap {

std::uint32_t free_stream(const ProgramStep& step) {
  std::uint32_t most = 0;
  for (const StepOp& op : step.ops) most = std::max(most, op.stream);
  return most + 1;
}

void StepEdit::pass_on(StepOp& op) {
  std::erase_if(left_, [&](const auto& left) {
    if (left.first != op.thread) return false;
    op.host_before += left.second;
    return true;
  });
}

StepOp& StepEdit::keep(std::size_t op) {
  new_index_[op] = ops_.size();
  ops_.push_back({step_.ops[op], false});
  pass_on(ops_.back().op);
  return ops_.back().op;
}

void StepEdit::leave_out(std::size_t op, bool with_time_before) {
  if (!with_time_before) left_.emplace_back(step_.ops[op].thread, step_.ops[op].host_before);
}

std::size_t StepEdit::add(StepOp op) {
  pass_on(op);
  ops_.push_back({std::move(op), true});
  return ops_.size() - 1;
}

ProgramStep StepEdit::finish() && {
  ProgramStep step = step_;
  step.ops.clear();
  for (Listed& listed : ops_) {
    if (!listed.is_new) {
      std::vector<EarlierOp> after;
      for (const EarlierOp& earlier : listed.op.after)
        if (const auto index = new_index_[earlier.op]) after.push_back({*index, earlier.steps});
      listed.op.after = std::move(after);
      if (auto& by = listed.op.handed_over_by) {
        const auto index = new_index_[by->op];
        if (index)
          by->op = *index;
        else
          by.reset();
      }
    }
    step.ops.push_back(std::move(listed.op));
  }
  // What remains at the end of a step is spent before the next one.
  for (const auto& [thread, time] : left_)
    for (StepOp& op : step.ops)
      if (op.thread == thread) {
        op.host_before += time;
        break;
      }
  return step;
}

}  // namespace shiplap
