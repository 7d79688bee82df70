#include "tests/gpu/trap_kernel.hpp"

namespace shiplap::testing {
namespace {

__global__ void trap() { asm volatile("trap;"); }

}  // namespace

void launch_trap(void* stream) { trap<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(); }

}  // namespace shiplap::testing
