// says: A status or another result is not read: return nothing
#include <cstdint>
#include <vector>

#include "shiplap/workload/described_job.hpp"

std::vector<float> y(10);
const auto job =
    shiplap::Job{10}.out("y", y).host_kernel([](shiplap::Chunk, shiplap::View<float>) { return std::uint64_t{0}; });
