// says: the kernel writes this array, and its elements are const
#include "shiplap/workload/described_job.hpp"

const float* const x = nullptr;
const auto job = shiplap::Job{10}.inout("x", x, 10);
