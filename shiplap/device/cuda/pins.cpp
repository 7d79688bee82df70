#include "shiplap/device/cuda/pins.hpp"

#include "shiplap/device/cuda/check.hpp"
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
  if ((type == cudaMemoryTypeHost) != (type_of(api, last, context) == cudaMemoryTypeHost)) throw pinned_in_part(size);
  if (type != cudaMemoryTypeHost) return type;
  void* begin = nullptr;
  std::size_t length = 0;
  if (const cudaError_t error = api.pinned_range(&begin, &length, data); error != cudaSuccess)
    fail_call(api, error, "cuPointerGetAttribute", context());
  if (last >= static_cast<std::byte*>(begin) + length) throw pinned_in_part(size);
  return type;
}

Memory pin_in_process(const Api& api, std::byte* data, Bytes size, const Context& context) {
  return PinnedRegions::of_process()->hold(
      data, size,
      {.is_pinned = [&] { return type_of_range(api, data, size, context) != cudaMemoryTypeUnregistered; },
       .pin =
           [&] {
             const cudaError_t error =
                 api.host_register(data, size.count, cudaHostRegisterPortable | cudaHostRegisterMapped);
             if (error != cudaSuccess) fail_call(api, error, "cudaHostRegister", context());
           },
       .unpin =
           [&api](std::byte* p) {
             if (api.host_unregister(p) != cudaSuccess) static_cast<void>(api.get_last_error());
           }});
}

}  // namespace shiplap
