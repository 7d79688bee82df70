// says: ignoring return
// flags: -std=c++20 -Werror=unused-result
#include <vector>

#include "shiplap/workload/described_job.hpp"

void describe(const shiplap::DescribedJob<float>& job) {
  job.host_kernel([](shiplap::Chunk, shiplap::View<float>) {});
}
