// The resources of one GPU and of its link. They hold references to each other.
#pragma once

#include <cstdint>

#include "shiplap/sim/compute.hpp"
#include "shiplap/sim/copy_engine.hpp"
#include "shiplap/sim/kernel_order.hpp"
#include "shiplap/sim/link.hpp"
#include "shiplap/sim/zero_copy_kernels.hpp"

namespace shiplap::sim {

struct GpuResources {
  GpuResources(const Gpu& gpu, std::size_t streams, OpStates& ops)
      : figures(gpu),
        kernels(gpu.implicit_sync, ops),
        link(streams),
        h2d(gpu.copy_engines < 2 ? Engine::copy_shared : Engine::copy_h2d, gpu, ops, link, kernels, zero_copy, compute),
        d2h(Engine::copy_d2h, gpu, ops, link, kernels, zero_copy, compute),
        d2d(Engine::copy_d2d, gpu, ops, link, kernels, zero_copy, compute),
        zero_copy(ops, link, kernels, compute, h2d, d2h),
        compute(gpu.concurrent_kernels, kernels) {
    if (gpu.copy_engines >= 2) {
      h2d.connect(d2h);
      d2h.connect(h2d);
    }
    link.connect({&h2d, &d2h}, zero_copy);
    kernels.connect({&h2d, &d2h, &d2d});
  }

  CopyEngine& copy_engine(bool to_device) { return to_device || figures.copy_engines < 2 ? h2d : d2h; }

  const Gpu& figures;
  KernelOrder kernels;
  Link link;
  CopyEngine h2d;  ///< serves both directions on a GPU with one copy engine, where `d2h` is unused
  CopyEngine d2h;
  CopyEngine d2d;  ///< serves copies inside the GPU's memory and to other GPUs
  ZeroCopyKernels zero_copy;
  Compute compute;
  StreamIndex last_kernel_stream = no_stream;
};

}  // namespace shiplap::sim
