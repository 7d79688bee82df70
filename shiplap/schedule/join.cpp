#include "shiplap/schedule/join.hpp"

#include <algorithm>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/schedule/races.hpp"

namespace shiplap {
namespace {

bool conflict(const Op& one, const Op& other) {
  bool found = false;
  for_each_access(one, [&](const Region& a, AccessMode mode_a) {
    for_each_access(other, [&](const Region& b, AccessMode mode_b) {
      found = found || (a.buffer == b.buffer && a.offset < b.offset + b.length && b.offset < a.offset + a.length &&
                        (mode_a == AccessMode::write || mode_b == AccessMode::write));
    });
  });
  return found;
}

void place(Op& op, std::span<const JoinedBuffer> buffers, std::uint32_t first_kernel) {
  const auto move = [&](Region& region) {
    const JoinedBuffer& there = buffers[region.buffer.index()];
    region.buffer = there.buffer;
    region.offset += there.offset;
  };
  if (auto* copy = std::get_if<Copy>(&op.what)) {
    move(copy->from);
    move(copy->to);
  } else if (auto* host = std::get_if<HostCopy>(&op.what)) {
    move(host->from);
    move(host->to);
  } else if (auto* kernel = std::get_if<Kernel>(&op.what)) {
    kernel->kernel.value += first_kernel;
    for (Access& operand : kernel->operands) move(operand.region);
    for (Flow& flow : kernel->flows) flow.buffer = buffers[flow.buffer.index()].buffer;
  } else {
    throw Unsupported("several jobs cannot be one schedule where one of them has blocks or managed arrays");
  }
}

}  // namespace

JoinedSchedule::JoinedSchedule(std::vector<Buffer> buffers, std::vector<std::string> kernels) {
  whole_.buffers = std::move(buffers);
  whole_.kernels = std::move(kernels);
}

void JoinedSchedule::add(Op op) {
  add_waiting(op);
  whole_.ops.push_back(std::move(op));
}

/// Adds the parts of the host up to the last one that conflicts with the op.
void JoinedSchedule::add_waiting(const Op& next) {
  const auto last =
      std::ranges::find_if(waiting_.rbegin(), waiting_.rend(), [&](const Op& part) { return conflict(part, next); });
  const auto count = static_cast<std::size_t>(waiting_.rend() - last);
  for (std::size_t i = 0; i < count; ++i) whole_.ops.push_back(std::move(waiting_[i]));
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
}

void JoinedSchedule::append(const Schedule& part, std::span<const JoinedBuffer> buffers, std::uint32_t first_kernel) {
  if (part.as_graph) throw Unsupported("a graph cannot be a part of another schedule");
  for (std::size_t q = 0; q < part.streams.size(); ++q) {
    if (q == whole_.streams.size()) whole_.streams.push_back(part.streams[q]);
    if (whole_.streams[q].place != part.streams[q].place || whole_.streams[q].urgent != part.streams[q].urgent)
      throw Unsupported("parts of a schedule have streams of different GPUs");
  }
  std::vector<AgentId> agents;
  for (const Agent& agent : part.agents) {
    const auto known = std::ranges::find(whole_.agents, agent.name, &Agent::name);
    agents.push_back(AgentId{static_cast<std::uint32_t>(known - whole_.agents.begin())});
    if (known == whole_.agents.end()) whole_.agents.push_back(agent);
  }
  std::vector<OpId> placed;  // by op of the part
  for (Op op : part.ops) {
    place(op, buffers, first_kernel);
    op.agent = agents[op.agent.index()];
    op.chunk += parts_;
    for (OpId& dependency : op.after) dependency = placed[dependency.index()];
    add(std::move(op));
    placed.push_back(OpId{static_cast<std::uint32_t>(whole_.ops.size() - 1)});
  }
  std::uint32_t chunks = 0;
  for (const Op& op : part.ops) chunks = std::max(chunks, op.chunk + 1);
  parts_ += chunks;
}

void JoinedSchedule::append_host(Kernel kernel) {
  waiting_.push_back({.what = std::move(kernel), .stream = {}, .agent = AgentId{0}, .after = {}, .chunk = parts_++});
}

Schedule JoinedSchedule::finish() {
  for (Op& op : waiting_) whole_.ops.push_back(std::move(op));
  waiting_.clear();
  order_conflicts(whole_, OpId{0});
  return std::move(whole_);
}

}  // namespace shiplap
