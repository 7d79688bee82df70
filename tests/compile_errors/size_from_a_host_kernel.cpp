// says: the size of an output does not depend on what a kernel returns
#include <vector>

#include "shiplap/workload/described_job.hpp"

std::vector<float> y(10);
const auto job = shiplap::Job{10}.out("y", y).host_kernel([](shiplap::Chunk, shiplap::View<float>) { return 3u; });
