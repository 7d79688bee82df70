#include "shiplap/schedule/succession.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "shiplap/core/error.hpp"

namespace shiplap {
namespace {

/// The ids that the buffers of the schedule `one` have in the schedule of all.
std::vector<BufferId> place_buffers(Schedule& all, std::vector<BufferId>& of_slot, const Schedule& one) {
  for (std::size_t b = 0; b < one.buffers.size(); ++b) {
    const Buffer& wanted = one.buffers[b];
    if (b == of_slot.size()) {
      of_slot.push_back(all.add_buffer(wanted));
      continue;
    }
    Buffer& there = all.buffers[of_slot[b].index()];
    if (there.place != wanted.place || there.memory != wanted.memory)
      throw Error(fmt::format(
          "schedules of one slot share buffer {}, which is {} memory on {} in one and {} memory on {} in another", b,
          to_string(there.memory), to_string(there.place), to_string(wanted.memory), to_string(wanted.place)));
    there.size = std::max(there.size, wanted.size);
  }
  return of_slot;
}

void renumber(Op& op, std::uint32_t first_op, std::uint32_t first_kernel, std::uint32_t first_list,
              const std::vector<BufferId>& buffers) {
  const auto move = [&](Region& region) { region.buffer = buffers[region.buffer.index()]; };
  if (auto* copy = std::get_if<Copy>(&op.what)) {
    move(copy->from);
    move(copy->to);
  } else if (auto* kernel = std::get_if<Kernel>(&op.what)) {
    kernel->kernel.value += first_kernel;
    for (Access& operand : kernel->operands) move(operand.region);
    for (Flow& flow : kernel->flows) flow.buffer = buffers[flow.buffer.index()];
  } else if (auto* prefetch = std::get_if<Prefetch>(&op.what)) {
    move(prefetch->region);
  } else if (auto* blocks = std::get_if<BlockCopy>(&op.what)) {
    blocks->list.value += first_list;
    move(blocks->pool);
    move(blocks->packed);
  }
  for (OpId& dependency : op.after) dependency.value += first_op;
}

/// The number of the first kernel of `one` among those of all schedules. Equal lists of kernels are entered once.
std::uint32_t kernels_in(Schedule& all, const Schedule& one) {
  const auto there = std::search(all.kernels.begin(), all.kernels.end(), one.kernels.begin(), one.kernels.end());
  if (there != all.kernels.end() || one.kernels.empty()) return static_cast<std::uint32_t>(there - all.kernels.begin());
  all.kernels.insert(all.kernels.end(), one.kernels.begin(), one.kernels.end());
  return static_cast<std::uint32_t>(all.kernels.size() - one.kernels.size());
}

/// The last op of each stream among the ops [begin, end).
std::vector<OpId> ends(const Schedule& schedule, std::uint32_t begin, std::uint32_t end) {
  std::map<StreamId, OpId> last;
  for (std::uint32_t i = begin; i < end; ++i) last[schedule.ops[i].stream] = OpId{i};
  std::vector<OpId> result;
  for (const auto& [stream, op] : last) result.push_back(op);
  return result;
}

}  // namespace

void require_successive(const Schedule& schedule) {
  const auto refuse = [](const char* why) {
    throw Unsupported(fmt::format(
        "a schedule cannot be submitted after others to the same streams, because {}; run it on its own", why));
  };
  if (schedule.agents.size() != 1) refuse("it has several host agents");
  if (schedule.as_graph) refuse("it is a graph");
  if (!first_blocking(schedule).is_none()) refuse("the host performs some of its ops or waits for them");
}

void require_shareable(std::span<const Stream> existing, const Schedule& schedule) {
  require_successive(schedule);
  for (std::size_t q = 0; q < std::min(existing.size(), schedule.streams.size()); ++q) {
    if (existing[q].place != schedule.streams[q].place)
      throw Error(fmt::format("schedules cannot share stream {}, which is on {} in one and on {} in another", q,
                              to_string(existing[q].place), to_string(schedule.streams[q].place)));
    if (existing[q].urgent != schedule.streams[q].urgent)
      throw Error(fmt::format(
          "schedules cannot share stream {}, which is urgent in one of them only; make it urgent in all or in none",
          q));
  }
}

Succession succession(std::span<const Successor> successors) {
  Succession result;
  Schedule& all = result.schedule;
  std::map<std::uint32_t, std::vector<BufferId>> slots;
  std::vector<std::uint32_t> end;
  for (std::size_t number = 0; number < successors.size(); ++number) {
    const Successor& one = successors[number];
    const Schedule& schedule = *one.schedule;
    if (number == 0) {
      all.agents = schedule.agents;
      all.peer_access = schedule.peer_access;
    }
    require_shareable(all.streams, schedule);
    if (schedule.peer_access != all.peer_access)
      throw Error(
          "schedules in the same streams differ in `peer_access`, whether GPUs address each other's memory; give all "
          "the "
          "same");
    const std::uint32_t first_kernel = kernels_in(all, schedule);
    for (std::size_t q = all.streams.size(); q < schedule.streams.size(); ++q)
      all.streams.push_back(schedule.streams[q]);
    const auto first_list = static_cast<std::uint32_t>(all.lists.size());
    all.lists.insert(all.lists.end(), schedule.lists.begin(), schedule.lists.end());
    const std::vector<BufferId> buffers = place_buffers(all, slots[one.slot], schedule);
    OpId wait;
    if (one.awaited) {
      if (*one.awaited >= number) throw Error(fmt::format("schedule {} of a succession awaits a later one", number));
      wait = all.add({.what = HostCall{.kind = HostCall::Kind::wait},
                      .stream = {},
                      .agent = AgentId{0},
                      .after = ends(all, result.first[*one.awaited], end[*one.awaited]),
                      .chunk = 0});
    }
    const auto first = static_cast<std::uint32_t>(all.ops.size());
    result.first.push_back(first);
    std::vector<bool> begun(schedule.streams.size(), false);
    for (Op op : schedule.ops) {
      renumber(op, first, first_kernel, first_list, buffers);
      // A schedule does not imply the order of the host's calls, so the first op of each stream waits explicitly.
      if (!wait.is_none() && !begun[op.stream.index()]) op.after.push_back(wait);
      begun[op.stream.index()] = true;
      all.ops.push_back(std::move(op));
    }
    end.push_back(static_cast<std::uint32_t>(all.ops.size()));
  }
  result.first.push_back(static_cast<std::uint32_t>(all.ops.size()));
  return result;
}

Span Succession::span(const Timeline& timeline, std::size_t which) const {
  Span result;
  const std::uint32_t begin = first[which];
  std::uint32_t end = first[which + 1];
  if (which + 2 < first.size() && end > begin && schedule.ops[end - 1].stream.is_none())
    --end;  // the wait op of the next successor
  if (begin == end) return result;
  const Op& leading = schedule.ops[begin];
  for (const OpId before : leading.after)
    if (before.index() < begin) result.start = std::max(result.start, timeline.spans[before.index()].end);
  for (std::uint32_t i = begin; i-- > 0;) {
    if (schedule.ops[i].stream != leading.stream) continue;
    result.start = std::max(result.start, timeline.spans[i].end);
    break;
  }
  for (std::uint32_t i = begin; i < end; ++i) result.end = std::max(result.end, timeline.spans[i].end);
  result.engine = timeline.spans[begin].engine;
  return result;
}

}  // namespace shiplap
