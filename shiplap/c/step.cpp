#include <cmath>
#include <utility>
#include <vector>

#include "shiplap/c/handles.hpp"
#include "shiplap/c/status.hpp"

using namespace shiplap;
using c::given;
using c::guarded;
using c::text_of;

extern "C" {

shiplap_status shiplap_step_create(shiplap_step** step, const char* name) {
  return guarded([&] {
    given(step, "step") = nullptr;
    *step = new shiplap_step{Step{.name = text_of(name, "name")}};
  });
}

void shiplap_step_destroy(shiplap_step* step) { delete step; }

shiplap_status shiplap_step_kernel(shiplap_step* step, const shiplap_job* job) {
  return guarded([&] { given(step, "step").step.parts.emplace_back(given(job, "job").job); });
}

shiplap_status shiplap_step_host(shiplap_step* step, const char* name, const shiplap_access* accesses, size_t count,
                                 shiplap_host_work work, void* user, double seconds) {
  return guarded([&] {
    HostPart part{.name = text_of(name, "name"), .work = {}, .time = Seconds{seconds}};
    given(work, "work");
    if (!(seconds >= 0) || std::isinf(seconds))
      throw UsageError("the work of " + part.name + " takes " + std::to_string(seconds) + " s: give 0 s or more");
    part.work = [what = "the work of " + part.name, work, user] { c::require_done(work(user), what); };
    if (count > 0) given(accesses, "accesses");
    for (std::size_t i = 0; i < count; ++i)
      part.accesses.push_back({.data = static_cast<std::byte*>(accesses[i].data),
                               .size = Bytes{accesses[i].bytes},
                               .mode = accesses[i].writes != 0 ? AccessMode::write : AccessMode::read});
    given(step, "step").step.parts.emplace_back(std::move(part));
  });
}

shiplap_status shiplap_step_repeat(shiplap_step* step, uint64_t times) {
  return guarded([&] { given(step, "step").step.repeats = times; });
}

shiplap_status shiplap_step_stays_on_gpu(shiplap_step* step, const char* array) {
  return guarded([&] { given(step, "step").step.between.emplace_back(text_of(array, "array"), Between::gpu); });
}

shiplap_status shiplap_step_temporary(shiplap_step* step, const char* array) {
  return guarded([&] { given(step, "step").step.between.emplace_back(text_of(array, "array"), Between::temporary); });
}
}
