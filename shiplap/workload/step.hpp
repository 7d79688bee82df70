// A step: kernels and parts of the host that run one after the other over the same arrays, such as a time step of a
// model.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "shiplap/workload/job.hpp"

namespace shiplap {

/// Memory that a part of the host reads or writes.
struct HostAccess {
  std::byte* data = nullptr;           ///< first byte
  Bytes size;                          ///< number of bytes
  AccessMode mode = AccessMode::read;  ///< how it is accessed; `write` may read too
};
/// A range of contiguous elements that a part of the host reads.
template <std::ranges::contiguous_range Range>
HostAccess reads(const Range& range) {
  auto* const data = reinterpret_cast<const std::byte*>(std::ranges::data(range));
  return {const_cast<std::byte*>(data), Bytes{std::ranges::size(range) * sizeof(*std::ranges::data(range))},
          AccessMode::read};
}
/// A range of contiguous elements that a part of the host writes, and may read before.
template <std::ranges::contiguous_range Range>
HostAccess writes(Range&& range) {
  return {reinterpret_cast<std::byte*>(std::ranges::data(range)),
          Bytes{std::ranges::size(range) * sizeof(*std::ranges::data(range))}, AccessMode::write};
}

/// What the host does between kernels: an exchange of boundaries, output, a part that runs on its processors.
struct HostPart {
  std::string name;                    ///< name in messages and pictures
  std::function<void()> work;          ///< called once in each step, by the thread that runs the step
  std::vector<HostAccess> accesses{};  ///< parts of the step's arrays that it reads and writes
  Seconds time{0};                     ///< how long it takes, as far as it is known
};

/// What becomes of an array between one step and the next.
enum class Between : std::uint8_t {
  host,       ///< the host has its values after each step and may change them before the next
  gpu,        ///< the host neither reads nor changes it between steps, so that it may stay on the GPU
  temporary,  ///< it has no values before a step and none after it
};

/// Kernels and parts of the host in their order. The kernels are those of jobs, and jobs that name the same memory, or
/// overlapping parts of it (step_parts.hpp), share an array. A step of one kernel is that job.
struct Step {
  std::string name{"step"};                          ///< "pop"
  std::vector<std::variant<Job, HostPart>> parts{};  ///< in the order of their effects
  std::uint64_t repeats = 1;                         ///< how often all parts run in a step
  /// Arrays by name, where they are not the host's between steps.
  std::vector<std::pair<std::string, Between>> between{};

  /// Adds the kernel of a job with its arrays.
  Step kernel(Job job) const {
    return changed([&](Step& step) { step.parts.emplace_back(std::move(job)); });
  }
  /// Adds a part of the host that was made elsewhere, as by exchange_part (cluster/mpi.hpp).
  Step host(HostPart part) const {
    return changed([&](Step& step) { step.parts.emplace_back(std::move(part)); });
  }
  /// Adds a part of the host: `work` is called when the GPU has done what its accesses need. What it writes is copied
  /// to the GPU before a kernel reads it. Give its time where it takes long: the plan lets it run beside the GPU.
  Step host(std::string part, std::vector<HostAccess> accesses, std::function<void()> work, Seconds time = {}) const {
    return host(HostPart{std::move(part), std::move(work), std::move(accesses), time});
  }
  /// Says that the host neither reads nor changes an array between steps. `PreparedStep::fetch` copies it back.
  Step stays_on_gpu(std::string array) const { return with(std::move(array), Between::gpu); }
  /// Says that an array has no values before and after a step.
  Step temporary(std::string array) const { return with(std::move(array), Between::temporary); }
  /// Runs all parts `times` times in a step, as for several time steps between two outputs.
  Step repeated(std::uint64_t times) const {
    return changed([&](Step& step) { step.repeats = times; });
  }

 private:
  template <class Change>
  Step changed(const Change& change) const {
    Step result = *this;
    change(result);
    return result;
  }
  Step with(std::string array, Between what) const {
    return changed([&](Step& step) { step.between.emplace_back(std::move(array), what); });
  }
};

/// The name of the job or of the part of the host.
inline const std::string& name_of_part(const std::variant<Job, HostPart>& part) {
  return std::visit([](const auto& one) -> const std::string& { return one.name; }, part);
}

/// An array of a step, with all jobs that use it.
struct StepArray {
  Array array;                       ///< as the first job names it, or as the whole that its array is a part of
  std::vector<std::string> names{};  ///< all names that jobs have for it
  Between between = Between::host;   ///< what becomes of it between steps
};

/// The kernels of a step with the arrays that they share.
struct StepArrays {
  std::vector<StepArray> arrays{};  ///< in the order in which the jobs name them; without scratch
  /// By part: for each array of the job its index in `arrays`, none for scratch; empty for a part of the host.
  std::vector<std::vector<std::optional<std::size_t>>> of_part{};
};

/// The arrays of a step. Throws UsageError for a step without kernels or with more than 2^32 parts in all repeats, an
/// invalid job, a name in `between` that no array has, and an access of the host outside of all arrays.
StepArrays arrays_of(const Step&);
/// The index of the array with this name, or that a job calls so. nullopt when there is none. Throws UsageError, which
/// begins with `step`, when several are called so.
std::optional<std::size_t> find_array(const StepArrays&, std::string_view name, std::string_view step);

}  // namespace shiplap
