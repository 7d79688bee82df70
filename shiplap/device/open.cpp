#include "shiplap/device/open.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/core/spelling.hpp"
#include "shiplap/device/device_name.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/profile/more_gpus.hpp"
#include "shiplap/profile/profile.hpp"

#if SHIPLAP_HAS_CUDA
#include "shiplap/device/cuda/cuda_device.hpp"
#endif

namespace shiplap {
namespace {

/// The functions of the CUDA backend that are needed here. In a build without CUDA they say why it is absent.
struct CudaBackend {
#if SHIPLAP_HAS_CUDA
  static int count(std::string& why_absent) { return count_cuda(why_absent); }
  static std::vector<DeviceInfo> list(std::string& why_absent) { return list_cuda(why_absent); }
  static std::unique_ptr<MeasurableDevice> open(const std::vector<int>& gpus) { return open_cuda(gpus); }
#else
  static constexpr std::string_view absent = "this shiplap was built without CUDA";
  static int count(std::string& why_absent) {
    why_absent = absent;
    return 0;
  }
  static std::vector<DeviceInfo> list(std::string& why_absent) {
    why_absent = absent;
    return {};
  }
  static std::unique_ptr<MeasurableDevice> open(const std::vector<int>& gpus) {
    throw Unsupported(fmt::format(
        "cannot open cuda:{}: {}; configure and build it again where nvcc is found, or use a virtual device",
        fmt::join(gpus, ","), absent));
  }
#endif
};

std::vector<std::string> virtual_names() {
  std::vector<std::string> names;
  for (const std::string& profile : built_in_profiles()) names.push_back(std::string(virtual_prefix) + profile);
  return names;
}

[[noreturn]] void refuse(std::string_view name) {
  std::string why_absent;
  std::vector<std::string> names;
  const int gpus = CudaBackend::count(why_absent);
  for (int i = 0; i < gpus; ++i) names.push_back(fmt::format("{}{}", cuda_prefix, i));
  for (std::string& virtual_name : virtual_names()) names.push_back(std::move(virtual_name));
  std::string hint = did_you_mean(name, names);
  if (const std::vector<std::string> profiles = built_in_profiles();
      std::ranges::find(profiles, name) != profiles.end())
    hint = fmt::format("did you mean {}{}? ", virtual_prefix, name);
  const std::string cuda = gpus == 0   ? "cuda:0 is the first GPU where there is one"
                           : gpus == 1 ? "cuda:0 is a GPU"
                                       : "cuda:0 and others are GPUs";
  throw UsageError(fmt::format(
      "unknown device \"{}\": {}{}, virtual:h200 or virtual:FILE a simulated one; `shiplap devices` lists all", name,
      hint, cuda));
}

}  // namespace

std::string profile_of_virtual_device(std::string_view name) {
  return name.starts_with(virtual_prefix) ? virtual_name(name.substr(virtual_prefix.size())).profile : "";
}

std::shared_ptr<MeasurableDevice> open(std::string_view name) {
  if (name.starts_with(cuda_prefix)) {
    const auto gpus = cuda_numbers(name.substr(cuda_prefix.size()));
    if (!gpus) refuse(name);
    return CudaBackend::open(*gpus);
  }
  if (!name.starts_with(virtual_prefix) || name.size() == virtual_prefix.size()) refuse(name);
  const VirtualName wanted = virtual_name(name.substr(virtual_prefix.size()));
  Profile profile = find_profile(wanted.profile);
  if (wanted.gpus) profile = with_gpus(std::move(profile), *wanted.gpus);
  return open_virtual(std::move(profile), printable(name));
}

DeviceListing list_devices() {
  DeviceListing result;
  std::string why_absent;
  result.devices = CudaBackend::list(why_absent);
  if (!why_absent.empty()) result.absent.push_back("cuda: " + why_absent);
  for (const std::string& name : virtual_names()) result.devices.push_back(open(name)->info());
  return result;
}

std::string default_device() {
  std::string why_absent;
  return CudaBackend::count(why_absent) > 0 ? "cuda:0" : "virtual:h200";
}

}  // namespace shiplap
