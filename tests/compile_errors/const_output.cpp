// says: the kernel writes this array, and its elements are const
#include <vector>

#include "shiplap/workload/described_job.hpp"

const std::vector<float> x(10);
const auto job = shiplap::Job{10}.out("x", x);
