#include "shiplap/profile/derived.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "shiplap/profile/built_in.hpp"
#include "shiplap/profile/gpu_facts.hpp"
#include "shiplap/profile/parameter_table.hpp"
#include "shiplap/profile/topology.hpp"
#include "shiplap/profile/what_if.hpp"

namespace shiplap {
namespace {

/// The measured profile from which everything comes that is not published.
constexpr std::string_view measured_profile = "h100";
/// How far times and rates of another machine may be from those of the measured one, to either side.
constexpr double apart = 2;

template <class T>
void widen(Interval<T>& interval, T (*scaled)(T, double)) {
  interval.low = scaled(interval.low, 1 / apart);
  interval.high = scaled(interval.high, apart);
}
void widen(Interval<Seconds>& time) {
  widen<Seconds>(time, [](Seconds t, double by) { return t * by; });
}
void widen(Interval<PerByte>& time) {
  widen<PerByte>(time, [](PerByte t, double by) { return PerByte{t.seconds * by}; });
}
void widen(Interval<Bandwidth>& rate) {
  widen<Bandwidth>(rate, [](Bandwidth b, double by) { return Bandwidth{b.bytes_per_second * by}; });
}
void widen(Estimate&) {}  // plain numbers are counts

/// The rates of the link are as wide already as an assumed link makes them.
bool is_of_link(CostTerm term) {
  return term == CostTerm::h2d_rate || term == CostTerm::d2h_rate || term == CostTerm::both_rates;
}

/// Zero-copy kernels of another GPU may be slower, and no faster than the link.
void slow_down(Interval<Bandwidth>& rate) { rate.low.bytes_per_second /= apart; }
void slow_down(Interval<PerByte>& time) { time.high.seconds *= apart; }
template <class T>
void slow_down(Interval<T>& other) {
  widen(other);
}

/// The least share of a link's limit that copies reach on sound machines, as `check` judges them. A GTX Titan on
/// PCIe 3.0 reaches 76 % (van Werkhoven et al. 2014, Table I).
constexpr double least_share = 0.72;

/// The slow end of a rate of the link: as slow as on a machine whose link reaches the least share.
void slow_down(Interval<PerByte>& time, double share) {
  time.high.seconds = std::max(time.high.seconds, time.value.seconds * share / least_share);
}
void slow_down(Interval<Bandwidth>& rate, double share) {
  rate.low.bytes_per_second = std::min(rate.low.bytes_per_second, rate.value.bytes_per_second / share * least_share);
}
template <class T>
void slow_down(Interval<T>&, double) {}  // fixed costs and numbers do not depend on the rate of the link

/// Generation and lanes of a link, one after the other, as `what_if` takes them: "pcie4" and "x8".
std::pair<std::string, std::string> steps_to(std::string_view link) {
  const std::string_view rate = link.substr(0, link.find(' '));
  const std::string generation = rate == "8.0" ? "pcie3" : rate == "16.0" ? "pcie4" : "pcie5";
  return {"link=" + generation, "link=" + std::string(link.substr(link.rfind('x')))};
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
  Profile profile = what_if(what_if(find_profile(measured_profile), generation), lanes);
  const double share =
      bandwidth(profile.links.front().h2d.per_byte.value).bytes_per_second / pcie_link_rate(std::string(link));
  for_each_parameter(profile, [share](const ParameterInfo& info, auto& interval) {
    if (is_of_link(info.tag.term))
      slow_down(interval, share);
    else if (info.tag.term == CostTerm::zero_copy_rate)
      slow_down(interval);
    else
      widen(interval);
  });
  profile.gpus.resize(1);
  profile.gpus.front().name = gpu;
  profile.links.resize(1);
  profile.peers.clear();
  profile.conditions = {{"gpu.name", std::string(gpu)}, {"gpu.link", std::string(link)}};
  return profile;
}

}  // namespace

std::optional<Profile> derived_profile(std::string_view name) {
  const std::optional<PublishedGpu> published = find_published_gpu(name);
  if (!published || published->link.empty()) return std::nullopt;
  Profile profile = of_another_machine(published->link, name);
  profile.gpus = {with_launches_of(profile.gpus.front(), gpu_model(*published, name))};
  profile.name = kebab_case(name) + "-derived";
  profile.origin = Origin::derived;
  profile.source = fmt::format(
      "memory, SMs, peak rates and link of the GPU as NVIDIA publishes them; copies reach the share of the link's "
      "limit "
      "that they reach in profile {}, and all other times are those of that profile, within a factor of {:.0f}",
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

std::optional<Profile> known_profile_of(std::string_view gpu) {
  std::optional<Profile> built_in = built_in_profile_of(gpu);
  if (built_in && built_in->origin == Origin::measured) return built_in;
  std::optional<Profile> derived = derived_profile(gpu);
  return derived ? std::move(derived) : std::move(built_in);
}

}  // namespace shiplap
