// says: or a pointer followed by the number of its elements
#include "shiplap/workload/described_job.hpp"

float* const x = nullptr;
const auto job = shiplap::Job{10}.in("x", x);
