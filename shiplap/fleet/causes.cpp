#include "shiplap/fleet/causes.hpp"

#include <algorithm>
#include <vector>

namespace shiplap {
namespace {

/// Names of figures that are low together, and what that means. The first entry whose figures are all low is the cause.
struct LikelyCause {
  std::vector<std::string> low;
  const char* text;
};
const std::vector<LikelyCause>& causes() {
  static const std::vector<LikelyCause> all{
      {{"bytes that arrived"}, "bytes change on their way: a broken link, memory or GPU"},
      {{"the link as it is trained"}, "the link trained down to fewer lanes or an older generation"},
      {{"device memory", "fp32 multiply-adds"}, "clocks of the GPU held down by power, heat or a setting"},
      {{"fp32 multiply-adds"}, "the SM clock held down by power, heat or a setting, or another process on the GPU"},
      {{"device memory"}, "the memory clock held down, or another process that uses device memory"},
      {{at_once_to_gpu, at_once_from_gpu},
       "host memory, or a switch that the GPUs share, gives less than on the peers"},
      {{at_once_to_gpu}, "reads of host memory by all GPUs: memory on one socket, or fewer memory channels"},
      {{at_once_from_gpu}, "writes to host memory by all GPUs: memory on one socket, or fewer memory channels"},
      {{"copies to the GPU", "copies from the GPU"},
       "a shared switch or slot, an IOMMU that translates, or memory on the far socket"},
      {{"copies to the GPU"}, "slow reads of host memory: the far socket, or another load on the host"},
      {{"copies from the GPU"}, "slow writes to host memory: the far socket, or another load on the host"},
      {{"kernels that read host memory", "kernels that write host memory"},
       "an IOMMU that translates, or host memory in pages of 4 KiB"},
      {{"kernels that read host memory"}, "an IOMMU that translates, or memory on the far socket"},
      {{"copies to the GPU while copies from it run"}, "host memory that is busy or too slow for both directions"},
      {{"copies from the GPU while copies to it run"}, "host memory that is busy or too slow for both directions"}};
  return all;
}

}  // namespace

std::string likely_cause(std::span<const Outlier> outliers) {
  const auto is_low = [&](const std::string& what) {
    return std::ranges::find(outliers, what, &Outlier::what) != outliers.end();
  };
  for (const LikelyCause& cause : causes())
    if (std::ranges::all_of(cause.low, is_low)) return cause.text;
  return outliers.empty() ? "" : outliers.front().causes;
}

}  // namespace shiplap
