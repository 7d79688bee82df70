#include "shiplap/profile/more_gpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {
namespace {

/// The entries of a list that another list is made of, by their indices.
using Origins = std::vector<std::size_t>;

bool has_figures(const GpuModel& gpu) {
  return gpu.launch_latency || gpu.kernel_gap || gpu.handovers || gpu.resident_threads || gpu.memory_bandwidth ||
         gpu.copy_bandwidth || gpu.flop_rate;
}

/// Whether the profile has such a GPU that is not only counted.
bool has_own(const Profile& profile, std::size_t gpu) {
  return gpu < profile.gpus.size() && (has_figures(profile.gpus[gpu]) || !has_figures(profile.gpus.front()));
}

/// The index in a path such as "links[2].h2d" of an entry of the list `name`; nullopt for other paths.
std::optional<std::size_t> index_in(std::string_view path, std::string_view name) {
  if (!path.starts_with(name) || !path.substr(name.size()).starts_with('[')) return std::nullopt;
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(path.data() + name.size() + 1, path.data() + path.size(), index);
  const bool is_index = error == std::errc{} && end != path.data() + path.size() && *end == ']';
  return is_index ? std::optional(index) : std::nullopt;
}

/// What is said about the entries of the list `name`, for the list that is made of them.
template <class Entry>
std::vector<Entry> said_of(const std::vector<Entry>& entries, std::string_view name, const Origins& origins) {
  std::vector<Entry> result;
  for (const Entry& entry : entries) {
    const std::optional<std::size_t> index = index_in(entry.parameter, name);
    if (!index) {
      result.push_back(entry);
      continue;
    }
    const std::string rest = entry.parameter.substr(entry.parameter.find(']'));
    for (std::size_t i = 0; i < origins.size(); ++i) {
      if (origins[i] != *index) continue;
      result.push_back(entry);
      result.back().parameter = fmt::format("{}[{}{}", name, i, rest);
    }
  }
  return result;
}

void make_list(Profile& profile, std::string_view name, const Origins& origins) {
  profile.missing = said_of(profile.missing, name, origins);
  profile.residuals = said_of(profile.residuals, name, origins);
}

void make_gpus(Profile& profile, std::uint32_t gpus) {
  Origins origins;
  std::vector<GpuModel> models;
  for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
    origins.push_back(has_own(profile, gpu) ? gpu : 0);
    models.push_back(profile.gpus[origins.back()]);
  }
  profile.gpus = std::move(models);
  make_list(profile, "gpus", origins);
}

void make_links(Profile& profile, std::uint32_t gpus) {
  Origins origins;
  std::vector<LinkModel> links;
  const auto add = [&](const LinkModel& link, std::uint16_t gpu) {
    origins.push_back(static_cast<std::size_t>(&link - profile.links.data()));
    links.push_back(link);
    links.back().gpu = gpu;
  };
  for (const LinkModel& link : profile.links)
    if (link.gpu < gpus) add(link, link.gpu);
  const LinkModel* const first = profile.find_link(0);
  for (std::uint16_t gpu = 1; gpu < gpus && first != nullptr; ++gpu)
    if (profile.find_link(gpu) == nullptr) add(*first, gpu);
  profile.links = std::move(links);
  make_list(profile, "links", origins);
}

void make_peers(Profile& profile, std::uint32_t gpus) {
  Origins origins;
  std::vector<PeerModel> peers;
  for (std::size_t i = 0; i < profile.peers.size(); ++i) {
    if (profile.peers[i].from >= gpus || profile.peers[i].to >= gpus) continue;
    origins.push_back(i);
    peers.push_back(profile.peers[i]);
  }
  profile.peers = std::move(peers);
  make_list(profile, "peers", origins);
}

/// What the GPUs that are left share. Of GPUs that were not measured it is unknown what they share.
void make_shared(Profile& profile, std::uint32_t gpus) {
  Origins origins;
  std::vector<SharedRates> shared;
  for (std::size_t i = 0; i < profile.shared.size(); ++i) {
    SharedRates rates = profile.shared[i];
    std::erase_if(rates.gpus, [&](std::uint16_t gpu) { return gpu >= gpus; });
    if (rates.gpus.size() < 2) continue;
    origins.push_back(i);
    shared.push_back(std::move(rates));
  }
  profile.shared = std::move(shared);
  make_list(profile, "shared", origins);
}

}  // namespace

std::uint32_t own_gpus(const Profile& profile) {
  std::uint16_t gpu = 0;
  while (has_own(profile, gpu) && profile.find_link(gpu) != nullptr) ++gpu;
  return gpu;
}

GpuModel with_figures_of_first(const Profile& profile, std::size_t gpu) {
  GpuModel model = profile.gpus.at(gpu);
  const GpuModel& first = profile.gpus.front();
  if (model.name != first.name) return model;
  const auto complete = [&](auto member) {
    if (!(model.*member)) model.*member = first.*member;
  };
  complete(&GpuModel::stream_groups);
  complete(&GpuModel::launch_latency);
  complete(&GpuModel::kernel_gap);
  complete(&GpuModel::handovers);
  complete(&GpuModel::resident_threads);
  complete(&GpuModel::memory_bandwidth);
  complete(&GpuModel::copy_bandwidth);
  complete(&GpuModel::flop_rate);
  return model;
}

Profile with_gpus(Profile profile, std::uint32_t gpus) {
  if (gpus == 0) throw UsageError("`gpus` 0: a job runs on at least 1 GPU");
  if (gpus > most_gpus)
    throw UsageError(fmt::format("`gpus` is too large: a job is shared among at most {} GPUs", most_gpus));
  if (profile.gpus.empty()) return profile;
  make_gpus(profile, gpus);
  make_links(profile, gpus);
  make_peers(profile, gpus);
  make_shared(profile, gpus);
  return profile;
}

}  // namespace shiplap
