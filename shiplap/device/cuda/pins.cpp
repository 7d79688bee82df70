#include "shiplap/device/cuda/pins.hpp"

#include <fmt/format.h>

#include <vector>

#include "shiplap/device/cuda/check.hpp"
#include "shiplap/device/cuda/handles.hpp"
#include "shiplap/device/cuda/host_pages.hpp"
#include "shiplap/device/cuda/mappings.hpp"
#include "shiplap/device/pinned_regions.hpp"

namespace shiplap {
namespace {

using Context = std::function<std::string()>;

cudaMemoryType type_of(const Api& api, const std::byte* data, const Context& context) {
  cudaPointerAttributes found{};
  if (const cudaError_t error = api.pointer_get_attributes(&found, data); error != cudaSuccess)
    fail_call(api, error, "cudaPointerGetAttributes", context());
  return found.type;
}

}  // namespace

cudaMemoryType type_of_range(const Api& api, const std::byte* data, Bytes size, const Context& context) {
  const cudaMemoryType type = type_of(api, data, context);
  if (size.count <= 1 || type == cudaMemoryTypeManaged) return type;
  const std::byte* const last = data + size.count - 1;
  const cudaMemoryType type_at_end = type_of(api, last, context);
  if ((type == cudaMemoryTypeHost) != (type_at_end == cudaMemoryTypeHost)) throw pinned_in_part(size);
  if (type == cudaMemoryTypeDevice && type_at_end != type)
    throw Error(fmt::format("{}: {} reach beyond the end of that memory of the GPU", context(), to_string(size)));
  if (type != cudaMemoryTypeHost) return type;
  void* begin = nullptr;
  std::size_t length = 0;
  if (const cudaError_t error = api.pinned_range(&begin, &length, data); error != cudaSuccess)
    fail_call(api, error, "cuPointerGetAttribute", context());
  if (last >= static_cast<std::byte*>(begin) + length) throw pinned_in_part(size);
  return type;
}

namespace {

PinnedRegions::Functions functions_for(const Api& api, std::byte* data, Bytes size, const Context& context) {
  return {.is_pinned = [=, &api] { return type_of_range(api, data, size, context) != cudaMemoryTypeUnregistered; },
          .pin =
              [=, &api] {
                make_missing_pages({data, size.count});  // the call would make them one after another
                const cudaError_t error =
                    api.host_register(data, size.count, cudaHostRegisterPortable | cudaHostRegisterMapped);
                if (error != cudaSuccess) fail_call(api, error, "cudaHostRegister", context());
              },
          .unpin = Release<&Api::host_unregister>(api)};
}

}  // namespace

Memory pin_in_process(const Api& api, std::byte* data, Bytes size, const Context& context) {
  return PinnedRegions::of_process()->hold(data, size, functions_for(api, data, size, context));
}

void try_to_pin_in_process(const Api& api, std::byte* data, Bytes size, const Context& context) {
  std::vector<std::byte*> tried = kinds_of_mapping({data, size.count});
  tried.insert(tried.end(), {data, data + size.count - 1});
  for (std::byte* const at : tried) PinnedRegions::of_process()->try_to_pin(at, functions_for(api, at, 1_B, context));
}

}  // namespace shiplap
