// The functions that enqueue the CUDA kernels of the built-in workloads. A build without CUDA has none.
#pragma once

#include <cstdint>

#include "shiplap/device/kernel_binding.hpp"

namespace shiplap {

struct ArccosShape;
struct ConvolutionShape;
struct DiffusionShape;
struct GrayscaleShape;
struct HistogramShape;
struct MatmulShape;
struct OceanShape;
struct ScalarAddShape;
struct SpmvShape;
struct StatedShape;

// Each function computes exactly what the host function of its workload does, with any grid. They are defined in
// built_in/*.cu.
KernelFunction cuda_arccos(const ArccosShape&);
KernelFunction cuda_convolution(const ConvolutionShape&);
KernelFunction cuda_diffusion(const DiffusionShape&);
KernelFunction cuda_grayscale(const GrayscaleShape&);
KernelFunction cuda_histogram(const HistogramShape&);
KernelFunction cuda_matmul(const MatmulShape&);
KernelFunction cuda_pop_buoydiff(const OceanShape&);
KernelFunction cuda_pop_state(const OceanShape&, unsigned outputs);
KernelFunction cuda_saxpy(float a);
KernelFunction cuda_scalar_add(const ScalarAddShape&);
KernelFunction cuda_spmv(const SpmvShape&);
/// The stand-in for a stated kernel. A launch takes the stated time for each item and writes every output byte.
KernelFunction cuda_stated(const StatedShape&);

/// The functions above by workload. All are null in a build without CUDA.
struct CudaKernels {
  decltype(&cuda_arccos) arccos = nullptr;
  decltype(&cuda_convolution) convolution = nullptr;
  decltype(&cuda_diffusion) diffusion = nullptr;
  decltype(&cuda_grayscale) grayscale = nullptr;
  decltype(&cuda_histogram) histogram = nullptr;
  decltype(&cuda_matmul) matmul = nullptr;
  decltype(&cuda_pop_buoydiff) pop_buoydiff = nullptr;
  decltype(&cuda_pop_state) pop_state = nullptr;
  decltype(&cuda_saxpy) saxpy = nullptr;
  decltype(&cuda_scalar_add) scalar_add = nullptr;
  decltype(&cuda_spmv) spmv = nullptr;
  decltype(&cuda_stated) stated = nullptr;
};

/// The table of this build.
const CudaKernels& cuda_kernels();

}  // namespace shiplap
