#include "shiplap/advise/cuda_functions.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

namespace shiplap {
namespace {

// Names without the suffixes of versions. The longest name that the function begins with decides.
constexpr std::array watched_functions{
    std::pair{"cudaMemcpy", Reads::nothing},
    std::pair{"cudaMemcpy$", Reads::copy},
    std::pair{"cudaMemcpyAsync$", Reads::copy},
    std::pair{"cuMemcpy", Reads::nothing},
    std::pair{"cuMemcpyHtoD$", Reads::copy_from_host},
    std::pair{"cuMemcpyHtoDAsync$", Reads::copy_from_host},
    std::pair{"cuMemcpyDtoH$", Reads::copy},
    std::pair{"cuMemcpyDtoHAsync$", Reads::copy},
    std::pair{"cudaMemset", Reads::nothing},
    std::pair{"cuMemset", Reads::nothing},
    std::pair{"cudaMemPrefetch", Reads::nothing},
    std::pair{"cuMemPrefetch", Reads::nothing},
    std::pair{"cudaLaunch$", Reads::nothing},  // before CUDA 10
    std::pair{"cudaLaunchKernel", Reads::nothing},
    std::pair{"cudaLaunchCooperativeKernel", Reads::nothing},
    std::pair{"cudaModuleLaunch", Reads::nothing},     // a function of HIP
    std::pair{"cudaExtModuleLaunch", Reads::nothing},  // a function of HIP
    std::pair{"cudaMemcpyWithStream$", Reads::copy},   // a function of HIP
    std::pair{"cuLaunch$", Reads::nothing},
    std::pair{"cuLaunchGrid", Reads::nothing},
    std::pair{"cuLaunchKernel", Reads::nothing},
    std::pair{"cuLaunchCooperativeKernel", Reads::nothing},
    std::pair{"cudaGraphLaunch", Reads::nothing},
    std::pair{"cuGraphLaunch", Reads::nothing},
    std::pair{"cudaEventRecord", Reads::event_record},
    std::pair{"cuEventRecord", Reads::event_record},
    std::pair{"cudaStreamWaitEvent", Reads::stream_wait},
    std::pair{"cuStreamWaitEvent", Reads::stream_wait},
    std::pair{"cudaEventSynchronize", Reads::event_wait},
    std::pair{"cuEventSynchronize", Reads::event_wait},
    std::pair{"cudaStreamSynchronize", Reads::host_wait},
    std::pair{"cuStreamSynchronize", Reads::host_wait},
    std::pair{"cudaDeviceSynchronize", Reads::device_wait},
    std::pair{"cudaThreadSynchronize", Reads::device_wait},
    std::pair{"cuCtxSynchronize", Reads::device_wait},
    std::pair{"cudaMalloc", Reads::nothing},
    std::pair{"cudaFree", Reads::nothing},
    std::pair{"cudaHostAlloc", Reads::nothing},
    std::pair{"cudaHostRegister", Reads::nothing},
    std::pair{"cudaHostUnregister", Reads::nothing},
    std::pair{"cuMemAlloc", Reads::nothing},
    std::pair{"cuMemFree", Reads::nothing},
    std::pair{"cuMemHostAlloc", Reads::nothing},
    std::pair{"cuMemHostRegister", Reads::nothing},
    std::pair{"cuMemHostUnregister", Reads::nothing},
};

/// The length of the name without one suffix such as "_v3020", "_ptsz" or "_ptds", or of the whole name.
std::size_t without_suffix(std::string_view name) {
  const std::size_t at = name.rfind('_');
  if (at == std::string_view::npos) return name.size();
  const std::string_view suffix = name.substr(at + 1);
  const bool is_version = suffix.size() > 1 && suffix.front() == 'v' &&
                          std::ranges::all_of(suffix.substr(1), [](unsigned char c) { return std::isdigit(c) != 0; });
  return is_version || suffix == "ptsz" || suffix == "ptds" ? at : name.size();
}

}  // namespace

std::string_view name_in_programs(std::string_view name) {
  while (true) {
    const std::size_t length = without_suffix(name);
    if (length == name.size()) return name;
    name = name.substr(0, length);
  }
}

bool has_stream_per_thread(std::string_view name) {
  // A version may follow: "cudaMemcpyAsync_ptsz_v7000", but "cuMemcpyHtoDAsync_v2_ptsz".
  const std::string_view suffixes = name.substr(name_in_programs(name).size());
  return suffixes.find("_ptsz") != std::string_view::npos || suffixes.find("_ptds") != std::string_view::npos;
}

namespace {

/// The name of the function of CUDA that does the same as one of HIP.
std::string as_of_cuda(std::string_view name) {
  return name.starts_with("hip") ? "cuda" + std::string(name.substr(3)) : std::string(name);
}

}  // namespace

std::optional<Reads> watched(std::string_view name_in_cupti) {
  const std::string name = as_of_cuda(name_in_programs(name_in_cupti)) + "$";
  const std::pair<const char*, Reads>* longest = nullptr;
  for (const auto& function : watched_functions)
    if (name.starts_with(function.first) &&
        (longest == nullptr || std::string_view(longest->first).size() < std::string_view(function.first).size()))
      longest = &function;
  return longest == nullptr ? std::nullopt : std::optional(longest->second);
}

bool is_asynchronous(std::string_view name) {
  return name.find("Async") != name.npos || name.find("GraphLaunch") != name.npos;
}

bool is_query(std::string_view name) {
  constexpr std::array<std::string_view, 4> queries{"cudaStreamQuery", "cudaEventQuery", "cuStreamQuery",
                                                    "cuEventQuery"};
  return std::ranges::find(queries, as_of_cuda(name_in_programs(name))) != queries.end();
}

bool manages_memory(std::string_view name) {
  constexpr std::array parts{"Malloc", "Alloc", "Free", "Register", "Unregister"};  // the last two pin and unpin
  return std::ranges::any_of(parts, [&](const char* part) { return name.find(part) != name.npos; });
}

bool frees_memory(std::string_view name) {
  return name.find("Free") != name.npos || name.find("Unregister") != name.npos;
}

bool waits_for_all_work(std::string_view name) {
  // The last one is that of HIP, hipHostFree.
  constexpr std::array<std::string_view, 5> frees{"cudaFree", "cudaFreeHost", "cuMemFree", "cuMemFreeHost",
                                                  "cudaHostFree"};
  return std::ranges::find(frees, as_of_cuda(name_in_programs(name))) != frees.end();
}

}  // namespace shiplap
