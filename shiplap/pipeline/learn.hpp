// What a device tells about a job before it is planned: where its arrays are, how its kernel is launched and what that
// costs, and whether arrays can be pinned.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "shiplap/pipeline/node.hpp"
#include "shiplap/pipeline/plan_options.hpp"
#include "shiplap/plan/decide.hpp"

namespace shiplap {

/// Asks the device of the node about the job: the kinds of memory of its arrays, the launches of its kernel (see
/// `plan`), the kernel's cost unless the job states it, and whether pageable arrays can be pinned. A node without a
/// device leaves what the job says, and derives the cost. It may be asked again at any time. Throws as `plan` does.
Facts learn(const Node&, const Job&, const PlanOptions& = {});

/// The job with the kinds of memory that its arrays are in, as the device reports them; null: as the job says. A
/// strategy uses one kind of memory, so when one array is pageable, all are treated as pageable. Throws UsageError for
/// blocks of a pool on the GPU, for kept arrays there and for managed arrays beside others.
Job with_memory_kinds(const Device*, Job);

/// The space without the relaying GPUs on which other processes hold memory. `said` receives a sentence for each.
/// Throws UsageError where the device of the node has fewer GPUs than the space names.
SearchSpace with_idle_relays(const Node&, SearchSpace, std::vector<std::string>& said);

/// Throws UsageError for a job without the function that the device calls.
void require_kernel(const DeviceInfo&, const Job&);

/// The ranges of host memory of the arrays that are cut. Arrays that share memory are one range, because memory can be
/// pinned once only.
std::vector<std::span<std::byte>> ranges_to_pin(const Job&);

}  // namespace shiplap
