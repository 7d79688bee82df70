#include "experiments/werkhoven2014/published.hpp"

namespace shiplap::experiments::werkhoven {

using van_werkhoven_2014::Category;

loggp::Parameters table1(bool to_device) {
  if (to_device)
    return {.latency_overhead = milliseconds(0.009420), .per_byte = {8.318392e-11}, .gap = milliseconds(0.002503)};
  return {.latency_overhead = milliseconds(0.009023), .per_byte = {7.924734e-11}, .gap = milliseconds(0.002674)};
}

std::span<const LoadedLink> table2() {
  static constexpr std::array rows{
      LoadedLink{"PCIe 2.0", "explicit-explicit", "Tesla K20", {{1.741965e-10}, {1.747120e-10}}},
      LoadedLink{"PCIe 2.0", "explicit-mapped", "Tesla K20", {{2.491988e-10}, {2.236644e-10}}},
      LoadedLink{"PCIe 3.0", "explicit-mapped", "GTX Titan", {{1.193386e-10}, {1.480396e-10}}}};
  return rows;
}

std::span<const OceanKernel> ocean_kernels() {
  constexpr Bytes level{1024 * 1024 * 8};
  constexpr Bytes field = level * 42;
  static constexpr std::array kernels{OceanKernel{.name = "state, 1 output",
                                                  .workload = "pop-state:nx=1024,ny=1024,nz=42,outputs=1",
                                                  .in = field * 2,
                                                  .out = field,
                                                  .accessed_in = field * 2,
                                                  .assumed = {milliseconds(5), milliseconds(10)}},
                                      OceanKernel{.name = "state, 3 outputs",
                                                  .workload = "pop-state:nx=1024,ny=1024,nz=42,outputs=3",
                                                  .in = field * 2,
                                                  .out = field * 3,
                                                  .accessed_in = field * 2,
                                                  .assumed = {milliseconds(8), milliseconds(21)}},
                                      OceanKernel{.name = "buoydiff",
                                                  .workload = "pop-buoydiff:nx=1024,ny=1024,nz=42",
                                                  .in = field * 2,
                                                  .out = field * 2,
                                                  .accessed_in = field * 6,
                                                  .assumed = {milliseconds(8), milliseconds(30)}}};
  return kernels;
}

std::span<const Machine> machines() {
  static constexpr std::array all{Machine{"Fig. 8", "fig8", "GTX 680", Category::implicit_sync_one_engine, hybrid},
                                  Machine{"Fig. 9", "fig9", "GTX Titan", Category::one_engine, hybrid},
                                  Machine{"Fig. 10", "fig10", "Tesla K20m", Category::two_engines, streams}};
  return all;
}

van_werkhoven_2014::Work work_of(const OceanKernel& kernel, const loggp::Parameters& h2d, const loggp::Parameters& d2h,
                                 Seconds time) {
  return {.h2d = h2d, .d2h = d2h, .in = kernel.in, .out = kernel.out, .kernel = time};
}

}  // namespace shiplap::experiments::werkhoven
