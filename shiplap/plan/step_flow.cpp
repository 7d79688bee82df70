#include "shiplap/plan/step_flow.hpp"

#include <algorithm>
#include <utility>

namespace shiplap {
namespace {

/// A part of the host that accesses more than this fraction of an array has all of it copied back with the kernel.
constexpr double most_by_regions = 0.5;

/// The regions by array and offset, with those that touch as one.
std::vector<RegionOfHost> united(std::vector<RegionOfHost> regions) {
  std::ranges::sort(regions, {}, [](const RegionOfHost& one) { return std::pair(one.array, one.bytes.offset); });
  std::vector<RegionOfHost> apart;
  for (const RegionOfHost& one : regions) {
    const Bytes end = one.bytes.offset + one.bytes.length;
    if (apart.empty() || apart.back().array != one.array ||
        apart.back().bytes.offset + apart.back().bytes.length < one.bytes.offset) {
      apart.push_back(one);
      continue;
    }
    ByteRange& before = apart.back().bytes;
    before.length = std::max(before.offset + before.length, end) - before.offset;
  }
  return apart;
}

}  // namespace

StepFlow::StepFlow(const Step& step, const StepArrays& arrays) : step_(step), arrays_(arrays) {
  const std::size_t count = arrays.arrays.size();
  mapped_.resize(count);
  for (std::size_t p = 0; p < step.parts.size(); ++p) {
    auto& roles = roles_.emplace_back(count);
    for (std::size_t a = 0; a < arrays.of_part[p].size(); ++a)
      if (const auto array = arrays.of_part[p][a]) {
        const Array& used = std::get<Job>(step.parts[p]).arrays[a];
        mapped_[*array] = mapped_[*array] || used.reach.elements;
        // A mapping need not give all elements, so that earlier values may live on.
        roles[*array] = used.role == Role::out && used.reach.elements ? Role::inout : used.role;
      }
  }
  needed_.assign(parts() + 1, std::vector<bool>(count));
  for (std::size_t a = 0; a < count; ++a) needed_[parts()][a] = arrays.arrays[a].between != Between::temporary;
  for (std::size_t p = parts(); p-- > 0;)
    for (std::size_t a = 0; a < count; ++a) {
      const auto use = role(p, a);
      needed_[p][a] = use ? *use != Role::out : needed_[p + 1][a];
    }
  for (std::size_t p = parts(); p-- > 0;)
    if (const HostPart* const one = host(p))
      for (const RegionOfHost& region : regions(*one, AccessMode::read))
        for (std::size_t q = p + 1; q-- > 0;) {  // until the kernel that writes what it reads
          needed_[q][region.array] = true;
          if (q > 0 && role(q - 1, region.array) == Role::out) break;
        }
}

/// The parts of arrays that the part of the host accesses, of which it writes those of `least` write.
std::vector<RegionOfHost> StepFlow::regions(const HostPart& part, AccessMode least) const {
  std::vector<RegionOfHost> found;
  for (const HostAccess& access : part.accesses) {
    if (access.size.count == 0 || (least == AccessMode::write && access.mode != AccessMode::write)) continue;
    for (std::size_t a = 0; a < arrays_.arrays.size(); ++a) {
      const Array& array = arrays_.arrays[a].array;
      if (array.data != nullptr && access.data >= array.data && access.data < array.data + array.size.count)
        found.push_back({a, {Bytes{static_cast<std::uint64_t>(access.data - array.data)}, access.size}});
    }
  }
  return united(std::move(found));
}

std::vector<AccessOfHost> StepFlow::accesses(const HostPart& part) const {
  std::vector<AccessOfHost> all;
  const std::vector<RegionOfHost> written = regions(part, AccessMode::write);
  for (const RegionOfHost& one : regions(part, AccessMode::read)) {
    const Bytes end = one.bytes.offset + one.bytes.length;
    const bool is_written = std::ranges::any_of(written, [&](const RegionOfHost& other) {
      return other.array == one.array && other.bytes.offset < end &&
             one.bytes.offset < other.bytes.offset + other.bytes.length;
    });
    all.push_back({one, is_written ? AccessMode::write : AccessMode::read});
  }
  return all;
}

/// Whether the host needs all that the kernel at this position writes: at the end of the step, or for a part of the
/// host that accesses much of it, before another kernel writes the array.
bool StepFlow::is_left_to_host(std::size_t position, std::size_t array) const {
  for (std::size_t p = position + 1; p < parts(); ++p) {
    if (const auto use = role(p, array); use && is_written(*use)) return false;
    if (const HostPart* const one = host(p))
      for (const RegionOfHost& region : regions(*one, AccessMode::read))
        if (region.array == array &&
            in_bytes(region.bytes.length) > most_by_regions * in_bytes(arrays_.arrays[array].array.size))
          return true;
  }
  return arrays_.arrays[array].between == Between::host;
}

std::vector<PartFlow> StepFlow::with_homes(const std::vector<bool>& at_home) const {
  const std::size_t count = arrays_.arrays.size();
  std::vector<bool> on_gpu(count);
  std::vector<bool> on_host(count);
  for (std::size_t a = 0; a < count; ++a) {
    on_gpu[a] = arrays_.arrays[a].between != Between::host;
    on_host[a] = !on_gpu[a];
  }
  std::vector<PartFlow> flow(parts() + 1, {.arrives = std::vector<bool>(count), .leaves = std::vector<bool>(count)});
  for (std::size_t p = 0; p < parts(); ++p) {
    if (const HostPart* const one = host(p)) {
      for (const RegionOfHost& region : regions(*one, AccessMode::read))
        if (at_home[region.array] && !on_host[region.array]) flow[p].to_host.push_back(region);
      for (const RegionOfHost& region : regions(*one, AccessMode::write))
        if (at_home[region.array] && on_gpu[region.array]) flow[p].to_gpu.push_back(region);
      continue;
    }
    for (std::size_t a = 0; a < count; ++a) {
      const auto use = role(p, a);
      if (!use || !at_home[a]) continue;
      if (mapped_[a] && !on_gpu[a]) flow[p].to_gpu.push_back(whole(a));
      if (!mapped_[a] && *use != Role::out && !on_gpu[a]) flow[p].arrives[a] = true;
      on_gpu[a] = true;
      if (!is_written(*use)) continue;
      flow[p].leaves[a] = !mapped_[a] && is_left_to_host(p, a);
      on_host[a] = flow[p].leaves[a];
    }
  }
  for (std::size_t a = 0; a < count; ++a)
    if (at_home[a] && !on_host[a] && arrays_.arrays[a].between == Between::host)
      flow[parts()].to_host.push_back(whole(a));
  return flow;
}

}  // namespace shiplap
