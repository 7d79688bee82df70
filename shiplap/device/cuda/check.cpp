#include "shiplap/device/cuda/check.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include "shiplap/core/error.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/device/host_work.hpp"

namespace shiplap {
namespace {

/// The file that was loaded as the driver library; "" when there is none.
std::string loaded_driver() {
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  link_map* map = nullptr;
  const bool is_known = library != nullptr && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr;
  std::string name = is_known ? printable(map->l_name) : "";
  if (library != nullptr) dlclose(library);
  return name;
}

std::string driver_remedy(const Api& api) {
  int driver = 0;
  int runtime = 0;
  if (api.driver_get_version(&driver) != cudaSuccess || driver == 0) {
    const std::string found = loaded_driver();
    return found.empty() ? "no NVIDIA driver was found: install one, or in a container pass the GPU through"
                         : fmt::format(
                               "{} was loaded and is no driver that works: take its folder from "
                               "LD_LIBRARY_PATH, or in a container pass the GPU through",
                               found);
  }
  if (api.runtime_get_version(&runtime) != cudaSuccess) return "update the NVIDIA driver";
  return fmt::format("the driver supports CUDA {} and this build needs {}: update the NVIDIA driver",
                     version_text(driver), version_text(runtime));
}

std::string memory_remedy(const Api& api) {
  std::size_t free = 0;
  std::size_t total = 0;
  std::string numbers;
  if (api.mem_get_info(&free, &total) == cudaSuccess)
    numbers = fmt::format("{} of {} are free on the GPU: ", to_string(Bytes{free}), to_string(Bytes{total}));
  return numbers +
         "use more chunks, a smaller ring or smaller arrays that stay on the GPU, or end other programs on this GPU";
}

// The driver pins memory by itself, so that `ulimit -l` does not bound it.
std::string pinned_memory_remedy() {
  const auto available = available_host_memory();
  return fmt::format(
      "{} of host memory are available: use smaller arrays, raise the limit of the container, or keep the arrays in "
      "pageable memory",
      available ? to_string(*available) : std::string("an unknown amount"));
}

std::string remedy(const Api& api, cudaError_t error, std::string_view call) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return call == "cudaHostAlloc" || call == "cudaHostRegister" ? pinned_memory_remedy() : memory_remedy(api);
    case cudaErrorInvalidValue:
      return call != "cudaHostRegister" ? ""
                                        : "memory that cannot be written and files that are mapped shared cannot be "
                                          "pinned: keep the arrays in pageable memory";
    case cudaErrorHostMemoryAlreadyRegistered:
      return "other code of this process has pinned a part of it: unpin that part first, or pin all of it there";
    case cudaErrorInsufficientDriver:
      return driver_remedy(api);
    case cudaErrorNoDevice:
      return "no GPU is visible: look at nvidia-smi and at CUDA_VISIBLE_DEVICES";
    case cudaErrorInvalidDevice:
      return "`shiplap devices` lists the GPUs there are";
    case cudaErrorDevicesUnavailable:
      return "another process holds the GPU, or its compute mode forbids a further one: look at nvidia-smi; or a "
             "kernel of this process has failed, after which CUDA refuses it the GPU: start the process again";
    case cudaErrorSystemNotReady:
    case cudaErrorSystemDriverMismatch:
      return "driver library and kernel module do not match or are not ready: reload the driver or restart the machine";
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
      return "this build has no code for this GPU: configure with -DCMAKE_CUDA_ARCHITECTURES=native and build again";
    case cudaErrorInvalidConfiguration:
    case cudaErrorLaunchOutOfResources:
      return "the grid or block does not fit this GPU: ask for fewer blocks or threads";
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorIllegalInstruction:
    case cudaErrorInvalidPc:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
      return "a kernel of this or an earlier op failed and its process cannot use the GPU any more: start again with "
             "CUDA_LAUNCH_BLOCKING=1 to have the op named, or under compute-sanitizer to have the access named";
    case cudaErrorECCUncorrectable:
      return "the GPU's memory has failed: look at nvidia-smi -q -d ECC";
    default:
      return {};
  }
}

bool is_missing_support(cudaError_t error) {
  switch (error) {
    case cudaErrorInsufficientDriver:
    case cudaErrorNoDevice:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorNotSupported:
      return true;
    default:
      return false;
  }
}

/// The file and line, with the path relative to the root of the source tree.
std::string place(const std::source_location& where) {
  const std::string_view file = where.file_name();
  const std::size_t root = file.rfind("shiplap/device/");
  return fmt::format("{}:{}", root == std::string_view::npos ? file.substr(file.rfind('/') + 1) : file.substr(root),
                     where.line());
}

}  // namespace

std::string version_text(int packed) { return fmt::format("{}.{}", packed / 1000, packed % 1000 / 10); }

std::string error_text(const Api& api, cudaError_t error) {
  return fmt::format("{} ({})", api.get_error_name(error), api.get_error_string(error));
}

void fail_call(const Api& api, cudaError_t error, std::string_view call, std::string_view context,
               std::source_location where) {
  static_cast<void>(api.get_last_error());
  std::string message = fmt::format("{} failed", call);
  if (!context.empty()) message += fmt::format(" ({})", context);
  message += fmt::format(": {}", error_text(api, error));
  if (const std::string what_to_do = remedy(api, error, call); !what_to_do.empty()) message += "; " + what_to_do;
  static_cast<void>(api.get_last_error());  // calls made for the remedy may have failed too
  if (is_missing_support(error)) throw Unsupported(message);
  throw Error(fmt::format("{} [{}]", message, place(where)));
}

}  // namespace shiplap
