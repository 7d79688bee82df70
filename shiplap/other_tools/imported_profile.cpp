#include "shiplap/other_tools/imported_profile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/profile/built_in.hpp"
#include "shiplap/profile/gpu_facts.hpp"

namespace shiplap {
namespace {

/// Difference between two runs of a sound node, which the printed figure does not show.
constexpr double between_imported_runs = 0.05;
/// Difference of the two directions of a link, where one is not measured.
constexpr double between_imported_directions = 1.5;
/// Size from which on a copy shows the rate of large copies.
constexpr Bytes large_copy = 1_MiB;
/// A copy whose size the tool does not print, while its fixed costs are below 1 % of its time.
constexpr Bytes unsaid_size = 64_MiB;

/// Costs of a copy apart from its bytes. The intervals hold those of the built-in profiles of an H100, an H200 and a
/// GTX Titan (1.8 to 9.4 µs and 0.9 to 4.2 µs).
constexpr Interval<Seconds> assumed_latency{microseconds(3.5), microseconds(1.8), microseconds(9.5)};
constexpr Interval<Seconds> assumed_gap{microseconds(2.3), microseconds(0.9), microseconds(4.2)};
constexpr const char* unmeasured = "the tool does not measure it";
constexpr const char* assumed_costs =
    "the tool does not measure it; assuming what the links of the built-in profiles take";

/// A time per copy, and how it was measured.
struct CopyTime {
  Interval<Seconds> time;
  bool back_to_back = false;
};
using CopyTimes = std::map<Bytes, CopyTime>;

Interval<Seconds> time_of(const ToolFigure& f) {
  const Bytes size = f.size.value_or(unsaid_size);
  const double spread = std::max(between_imported_runs, f.rounding / f.value);
  const Seconds time = f.unit == ToolUnit::seconds ? Seconds{f.value} : size / Bandwidth{f.value};
  return {time, time / (1 + spread), time * (1 + spread)};
}

/// The times by size of the figures that `wanted` accepts. Several times of a size are repetitions: the value is one in
/// the middle, and the interval holds all.
template <class Wanted>
CopyTimes times_of(const std::vector<ToolFigure>& figures, const Wanted& wanted) {
  std::map<Bytes, std::vector<ToolFigure>> by_size;
  for (const ToolFigure& f : figures)
    if (wanted(f)) by_size[f.size.value_or(unsaid_size)].push_back(f);
  CopyTimes times;
  for (auto& [size, repetitions] : by_size) {
    std::ranges::sort(repetitions, {}, [](const ToolFigure& f) { return time_of(f).value; });
    const ToolFigure& middle = repetitions[(repetitions.size() - 1) / 2];
    times[size] = {{time_of(middle).value, time_of(repetitions.front()).low, time_of(repetitions.back()).high},
                   middle.back_to_back};
  }
  return times;
}

std::vector<TimeAt> rows_of(const CopyTimes& times) {
  std::vector<TimeAt> rows;
  for (const auto& [size, copy] : times) rows.push_back({size, copy.time});
  return rows;
}

/// The measured rows and, where these lie far apart, rows between and below them. Such a row has the time of a small
/// copy and that of its bytes at the rate of the largest copy. Without a measured small copy, its time is assumed.
std::vector<TimeAt> rows_of_all_sizes(CopyTimes times) {
  constexpr Bytes small = 4_KiB;
  constexpr std::uint64_t apart = 4;
  const auto [largest, of_largest] = *times.rbegin();
  const Interval<Seconds> latency = times.begin()->first <= small ? times.begin()->second.time : assumed_latency;
  CopyTimes between;
  for (Bytes at = small; at < largest; at = at * apart) {
    const auto near = times.upper_bound(at / apart);
    if (near != times.end() && near->first < at * apart) continue;
    const double part = in_bytes(at) / in_bytes(largest);
    between[at].time = {latency.value + of_largest.time.value * part, latency.low + of_largest.time.low * part,
                        latency.high + of_largest.time.high * part};
  }
  times.merge(between);
  return rows_of(times);
}

/// G of the largest copy; nullopt when none is large.
std::optional<Interval<PerByte>> per_byte_of(const CopyTimes& times) {
  if (times.empty() || times.rbegin()->first < large_copy) return std::nullopt;
  const auto& [size, copy] = *times.rbegin();
  const auto per = [bytes = in_bytes(size)](Seconds t) { return PerByte{t.count() / bytes}; };
  return Interval<PerByte>{per(copy.time.value), per(copy.time.low), per(copy.time.high)};
}

/// The rest of a time after its bytes. What the error of G leaves open goes into the interval.
Interval<Seconds> without_bytes(const Interval<Seconds>& time, Bytes size, const Interval<PerByte>& per_byte) {
  const Seconds none{0};
  const Seconds value = std::max(none, time.value - size * per_byte.value);
  return {value, std::max(none, std::min(value, time.low - size * per_byte.high)),
          std::max(value, time.high - size * per_byte.low)};
}

/// A link, made of all figures of it.
class LinkOfFigures {
 public:
  LinkOfFigures(const std::vector<ToolFigure>& figures, std::string path, std::vector<Missing>& missing)
      : figures_(figures), path_(std::move(path)), missing_(missing) {}

  /// The link, or nullopt when no large copy of pinned memory was measured.
  std::optional<LinkModel> link() const {
    const CopyTimes h2d = times(ToolPrimitive::copy, CopyDirection::host_to_device, MemoryKind::pinned);
    const CopyTimes d2h = times(ToolPrimitive::copy, CopyDirection::device_to_host, MemoryKind::pinned);
    auto to_gpu = per_byte_of(h2d);
    auto to_host = per_byte_of(d2h);
    if (!to_gpu && !to_host) return std::nullopt;
    if (!to_gpu) to_gpu = assumed_as(*to_host, "h2d", "d2h");
    if (!to_host) to_host = assumed_as(*to_gpu, "d2h", "h2d");
    LinkModel link;
    link.gpu = static_cast<std::uint16_t>(figures_.front().gpu);
    link.numa_node = static_cast<std::uint16_t>(figures_.front().numa_node);
    link.h2d = direction(h2d, *to_gpu, CopyDirection::host_to_device, "h2d");
    link.d2h = direction(d2h, *to_host, CopyDirection::device_to_host, "d2h");
    link.pageable = pageable();
    link.managed = managed();
    return link;
  }

 private:
  CopyTimes times(ToolPrimitive primitive, CopyDirection way, MemoryKind memory) const {
    return times_of(figures_, [&](const ToolFigure& f) {
      return f.primitive == primitive && f.direction == way && f.memory == memory;
    });
  }

  Interval<PerByte> assumed_as(const Interval<PerByte>& other, const char* way, const char* other_way) const {
    missing_.push_back({fmt::format("{}.{}.per_byte", path_, way),
                        fmt::format("the tool does not measure it; assuming that of {}", other_way)});
    return {other.value,
            {other.low.seconds / between_imported_directions},
            {other.high.seconds * between_imported_directions}};
  }

  DirectionModel direction(const CopyTimes& copies, const Interval<PerByte>& per_byte, CopyDirection way,
                           const char* name) const {
    DirectionModel model{.per_byte = per_byte, .costs = {}, .duplex = {}};
    bool has_latency = false;
    bool has_gap = false;
    for (const auto& [size, copy] : copies) {
      if (size >= large_copy && !model.costs.empty()) break;  // the error of G hides what is not of the bytes
      if (size >= large_copy) continue;
      const Interval<Seconds> rest = without_bytes(copy.time, size, per_byte);
      (copy.back_to_back ? has_gap : has_latency) = true;
      model.costs.push_back({size, copy.back_to_back ? assumed_latency : rest, copy.back_to_back ? rest : assumed_gap});
    }
    if (model.costs.empty()) model.costs.push_back({4_KiB, assumed_latency, assumed_gap});
    if (!has_latency) missing_.push_back({fmt::format("{}.{}.costs.latency_overhead", path_, name), assumed_costs});
    if (!has_gap) missing_.push_back({fmt::format("{}.{}.costs.gap", path_, name), assumed_costs});
    if (const auto duplex = per_byte_of(times(ToolPrimitive::duplex_copy, way, MemoryKind::pinned))) {
      const auto no_faster = [&](PerByte g) { return std::max(g, per_byte.value); };
      model.duplex = DuplexModel{{no_faster(duplex->value), no_faster(duplex->low), no_faster(duplex->high)}, {}};
    }
    return model;
  }

  std::optional<PageableModel> pageable() const {
    const auto rows = [&](CopyDirection way) {
      const CopyTimes found = times(ToolPrimitive::copy, way, MemoryKind::pageable);
      return found.empty() ? std::vector<TimeAt>() : rows_of_all_sizes(found);
    };
    PageableModel model{rows(CopyDirection::host_to_device), rows(CopyDirection::device_to_host), {}};
    if (model.h2d.empty() || model.d2h.empty()) return std::nullopt;
    return model;
  }

  std::optional<ManagedModel> managed() const {
    const auto rows = [&](ToolPrimitive primitive, CopyDirection way) {
      return rows_of(times(primitive, way, MemoryKind::managed));
    };
    ManagedModel model{rows(ToolPrimitive::prefetch, CopyDirection::host_to_device),
                       rows(ToolPrimitive::prefetch, CopyDirection::device_to_host),
                       rows(ToolPrimitive::page_faults, CopyDirection::host_to_device),
                       {}};
    constexpr std::uint64_t most_threads = 4096;
    std::map<unsigned, TimeAt> largest;  // by threads
    for (const ToolFigure& f : figures_)
      if (f.primitive == ToolPrimitive::page_faults && f.direction == CopyDirection::device_to_host && f.threads >= 1 &&
          f.threads <= most_threads && f.size)
        if (TimeAt& row = largest[static_cast<unsigned>(f.threads)]; *f.size > row.size) row = {*f.size, time_of(f)};
    for (const auto& [threads, row] : largest)
      model.demand_d2h.push_back(
          {threads, {row.size / row.time.value, row.size / row.time.high, row.size / row.time.low}});
    if (model.prefetch_h2d.empty() || model.prefetch_d2h.empty() || model.demand_h2d.empty() ||
        model.demand_d2h.empty())
      return std::nullopt;
    return model;
  }

  const std::vector<ToolFigure>& figures_;
  std::string path_;
  std::vector<Missing>& missing_;
};

/// The figures by two of their indices.
template <class Wanted>
std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<ToolFigure>> figures_by(const ToolOutput& output,
                                                                                      std::uint64_t ToolFigure::*one,
                                                                                      std::uint64_t ToolFigure::*other,
                                                                                      const Wanted& wanted) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<ToolFigure>> groups;
  for (const ToolFigure& f : output.figures)
    if (wanted(f.primitive)) groups[{f.*one, f.*other}].push_back(f);
  return groups;
}

bool is_between_gpus(ToolPrimitive p) { return p == ToolPrimitive::peer_copy || p == ToolPrimitive::staged_peer_copy; }
bool is_of_link(ToolPrimitive p) { return !is_between_gpus(p) && p != ToolPrimitive::copy_within; }

/// The links. Of those of a GPU, which have different NUMA nodes, the fastest comes first.
void add_links(const ToolOutput& output, Profile& profile) {
  struct Found {
    const std::vector<ToolFigure>* figures;
    std::uint64_t gpu;
    PerByte per_byte;
  };
  const auto groups = figures_by(output, &ToolFigure::gpu, &ToolFigure::numa_node, is_of_link);
  std::vector<Found> all;
  for (const auto& [key, figures] : groups) {
    std::vector<Missing> ignored;
    if (const auto link = LinkOfFigures(figures, "", ignored).link())
      all.push_back({&figures, key.first, link->h2d.per_byte.value});
  }
  std::ranges::stable_sort(
      all, [](const Found& a, const Found& b) { return a.gpu != b.gpu ? a.gpu < b.gpu : a.per_byte < b.per_byte; });
  for (const Found& found : all) {
    const std::string path = fmt::format("links[{}]", profile.links.size());
    profile.links.push_back(*LinkOfFigures(*found.figures, path, profile.missing).link());
    profile.missing.push_back({path, unmeasured});
  }
  if (profile.links.empty())
    profile.missing.push_back(
        {"links", fmt::format("{} has no copies of 1 MiB or more between pinned memory and a GPU", output.tool)});
}

void add_peers(const ToolOutput& output, Profile& profile) {
  for (const auto& [ends, figures] : figures_by(output, &ToolFigure::gpu, &ToolFigure::peer, is_between_gpus)) {
    const auto rows = [&figures = figures](ToolPrimitive primitive) {
      const CopyTimes found = times_of(figures, [&](const ToolFigure& f) { return f.primitive == primitive; });
      return found.empty() || found.rbegin()->first < large_copy ? std::vector<TimeAt>() : rows_of_all_sizes(found);
    };
    PeerModel peer;
    peer.from = static_cast<std::uint16_t>(ends.first);
    peer.to = static_cast<std::uint16_t>(ends.second);
    peer.direct = rows(ToolPrimitive::peer_copy);
    peer.staged = rows(ToolPrimitive::staged_peer_copy);
    if (ends.first == ends.second || (peer.direct.empty() && peer.staged.empty())) continue;
    if (peer.direct.empty() || peer.staged.empty())
      profile.missing.push_back({fmt::format("peers[{}]", profile.peers.size()), unmeasured});
    profile.peers.push_back(std::move(peer));
  }
}

/// Adds the GPUs and returns where their other parameters come from.
std::string add_gpus(const ToolOutput& output, const std::string& stated, Profile& profile) {
  std::size_t count = std::max<std::size_t>(1, output.gpus.size());
  for (const ToolFigure& f : output.figures) count = std::max<std::size_t>({count, f.gpu + 1, f.peer + 1});
  std::string name = stated;
  for (const std::string& printed : output.gpus)
    if (name.empty()) name = printed;
  if (name.empty())
    throw UsageError(
        fmt::format("{} does not print which GPU it used, so its memory and SMs are unknown; state it, as in shiplap "
                    "profiles import FILE --gpu NAME, by one of: {}",
                    output.tool, fmt::join(published_gpu_names(), ", ")));
  std::optional<Profile> measured = built_in_profile_of(name);
  if (measured && measured->origin != Origin::measured) measured.reset();  // published ones lack most of a GPU
  const std::optional<PublishedGpu> published = find_published_gpu(name);
  if (!measured && !published)
    throw UsageError(fmt::format(
        "the memory and SMs of {} are not known, so there can be no profile of it; state the known GPU that "
        "is most like it, as in shiplap profiles import FILE --gpu NAME, by one of: {}",
        name, fmt::join(published_gpu_names(), ", ")));
  GpuModel model = measured ? measured->gpus.front() : gpu_model(*published, name);
  for (std::size_t g = 0; g < count; ++g) {
    GpuModel gpu = model;
    if (stated.empty() && g < output.gpus.size() && !output.gpus[g].empty()) gpu.name = output.gpus[g];
    gpu.copy_bandwidth.reset();  // that of another GPU
    const CopyTimes within = times_of(
        output.figures, [&](const ToolFigure& f) { return f.primitive == ToolPrimitive::copy_within && f.gpu == g; });
    if (const auto per_byte = per_byte_of(within))
      gpu.copy_bandwidth = {bandwidth(per_byte->value), bandwidth(per_byte->high), bandwidth(per_byte->low)};
    if (!measured) profile.missing.push_back({fmt::format("gpus[{}]", g), unmeasured});
    profile.gpus.push_back(std::move(gpu));
  }
  profile.conditions["gpu.name"] = name;
  if (published && !published->link.empty()) profile.conditions["gpu.link"] = published->link;
  return measured ? fmt::format("the GPU's own parameters are those of the built-in profile {}", measured->name)
                  : std::string("the GPU's own parameters are those that NVIDIA publishes");
}

}  // namespace

Profile imported_profile(const ToolOutput& output, const ImportOptions& options) {
  Profile profile;
  profile.origin = Origin::imported;
  profile.conditions = output.conditions;
  const std::string from = add_gpus(output, options.gpu, profile);
  add_links(output, profile);
  add_peers(output, profile);
  profile.missing.push_back({"host", unmeasured});
  profile.missing.push_back({"submission", unmeasured});
  profile.source = fmt::format(
      "measured by {}, {} figures; {}{}", output.tool, output.figures.size(), from,
      profile.conditions.contains("gpu.link") ? "; gpu.link is the fastest link that the GPU can have" : "");
  const std::string gpu = kebab_case(profile.gpus.front().name);
  profile.name = !options.name.empty() ? options.name : (gpu.empty() ? "gpu" : gpu) + "-imported";
  return profile;
}

}  // namespace shiplap
