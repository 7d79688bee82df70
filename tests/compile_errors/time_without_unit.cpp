// says: the kernel's time needs a unit: write kernel_time(5ms), or Seconds{0.005}
#include <vector>

#include "shiplap/workload/described_job.hpp"

std::vector<float> x(10);
const auto job = shiplap::Job{10}.inout("x", x).kernel_time(0.005);
