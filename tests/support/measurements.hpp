// Measurements made up for tests.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "shiplap/profile/profile.hpp"

namespace shiplap::testing {

inline Measurement events(std::string primitive, std::map<std::string, double> arguments,
                          std::vector<double> samples_us) {
  return {std::move(primitive), std::move(arguments), "events", std::move(samples_us), true};
}
inline Measurement events(std::string primitive, std::map<std::string, double> arguments, double us) {
  return events(std::move(primitive), std::move(arguments), std::vector<double>(5, us));
}
inline Measurement host(std::string primitive, std::map<std::string, double> arguments, double us) {
  return {std::move(primitive), std::move(arguments), "host", std::vector<double>(5, us), true};
}

}  // namespace shiplap::testing
