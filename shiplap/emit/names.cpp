#include "shiplap/emit/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace shiplap {
namespace {

// A name that is not yet in `taken`; it is added.
std::string fresh(std::set<std::string>& taken, const std::string& wanted) {
  std::string name = wanted;
  for (int n = 2; !taken.insert(name).second; ++n) name = fmt::format("{}_{}", wanted, n);
  return name;
}

// Name of the function that the threads of these agents run.
std::string function_name(const std::string& agents) {
  return agents == "thread" ? "work" : identifier(agents) + "_thread";
}

std::string buffer_name(const Buffer& buffer, const std::string& array) {
  const std::string id = identifier(array);
  if (buffer.place.is_gpu()) return "gpu_" + id;
  if (buffer.name == array) return "host_" + id;
  return fmt::format("ring_{}{}", id,
                     buffer.name.ends_with(" in")    ? "_in"
                     : buffer.name.ends_with(" out") ? "_out"
                                                     : "");
}

}  // namespace

std::string identifier(const std::string& name) {
  std::string text;
  // std::isalnum would depend on the locale.
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  for (const char c : name) text += is_part(c) ? c : '_';
  return text;
}

Names::Names(const Job& job, const Schedule& schedule, const Structure& structure) {
  std::set<std::string> taken{"together"};
  for (std::size_t b = 0; b < schedule.buffers.size(); ++b) {
    const Buffer& one_buffer = schedule.buffers[b];
    std::optional<std::size_t> of;
    for (std::size_t a = 0; a < job.arrays.size() && !of; ++a) {
      const std::string& name = job.arrays[a].name;
      if (b < job.arrays.size()
              ? a == b
              : one_buffer.name == name + " on the GPU" || one_buffer.name == fmt::format("ring of {} in", name) ||
                    one_buffer.name == fmt::format("ring of {} out", name))
        of = a;
    }
    array.push_back(of);
    buffer.push_back(fresh(taken, buffer_name(one_buffer, of ? job.arrays[*of].name : one_buffer.name)));
  }
  std::vector<std::pair<std::string, bool>> stems;
  for (const Stream& stream : schedule.streams) {
    const std::pair shared(stem(stream.name), stream.urgent);
    const auto known = std::ranges::find(stems, shared);
    group.push_back(static_cast<std::size_t>(known - stems.begin()));
    if (known == stems.end()) {
      stems.push_back(shared);
      groups.push_back({.name = "", .count = 0, .urgent = stream.urgent});
    }
    number.push_back(groups[group.back()].count++);
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::string& shared = stems[g].first;
    const std::string name = shared == "stream" ? "stream" : identifier(shared) + "_stream";
    groups[g].name = fresh(taken, name + (groups[g].count > 1 ? "s" : ""));
  }
  std::set<std::string> taken_by_slots;
  for (const Slot& one_slot : structure.slots) {
    const auto first = std::ranges::find_if(one_slot.ops, [](OpId op) { return !op.is_none(); });
    const Op& op = schedule.ops[first->index()];
    const auto of = [&](const Region& region) {
      const auto owner = array[region.buffer.index()];
      const std::string id = identifier(owner ? job.arrays[*owner].name : schedule.buffers[region.buffer.index()].name);
      return id.empty() || (id[0] >= '0' && id[0] <= '9') ? "array_" + id : id;  // no variable begins with a digit
    };
    std::string name = "kernel";
    if (const auto* copy = std::get_if<Copy>(&op.what)) {
      const CopyDirection way = direction(schedule, *copy);
      name = of(copy->to) + (way == CopyDirection::host_to_device   ? "_in"
                             : way == CopyDirection::device_to_host ? "_out"
                                                                    : "_moved");
    } else if (const auto* host = std::get_if<HostCopy>(&op.what)) {
      name = of(host->to) + (host->to.buffer.index() < job.arrays.size() ? "_emptied" : "_filled");
    } else if (const auto* blocks = std::get_if<BlockCopy>(&op.what)) {
      const bool by_host = op.stream.is_none();
      name = of(blocks->packed) + (blocks->gather ? (by_host ? "_filled" : "_in") : (by_host ? "_emptied" : "_out"));
    } else if (const auto* prefetch = std::get_if<Prefetch>(&op.what)) {
      name = of(prefetch->region) + (prefetch->to.is_gpu() ? "_in" : "_out");
    } else if (const auto* call = std::get_if<HostCall>(&op.what)) {
      name = of(call->region) + "_touched";
    }
    slot.push_back(fresh(taken_by_slots, name));
  }
  std::set<std::string> taken_by_lanes;
  for (const Lane& one_lane : structure.lanes)
    lane.push_back(structure.lanes.size() == 1 && one_lane.agents == 1
                       ? "pipeline"
                       : fresh(taken_by_lanes, function_name(stem(schedule.agents[one_lane.first_agent].name))));
}

std::string Names::stream(StreamId stream) const {
  const StreamGroup& of = groups[group[stream.index()]];
  return of.count == 1 ? of.name : fmt::format("{}[{}]", of.name, number[stream.index()]);
}

}  // namespace shiplap
