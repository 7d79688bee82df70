#include "shiplap/profile/derived.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "shiplap/profile/built_in.hpp"
#include "shiplap/profile/gpu_facts.hpp"
#include "shiplap/profile/link_rows.hpp"
#include "shiplap/profile/parameter_table.hpp"
#include "shiplap/profile/topology.hpp"
#include "shiplap/profile/what_if.hpp"

namespace shiplap {
namespace {

/// The measured profile from which everything comes that is not published.
constexpr std::string_view measured_profile = "h100";
/// How far times and rates of another machine may be from those of the measured one, to either side.
constexpr double apart = 2;
/// How much faster and slower a parameter of another machine may be.
struct Width {
  double faster = apart;
  double slower = apart;
};
void widen(Interval<Seconds>& time, Width by) {
  time.low = time.low / by.faster;
  time.high = time.high * by.slower;
}
void widen(Interval<PerByte>& time, Width by) {
  time.low.seconds /= by.faster;
  time.high.seconds *= by.slower;
}
void widen(Interval<Bandwidth>& rate, Width by) {
  rate.low.bytes_per_second /= by.slower;
  rate.high.bytes_per_second *= by.faster;
}
void widen(Estimate&, Width) {}  // plain numbers are counts

/// The width of a term. An assumed link reaches up to its limit already (what_if).
Width width_of(CostTerm term, double share_h2d, double share_d2h) {
  switch (term) {
    case CostTerm::h2d_rate:
      return {.faster = 1, .slower = std::max(1.0, share_h2d / sound_share_of_link)};
    case CostTerm::d2h_rate:
      return {.faster = 1, .slower = std::max(1.0, share_d2h / sound_share_of_link)};
    case CostTerm::both_rates:
      return {.faster = 1, .slower = std::max(1.0, std::max(share_h2d, share_d2h) / sound_share_of_link)};
    case CostTerm::zero_copy_rate:
      return {.faster = 1, .slower = apart};
    default:
      return {};
  }
}

/// Generation and lanes of a link, one after the other, as `what_if` takes them: "pcie4" and "x8".
std::pair<std::string, std::string> steps_to(std::string_view link) {
  constexpr std::array generations{std::pair{"2.5", "pcie1"},  std::pair{"5.0", "pcie2"},  std::pair{"8.0", "pcie3"},
                                   std::pair{"16.0", "pcie4"}, std::pair{"32.0", "pcie5"}, std::pair{"64.0", "pcie6"}};
  const std::string_view rate = link.substr(0, link.find(' '));
  const auto found = std::ranges::find(generations, rate, [](const auto& g) { return std::string_view(g.first); });
  return {std::string("link=") + (found == generations.end() ? "pcie4" : found->second),
          "link=" + std::string(link.substr(link.rfind('x')))};
}

/// The published GPU with the costs of its launches as measured on another one.
GpuModel with_launches_of(const GpuModel& measured, GpuModel gpu) {
  GpuModel result = measured;
  result.name = gpu.name;
  result.memory = gpu.memory;
  result.sm_count = gpu.sm_count;
  result.resident_threads = gpu.resident_threads;
  if (result.copy_bandwidth && measured.memory_bandwidth) {
    const double slower =
        gpu.memory_bandwidth->value.bytes_per_second / measured.memory_bandwidth->value.bytes_per_second;
    for (Bandwidth* rate : {&result.copy_bandwidth->value, &result.copy_bandwidth->low, &result.copy_bandwidth->high})
      rate->bytes_per_second *= slower;
  }
  result.memory_bandwidth = gpu.memory_bandwidth;
  result.flop_rate = gpu.flop_rate;
  return result;
}

/// The measured profile with another link, with the intervals of another machine.
Profile of_another_machine(std::string_view link, std::string_view gpu) {
  const auto [generation, lanes] = steps_to(link);
  const Profile measured = find_profile(measured_profile);
  Profile profile = what_if(what_if(measured, generation), lanes);
  profile.gpus.resize(1);
  profile.gpus.front().name = gpu;
  profile.links.resize(1);
  // The host limits these, so that they are those of another host and not in proportion to the link.
  profile.links.front().pageable = measured.links.front().pageable;
  profile.links.front().managed = measured.links.front().managed;
  profile.peers.clear();
  profile.shared.clear();
  const double limit = pcie_link_rate(std::string(link));
  const auto share = [&](const DirectionModel& way) { return bandwidth(way.per_byte.value).bytes_per_second / limit; };
  const double h2d = share(profile.links.front().h2d);
  const double d2h = share(profile.links.front().d2h);
  for_each_parameter(
      profile, [&](const ParameterInfo& info, auto& interval) { widen(interval, width_of(info.tag.term, h2d, d2h)); });
  for_each_unpinned(profile.links.front(),
                    [](auto& rows, const DirectionModel& pinned) { no_faster_than(rows, pinned); });
  for (const char* way : {"h2d", "d2h"})
    profile.missing.push_back({fmt::format("links[0].{}.per_byte", way),
                               fmt::format("nobody has measured it; assuming the share of the link's limit that copies "
                                           "reach in profile {}",
                                           measured_profile)});
  profile.conditions = {{"gpu.name", std::string(gpu)}, {"gpu.link", std::string(link)}};
  return profile;
}

}  // namespace

std::optional<Profile> derived_profile(std::string_view name, std::string_view link) {
  const std::optional<PublishedGpu> published = find_published_gpu(name);
  if (!published || published->link.empty()) return std::nullopt;
  const bool is_link = pcie_link_rate(std::string(link)) > 0;
  Profile profile = of_another_machine(is_link ? link : published->link, name);
  profile.gpus = {with_launches_of(profile.gpus.front(), gpu_model(*published, name))};
  profile.name = kebab_case(name);
  if (!profile.name.ends_with("-derived")) profile.name += "-derived";
  profile.origin = Origin::derived;
  profile.source = fmt::format(
      "memory, SMs, peak rates and link of the GPU as NVIDIA publishes them; copies reach the share of the link's "
      "limit "
      "that they reach in profile {}, and other times are those of that profile, within a factor of {:.0f}",
      measured_profile, apart);
  return profile;
}

Profile assumed_profile(std::string_view gpu) {
  Profile profile = of_another_machine("16.0 GT/s PCIe x16", gpu);
  profile.name = kebab_case(gpu) + "-assumed";
  profile.origin = Origin::assumed;
  profile.source = fmt::format(
      "nothing is known of this GPU but its name: all is as in profile {} on another link, within a factor of {:.0f}",
      measured_profile, apart);
  return profile;
}

std::optional<Profile> known_profile_of(std::string_view gpu, std::string_view link) {
  std::optional<Profile> built_in = built_in_profile_of(gpu);
  if (built_in && built_in->origin == Origin::measured) return built_in;
  std::optional<Profile> derived = derived_profile(gpu, link);
  return derived ? std::move(derived) : std::move(built_in);
}

}  // namespace shiplap
