// Workloads: a Job with its kernels, its data and its reference. Built-in ones by name ("saxpy:n=64Mi"), from a JSON
// file, or stated by hand (sizes and kernel time only).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/workload/cuda_kernels.hpp"
#include "shiplap/workload/job.hpp"
#include "shiplap/workload/program_text.hpp"

namespace shiplap {

struct Workload {
  Job job;  ///< with its kernel; where the arrays are is not known
  /// Fills the job's arrays (in their order) with this workload's data; never zeros. Outputs are poisoned.
  std::function<void(std::span<const std::span<std::byte>> arrays)> fill;
  /// Compares the outputs with the host reference computed from the pristine inputs; returns "" or what differs first.
  std::function<std::string(std::span<const std::span<std::byte>> arrays)> verify;
  /// False for a workload stated by hand: its kernel is a stand-in that takes the stated time and copies bytes.
  bool real_kernel = true;
  ProgramText program;  ///< for programs that stand alone
};

struct WorkloadHelp {
  std::string name;        ///< "saxpy"
  std::string parameters;  ///< "n=COUNT (64Mi)"
  std::string summary;
};
std::vector<WorkloadHelp> built_in_workloads();

/// A built-in workload ("saxpy", "saxpy:n=64Mi", "scalar-add:in=15MiB,out=15MiB,iterations=20") or a JSON file (a path
/// that ends in .json; schema docs/schema/workload.schema.json). Throws UsageError that names the parameter.
Workload find_workload(std::string_view name, const CudaKernels& = cuda_kernels());

/// The arrays that go to the GPU or come back are to be in memory of that kind; in managed memory all are.
void put_into(Workload&, MemoryKind);

/// The name of a built-in workload with arrays of about `each` bytes: "saxpy" and 64 MiB give "saxpy:n=16777216". A
/// name that states its own sizes, and a file, stay as they are.
std::string with_size(std::string_view name, Bytes each);

/// The workload of this name with another number of items, at least 1: "histogram" and 10 items give
/// "histogram:frames=10". nullopt for workloads whose items no single parameter counts, and for files.
std::optional<Workload> with_items(std::string_view name, std::uint64_t items, const CudaKernels& = cuda_kernels());

/// Sizes and kernel time of the whole job.
struct StatedJob {
  Bytes in;
  Bytes out;
  Seconds kernel{0};
};
Workload stated_workload(const StatedJob&, const CudaKernels& = cuda_kernels());

/// Kernel cost from flops and bytes over the profile's limits, for a GPU on which nothing was measured. `origin` says
/// so. Throws Unsupported when the profile lacks memory bandwidth or flop rate.
KernelCost derived_cost(const Job&, const Profile&);

}  // namespace shiplap
