#include "shiplap/plan/abilities.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "shiplap/plan/link_states.hpp"

namespace shiplap {
namespace {

std::string without_link(const Profile& profile) {
  const auto named = std::ranges::find(profile.missing, "links", &Missing::parameter);
  return fmt::format("plans with a link that is stated (`with_link`){}",
                     named == profile.missing.end() ? "" : fmt::format(", because {}", named->reason));
}

}  // namespace

std::string abilities(const Profile& profile) {
  if (profile.links.empty()) return without_link(profile);
  const LinkModel& link = profile.links.front();
  std::vector<std::string> simulated{"pinned"};
  std::vector<std::string> absent;
  if (knows_zero_copy(link)) simulated.emplace_back("zero-copy");
  (link.pageable ? simulated : absent).emplace_back("pageable");
  (link.managed ? simulated : absent).emplace_back("managed");
  std::string text = fmt::format("plans {} memory by simulation", fmt::join(simulated, ", "));
  if (!knows_zero_copy(link)) text += ", zero-copy by the closed forms of van Werkhoven et al. 2014";
  if (!absent.empty()) text += fmt::format("; it has no figures for {} memory", fmt::join(absent, " and "));
  const GpuModel& gpu = profile.gpus.front();
  if (!gpu.memory_bandwidth || !gpu.flop_rate) text += "; kernel times must be stated (`kernel`)";
  return text;
}

}  // namespace shiplap
