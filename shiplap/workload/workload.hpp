// Workloads: jobs with kernels, data and a reference. A workload is built in ("saxpy:n=64Mi"), read from a JSON file,
// or stated by hand (sizes and kernel time only).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/profile/profile.hpp"
#include "shiplap/workload/cuda_kernels.hpp"
#include "shiplap/workload/job.hpp"
#include "shiplap/workload/program_text.hpp"

namespace shiplap {

struct Workload {
  Job job;  ///< the job with its kernel; its arrays have no memory yet
  /// Fills the job's arrays, given in their order, with this workload's data, which are not all zeros. Outputs are
  /// poisoned.
  std::function<void(std::span<const std::span<std::byte>> arrays)> fill;
  /// Compares the outputs with the host reference, and the inputs with their data. Returns "" or the first difference.
  std::function<std::string(std::span<const std::span<std::byte>> arrays)> verify;
  /// False for a workload stated by hand: its kernel is a stand-in that takes the stated time and copies bytes.
  bool real_kernel = true;
  ProgramText program;  ///< text for programs that stand alone
};

struct WorkloadHelp {
  std::string name;        ///< name, as in "saxpy"
  std::string parameters;  ///< parameters with their defaults, as in "n=COUNT (64Mi)"
  std::string summary;
};
std::vector<WorkloadHelp> built_in_workloads();

/// A built-in workload ("saxpy", "saxpy:n=64Mi", "scalar-add:in=15MiB,out=15MiB,iterations=20") or a JSON file (a path
/// that ends in .json; schema docs/schema/workload.schema.json). Throws UsageError that names the parameter.
Workload find_workload(std::string_view name, const CudaKernels& = cuda_kernels());

/// Sets the kind of memory of the arrays that are cut into chunks. Managed memory is set for all arrays.
void put_into(Workload&, MemoryKind);
/// Sets how often the kernel reads each byte of all arrays that are copied to the GPU in chunks (see
/// Array::times_read).
void read_inputs(Workload&, double times);
/// Bytes that the kernel reads of the arrays that are copied to the GPU in chunks, each as often as it is read (see
/// Array::times_read).
Bytes bytes_read(const Job&);

/// The name of a built-in workload whose largest array has about `size` bytes: "saxpy" and 64 MiB give
/// "saxpy:n=16777216". The name of a file, or one that states its own sizes, is returned unchanged.
std::string with_size(std::string_view name, Bytes size);

/// The workload of this name with another number of items, at least 1: "histogram" and 10 items give
/// "histogram:frames=10". nullopt for workloads whose items no single parameter counts, and for files.
std::optional<Workload> with_items(std::string_view name, std::uint64_t items, const CudaKernels& = cuda_kernels());

/// A job of which only figures are known. What is not stated is not assumed to help: without `each_byte_once` no
/// kernel accesses host memory.
struct StatedJob {
  Bytes in{0};        ///< bytes to the GPU; 0: none
  Bytes out{0};       ///< bytes back; 0: none
  Seconds kernel{0};  ///< time of the kernel for the whole job; 0: the job only copies
  /// Whether the kernel reads and writes each byte about once, or some repeatedly; nullopt: unknown.
  std::optional<bool> each_byte_once{};
  Bytes item{0};             ///< bytes of an item in `in`, or in `out` without one: chunks are whole items; 0: any
  std::uint64_t before = 0;  ///< items before a chunk whose inputs its kernel reads too
  std::uint64_t after = 0;   ///< items after a chunk whose inputs its kernel reads too
};
/// Throws UsageError for a job without bytes, for an item of which the arrays do not have a whole number, and for a
/// halo without a stated item or without input.
Workload stated_workload(const StatedJob&, const CudaKernels& = cuda_kernels());
/// Reads how a kernel accesses bytes, "once" or "repeated", for StatedJob::each_byte_once. Throws UsageError that names
/// `what`.
bool parse_access(std::string_view text, std::string_view what);

/// The kernel cost derived from the job's operations and bytes and the GPU's peak rates in the profile, for a GPU on
/// which the kernel was not measured. `origin` says so. Throws Unsupported when the profile lacks memory bandwidth or
/// flop rate.
KernelCost derived_cost(const Job&, const Profile&);

}  // namespace shiplap
