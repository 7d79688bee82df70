// says: this temporary owns the elements of the array and is gone before the job runs
#include <vector>

#include "shiplap/workload/described_job.hpp"

const auto job = shiplap::Job{10}.in("x", std::vector<float>(10));
