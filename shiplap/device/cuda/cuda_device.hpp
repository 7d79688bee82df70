// The CUDA device cuda:N, a GPU of this node. Users of this header need no CUDA header.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "shiplap/device/measurable_device.hpp"

namespace shiplap {

struct Api;
const Api& real_api();
struct RangeApi;
const RangeApi& nvtx_ranges();

/// Number of GPUs that the runtime sees. When it is 0, `why_absent` says why.
int count_cuda(std::string& why_absent, const Api& = real_api());

/// Opens cuda:`index`. Throws Unsupported naming what is missing: the driver, the GPU, or code for it in this build.
/// The tables must outlive the device and what was made with it.
std::unique_ptr<MeasurableDevice> open_cuda(int index, const Api& = real_api(), const RangeApi& = nvtx_ranges());
/// Opens several GPUs as one device: gpu i of its schedules is cuda:`gpus[i]`. Throws UsageError when one is named
/// twice.
std::unique_ptr<MeasurableDevice> open_cuda(const std::vector<int>& gpus, const Api& = real_api(),
                                            const RangeApi& = nvtx_ranges());

/// Facts of every GPU that CUDA describes, asked without a context on any of them. The free memory is NVML's, 0 where
/// it does not tell. `why_absent` receives the reason why there is no GPU, or why some cannot be described; else it is
/// empty.
std::vector<DeviceInfo> list_cuda(std::string& why_absent, const Api& = real_api());

}  // namespace shiplap
