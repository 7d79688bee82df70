#include "shiplap/profile/more_gpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

Profile with_gpus(Profile profile, std::uint32_t gpus) {
  if (gpus > most_gpus)
    throw UsageError(fmt::format("`gpus` is too large: a job is shared among at most {} GPUs", most_gpus));
  if (gpus <= 1 || profile.gpus.empty()) return profile;
  while (profile.gpus.size() < gpus) profile.gpus.push_back(profile.gpus.front());
  for (std::uint16_t gpu = 1; gpu < gpus; ++gpu) {
    profile.gpus[gpu] = profile.gpus.front();
    if (profile.links.empty() || std::ranges::find(profile.links, gpu, &LinkModel::gpu) != profile.links.end())
      continue;
    LinkModel link = profile.links.front();
    link.gpu = gpu;
    profile.links.push_back(std::move(link));
  }
  return profile;
}

}  // namespace shiplap
