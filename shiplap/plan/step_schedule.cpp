#include "shiplap/plan/step_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/schedule/join.hpp"
#include "shiplap/workload/array_place.hpp"

namespace shiplap {
namespace {

/// The alignment that cudaMalloc guarantees (CUDA C++ Programming Guide, "Device Memory Accesses").
constexpr std::uint64_t alignment = 256;
Bytes aligned(Bytes size) { return Bytes{(size.count + alignment - 1) / alignment * alignment}; }

/// Joins the passes of a plan.
class Joiner {
 public:
  Joiner(const Step& step, const StepFlow& flow, std::span<const std::shared_ptr<const Schedule>> of_kind,
         StepPlan& plan)
      : step_(step), flow_(flow), of_kind_(of_kind), plan_(plan), homes_(plan.arrays.arrays.size()) {}

  void join() {
    make_buffers();
    std::vector<std::string> names;
    for (const KindOfPass& kind : plan_.kinds) names.push_back(kind.job.name);
    for (std::size_t k = 0; k < names.size(); ++k) plan_.kernels.push_back(k);
    for (std::size_t p = 0; p < step_.parts.size(); ++p)
      if (const HostPart* const host = flow_.host(p)) {
        host_kernels_[p] = KernelId{static_cast<std::uint32_t>(names.size())};
        names.push_back(host->name);
        plan_.kernels.push_back(plan_.kinds.size() + p);
      }
    JoinedSchedule whole(buffers_, std::move(names));
    const std::vector<PartFlow> flows = flow_.with_homes(plan_.at_home);
    std::size_t pass = 0;
    for (std::size_t p = 0; p < flow_.parts();) {
      if (flow_.host(p) != nullptr) {
        add_host(whole, flows[p], p);
        ++p;
        continue;
      }
      const StepPass& one = plan_.passes[pass++];
      const KindOfPass& kind = plan_.kinds[one.kind];
      for (std::size_t q = p; q < p + one.parts; ++q)
        written_.insert(written_.begin(), flows[q].to_gpu.begin(), flows[q].to_gpu.end());
      bring_regions(whole, [&](const RegionOfHost& region) { return reaches(kind, region); });
      whole.append(*of_kind_[one.kind], places(one.kind), static_cast<std::uint32_t>(one.kind));
      plan_.in += kind.in;
      plan_.out += kind.out;
      p += one.parts;
    }
    bring_regions(whole, [](const RegionOfHost&) { return true; });
    copy_regions(whole, flows.back().to_host, false);
    Schedule joined = whole.finish();
    for (std::size_t a = 0; a < homes_.size(); ++a)
      if (plan_.at_home[a] && plan_.arrays.arrays[a].between == Between::gpu)
        joined.kept.push_back({.host = host(a), .gpu = homes_[a]});
    plan_.device_memory = memory_at(joined, Place::gpu());
    plan_.schedule = std::make_shared<const Schedule>(std::move(joined));
  }

 private:
  static BufferId host(std::size_t array) { return BufferId{static_cast<std::uint32_t>(array)}; }
  const Schedule& of_kind(std::size_t kind) const { return *of_kind_[kind]; }

  /// The host's memory of all arrays, the homes, and memory that passes use one after the other.
  void make_buffers() {
    for (std::size_t a = 0; a < homes_.size(); ++a) {
      const auto& [array, names, between] = plan_.arrays.arrays[a];
      const bool has_host_memory = array.data != nullptr || between != Between::temporary;
      buffers_.push_back({.name = array.name,
                          .place = place_of(array),
                          .memory = array.memory,
                          .size = has_host_memory ? array.size : Bytes{}});
    }
    for (std::size_t a = 0; a < homes_.size(); ++a) {
      if (!plan_.at_home[a]) continue;
      const Array& array = plan_.arrays.arrays[a].array;
      homes_[a] = BufferId{static_cast<std::uint32_t>(buffers_.size())};
      buffers_.push_back({.name = array.name + " on the GPU",
                          .place = Place::gpu(),
                          .memory = MemoryKind::device,
                          .size = array.size});
    }
    for (std::size_t k = 0; k < plan_.kinds.size(); ++k) {
      std::map<std::pair<bool, MemoryKind>, Bytes> used;
      for (std::size_t b = plan_.kinds[k].job.arrays.size(); b < of_kind(k).buffers.size(); ++b) {
        const Buffer& buffer = of_kind(k).buffers[b];
        if (home_of(k, buffer)) continue;
        used[{buffer.place.is_gpu(), buffer.memory}] += aligned(buffer.size);
      }
      for (const auto& [where, size] : used) {
        const auto [shared, is_new] = shared_.try_emplace(where, BufferId{static_cast<std::uint32_t>(buffers_.size())});
        if (is_new)
          buffers_.push_back({.name = where.first ? "rings on the GPU" : "rings on the host",
                              .place = where.first ? Place::gpu() : Place::host(),
                              .memory = where.second,
                              .size = {}});
        Bytes& largest = buffers_[shared->second.index()].size;
        largest = std::max(largest, size);
      }
    }
  }

  /// The array whose home the buffer of a pass is.
  std::optional<std::size_t> home_of(std::size_t kind, const Buffer& buffer) const {
    const KindOfPass& one = plan_.kinds[kind];
    for (std::size_t a = 0; a < one.arrays.size(); ++a)
      if (one.arrays[a] && plan_.at_home[*one.arrays[a]] && buffer.name == one.job.arrays[a].name + " on the GPU")
        return one.arrays[a];
    return std::nullopt;
  }

  std::vector<JoinedBuffer> places(std::size_t kind) const {
    const KindOfPass& one = plan_.kinds[kind];
    const Schedule& schedule = of_kind(kind);
    std::vector<JoinedBuffer> places;
    std::map<std::pair<bool, MemoryKind>, Bytes> used;
    for (std::size_t b = 0; b < schedule.buffers.size(); ++b) {
      const Buffer& buffer = schedule.buffers[b];
      if (b < one.arrays.size()) {
        places.push_back({host(one.arrays[b].value_or(0))});  // no op uses scratch of the caller
        continue;
      }
      if (const auto home = home_of(kind, buffer)) {
        places.push_back({homes_[*home]});
        continue;
      }
      const std::pair where{buffer.place.is_gpu(), buffer.memory};
      places.push_back({shared_.at(where), used[where]});
      used[where] += aligned(buffer.size);
    }
    return places;
  }

  /// Copies regions between the host and homes.
  void copy_regions(JoinedSchedule& whole, const std::vector<RegionOfHost>& regions, bool to_gpu) {
    if (regions.empty()) return;
    Schedule copies;
    copies.buffers = buffers_;
    copies.add_stream("in");
    copies.add_stream("compute");
    copies.add_stream("out");
    for (const RegionOfHost& one : regions) {
      const Region there{homes_[one.array], one.bytes.offset, one.bytes.length};
      const Region here{host(one.array), one.bytes.offset, one.bytes.length};
      copies.add({.what = to_gpu ? Copy{here, there} : Copy{there, here},
                  .stream = StreamId{to_gpu ? 0u : 2u},
                  .agent = AgentId{0},
                  .after = {},
                  .chunk = 0});
      (to_gpu ? plan_.in : plan_.out) += one.bytes.length;
    }
    std::vector<JoinedBuffer> same;
    for (std::uint32_t b = 0; b < buffers_.size(); ++b) same.push_back({BufferId{b}});
    whole.append(copies, same, 0);
  }

  void add_host(JoinedSchedule& whole, const PartFlow& flow, std::size_t position) {
    const HostPart& part = *flow_.host(position);
    // What an earlier part has written is newer than what the GPU has.
    bring_regions(whole, [&](const RegionOfHost& region) {
      return std::ranges::find(flow.to_host, region.array, &RegionOfHost::array) != flow.to_host.end();
    });
    copy_regions(whole, flow.to_host, false);
    Kernel kernel{
        .kernel = host_kernels_.at(position % step_.parts.size()), .work = part.time, .operands = {}, .flows = {}};
    for (const AccessOfHost& access : flow_.accesses(part))
      kernel.operands.push_back(
          {.region = {host(access.region.array), access.region.bytes.offset, access.region.bytes.length},
           .mode = access.mode});
    whole.append_host(std::move(kernel));
    written_.insert(written_.end(), flow.to_gpu.begin(), flow.to_gpu.end());
  }

  /// Whether kernels of the pass access any of the region. Others run beside the part of the host that writes it.
  static bool reaches(const KindOfPass& kind, const RegionOfHost& region) {
    for (std::size_t a = 0; a < kind.arrays.size(); ++a) {
      if (kind.arrays[a] != region.array) continue;
      const ByteRange reach = reach_of(kind.job, kind.job.arrays[a], {0, kind.job.items});
      if (reach.offset < region.bytes.offset + region.bytes.length && region.bytes.offset < reach.offset + reach.length)
        return true;
    }
    return false;
  }

  /// Brings what the host has written to the homes, where it is asked for.
  void bring_regions(JoinedSchedule& whole, const auto& is_asked) {
    std::vector<RegionOfHost> now;
    std::erase_if(written_, [&](const RegionOfHost& region) {
      if (is_asked(region)) now.push_back(region);
      return is_asked(region);
    });
    copy_regions(whole, now, true);
  }

  const Step& step_;
  const StepFlow& flow_;
  std::span<const std::shared_ptr<const Schedule>> of_kind_;
  StepPlan& plan_;
  std::vector<Buffer> buffers_;
  std::vector<BufferId> homes_;                             // by array; none without a home
  std::map<std::pair<bool, MemoryKind>, BufferId> shared_;  // by place (GPU or host) and kind of memory
  std::map<std::size_t, KernelId> host_kernels_;            // by part
  std::vector<RegionOfHost> written_;  // what the host has and the GPU does not have yet, where it has the array
};

}  // namespace

void join_passes(const Step& step, const StepFlow& flow, std::span<const std::shared_ptr<const Schedule>> of_kind,
                 StepPlan& plan) {
  Joiner(step, flow, of_kind, plan).join();
}

}  // namespace shiplap
