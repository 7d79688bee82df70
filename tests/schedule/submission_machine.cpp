#include "tests/schedule/submission_machine.hpp"

#include <algorithm>

namespace shiplap::testing_orders {

SubmissionMachine::SubmissionMachine(const Schedule& schedule, ByteMachine& memory)
    : schedule_(schedule),
      memory_(memory),
      program_(submission(schedule)),
      next_(program_.agents.size()),
      submitted_(schedule.ops.size()),
      streams_(schedule.streams.size()),
      recorded_(program_.events),
      reached_(program_.events) {}

std::string SubmissionMachine::run(std::mt19937_64& random) {
  std::vector<std::size_t> able;
  do {
    able.clear();
    for (std::size_t i = 0; i < next_.size() + streams_.size(); ++i)
      if (i < next_.size() ? agent_is_able(i) : stream_is_able(i - next_.size())) able.push_back(i);
    if (able.empty()) break;
    const std::size_t one = able[random() % able.size()];
    if (one < next_.size())
      advance_agent(one, random);
    else
      advance_stream(one - next_.size(), random);
  } while (!able.empty());
  for (std::size_t a = 0; a < next_.size(); ++a)
    if (next_[a] < program_.agents[a].size()) return "an agent waits forever";
  for (std::uint32_t i = 0; i < schedule_.ops.size(); ++i)
    if (!memory_.has_ended(OpId{i})) return "op " + std::to_string(i) + " has not ended";
  return {};
}

bool SubmissionMachine::has_made_steps_of(OpId op) const {
  const std::size_t agent = schedule_.ops[op.index()].agent.index();
  const auto& steps = program_.agents[agent];
  return std::find_if(steps.begin() + static_cast<std::ptrdiff_t>(next_[agent]), steps.end(),
                      [&](const SubmissionStep& step) { return step.op == op; }) == steps.end();
}

bool SubmissionMachine::agent_is_able(std::size_t agent) const {
  if (next_[agent] == program_.agents[agent].size()) return false;
  const SubmissionStep& step = program_.agents[agent][next_[agent]];
  switch (step.kind) {
    case SubmissionStep::Kind::await:
      return has_made_steps_of(step.awaited);
    case SubmissionStep::Kind::synchronize:
      return !recorded_[step.event.index()] || reached_[step.event.index()];
    case SubmissionStep::Kind::submit:  // in the call that submits a copy of pageable memory it waits for the end of
                                        // the copy
      return step.stream.is_none() || !submitted_[step.op.index()] || memory_.has_ended(step.op);
    default:
      return true;
  }
}

void SubmissionMachine::advance_agent(std::size_t agent, std::mt19937_64& random) {
  const SubmissionStep& step = program_.agents[agent][next_[agent]];
  if (step.kind == SubmissionStep::Kind::submit && step.stream.is_none()) {
    memory_.advance(step.op, memory_.some_steps(step.op, random));
    if (!memory_.has_ended(step.op)) return;
  } else if (step.kind == SubmissionStep::Kind::submit && !submitted_[step.op.index()]) {
    submitted_[step.op.index()] = true;
    Item item{.step = step};
    for (std::uint32_t k = 0; k < step.batch; ++k) item.ops.push_back(OpId{step.op.value + k});
    streams_[step.stream.index()].push_back(std::move(item));
    if (blocks_agent(schedule_, schedule_.ops[step.op.index()])) return;
  } else if (step.kind == SubmissionStep::Kind::wait && recorded_[step.event.index()]) {
    streams_[step.stream.index()].push_back({.step = step});
  } else if (step.kind == SubmissionStep::Kind::record) {
    recorded_[step.event.index()] = true;
    // An agent that performs an op itself has ended it when it makes the next call.
    if (step.stream.is_none())
      reached_[step.event.index()] = true;
    else
      streams_[step.stream.index()].push_back({.step = step});
  }
  ++next_[agent];
}

bool SubmissionMachine::stream_is_able(std::size_t stream) const {
  if (streams_[stream].empty()) return false;
  const SubmissionStep& step = streams_[stream].front().step;
  return step.kind != SubmissionStep::Kind::wait || reached_[step.event.index()];
}

void SubmissionMachine::advance_stream(std::size_t stream, std::mt19937_64& random) {
  Item& item = streams_[stream].front();
  if (item.step.kind == SubmissionStep::Kind::record) reached_[item.step.event.index()] = true;
  if (!item.ops.empty()) {
    const OpId op = item.ops[random() % item.ops.size()];
    memory_.advance(op, memory_.some_steps(op, random));
    if (memory_.has_ended(op)) std::erase(item.ops, op);
    if (!item.ops.empty()) return;
  }
  streams_[stream].pop_front();
}

}  // namespace shiplap::testing_orders
