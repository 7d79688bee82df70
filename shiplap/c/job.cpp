#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "shiplap/c/handles.hpp"
#include "shiplap/c/status.hpp"
#include "shiplap/workload/described_job.hpp"

using namespace shiplap;
using c::given;
using c::guarded;
using c::text_of;

namespace {

Array& array_of(shiplap_job* handle, const char* name) {
  Job& job = given(handle, "job").job;
  const std::string wanted = text_of(name, "array");
  const auto found = std::ranges::find(job.arrays, wanted, &Array::name);
  if (found == job.arrays.end()) throw UsageError(job.name + " has no array " + wanted + ": add it first");
  return *found;
}

Role role_of(shiplap_role role) {
  switch (role) {
    case SHIPLAP_IN:
      return Role::in;
    case SHIPLAP_OUT:
      return Role::out;
    case SHIPLAP_INOUT:
      return Role::inout;
    case SHIPLAP_BROADCAST:
      return Role::broadcast;
    case SHIPLAP_CARRIED:
      return Role::carried;
    case SHIPLAP_SCRATCH:
      return Role::scratch;
  }
  throw UsageError("there is no role " + std::to_string(static_cast<int>(role)) + ": take one of shiplap_role");
}

/// The function of C++ that calls one of C. `elements` has the size of an element of each array.
KernelFunction function_of(std::string job, std::vector<std::uint64_t> elements, shiplap_kernel kernel, void* user) {
  return [job = std::move(job), elements = std::move(elements), kernel, user](const Launch& launch) {
    std::vector<shiplap_part> parts;
    for (std::size_t i = 0; i < launch.operands.size(); ++i)
      parts.push_back({.data = launch.operands[i],
                       .first = launch.origins.empty() ? 0 : launch.origins[i].count / elements[i],
                       .count = launch.lengths[i].count / elements[i],
                       .element_size = elements[i]});
    const shiplap_chunk chunk{.first = launch.first_item,
                              .count = launch.items,
                              .blocks = launch.blocks,
                              .stream = launch.stream,
                              .array_count = parts.size(),
                              .arrays = parts.data()};
    c::require_done(kernel(&chunk, user), "the kernel function of " + job);
  };
}

shiplap_status set_kernel(shiplap_job* handle, KernelFunction KernelBinding::*of_binding, shiplap_kernel kernel,
                          void* user) {
  return guarded([&] {
    Job& job = given(handle, "job").job;
    given(kernel, "kernel");
    if (job.arrays.empty()) throw UsageError(job.name + " has no arrays yet: add all of them before the kernel");
    std::vector<std::uint64_t> elements;
    for (const Array& array : job.arrays) elements.push_back(array.element.count);
    job.binding.*of_binding = function_of(job.name, std::move(elements), kernel, user);
  });
}

}  // namespace

extern "C" {

shiplap_status shiplap_job_create(shiplap_job** job, const char* name, uint64_t items) {
  return guarded([&] {
    given(job, "job") = nullptr;
    *job = new shiplap_job{Job{.items = items, .name = text_of(name, "name")}};
  });
}

void shiplap_job_destroy(shiplap_job* job) { delete job; }

shiplap_status shiplap_job_array(shiplap_job* job, const char* name, shiplap_role role, void* data, uint64_t elements,
                                 size_t element_size) {
  return guarded([&] {
    Job& described = given(job, "job").job;
    if (described.binding.cuda || described.binding.host)
      throw UsageError(described.name + " has its kernel already: add all arrays before it");
    if (element_size == 0 || elements > std::numeric_limits<std::uint64_t>::max() / element_size)
      throw UsageError(described.name + ": elements of " + std::to_string(element_size) + " B, " +
                       std::to_string(elements) + " of them, are no array");
    Array array{.name = text_of(name, "name"),
                .role = role_of(role),
                .size = Bytes{elements * element_size},
                .element = Bytes{element_size},
                .data = static_cast<std::byte*>(data)};
    if (data == nullptr && array.role != Role::scratch)
      throw UsageError(described.name + ": array " + array.name + " is NULL: give the address of its memory");
    if (elements == 0)
      throw UsageError(described.name + ": array " + array.name + " has no elements: give it some, or leave it out");
    described = detail::with_array(Job(described), std::move(array));
  });
}

shiplap_status shiplap_job_halo(shiplap_job* job, const char* array, uint64_t before, uint64_t after) {
  return guarded([&] {
    Array& read = array_of(job, array);
    if (stays(read.role)) throw UsageError("array " + read.name + " is read as a whole, so it has no halo");
    read.reach = halo(before, after);
  });
}

shiplap_status shiplap_job_map(shiplap_job* job, const char* array, shiplap_mapping mapping, void* user) {
  return guarded([&] {
    given(mapping, "mapping");
    Array& mapped = array_of(job, array);
    mapped.reach = mapped_by([name = mapped.name, mapping, user](ItemRange items) {
      ElementRange elements;
      c::require_done(mapping(items.first, items.count, user, &elements.first, &elements.count),
                      "the mapping of array " + name);
      return elements;
    });
  });
}

shiplap_status shiplap_job_keep(shiplap_job* job, const char* array) {
  return guarded([&] { array_of(job, array).kept = true; });
}

shiplap_status shiplap_job_gpu_kernel(shiplap_job* job, shiplap_kernel kernel, void* user) {
  return set_kernel(job, &KernelBinding::cuda, kernel, user);
}

shiplap_status shiplap_job_host_kernel(shiplap_job* job, shiplap_kernel kernel, void* user) {
  return set_kernel(job, &KernelBinding::host, kernel, user);
}

shiplap_status shiplap_job_kernel_time(shiplap_job* job, double seconds) {
  return guarded([&] {
    Job& described = given(job, "job").job;
    described.cost = {
        .points = {{described.items, Interval<Seconds>::exact(Seconds{seconds})}}, .limited = {}, .origin = "stated"};
  });
}

shiplap_status shiplap_job_work(shiplap_job* job, double flops, int double_precision, double device_bytes) {
  return guarded([&] {
    Job& described = given(job, "job").job;
    if (!(device_bytes >= 0 && device_bytes < 9e18))
      throw UsageError(described.name + ": the bytes in the GPU's memory are from 0 to 9e18, not " +
                       std::to_string(device_bytes));
    described.flops = flops;
    described.double_precision = double_precision != 0;
    described.device_traffic = Bytes{static_cast<std::uint64_t>(device_bytes)};
  });
}
}
