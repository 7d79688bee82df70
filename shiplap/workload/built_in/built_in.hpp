// The workloads that come with shiplap, as entries of a table.
#pragma once

#include "shiplap/workload/parameters.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap {

struct BuiltInWorkload {
  WorkloadHelp help;
  Workload (*make)(Parameters&, const CudaKernels&);
  /// The parameters of a job whose largest array has about `size` bytes: "n=16777216".
  std::string (*sizes)(Bytes size);
  /// The parameter that counts the items, where one parameter alone does; empty otherwise.
  std::string_view items{};
};

/// Each workload is defined in the file of its name. registry.cpp lists them all.
extern const BuiltInWorkload arccos_workload;
extern const BuiltInWorkload convolution_workload;
extern const BuiltInWorkload diffusion_workload;
extern const BuiltInWorkload grayscale_workload;
extern const BuiltInWorkload histogram_workload;
extern const BuiltInWorkload matmul_workload;
extern const BuiltInWorkload pop_buoydiff_workload;
extern const BuiltInWorkload pop_state_workload;
extern const BuiltInWorkload saxpy_workload;
extern const BuiltInWorkload scalar_add_workload;
extern const BuiltInWorkload spmv_workload;

}  // namespace shiplap
