// says: so that their type must be trivially copyable
#include <string>
#include <vector>

#include "shiplap/workload/described_job.hpp"

const std::vector<std::string> x(10);
const auto job = shiplap::Job{10}.in("x", x);
