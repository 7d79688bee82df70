// The grid of the ocean model POP and what its workloads have in common: fields, levels, pressures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shiplap/workload/built_in/seawater.cuh"
#include "shiplap/workload/parameters.hpp"

namespace shiplap {

/// Fields are double[levels][points].
struct OceanShape {
  std::uint64_t nx = 1;
  std::uint64_t ny = 1;
  std::uint64_t levels = 1;
  std::uint64_t points = 1;  ///< of a level
};
/// nx, ny and nz: 1024, 1024 and 42 unless they are given.
OceanShape ocean_shape(Parameters&);
/// "nx=1024,ny=1024,nz=42"
std::string to_string(const OceanShape&);
/// The levels of 1024 x 1024 points that make fields of about `size` bytes.
std::string ocean_sizes(Bytes size);

/// Index in a field → °C and kg/kg, of which a few are beyond what the equation of state is for.
double temperature_at(std::uint64_t i);
double salinity_at(std::uint64_t i);
/// Of each level, at the pressure of its depth.
std::vector<kernels::LevelTerms> terms_of_levels(std::uint64_t levels);
/// Fills arrays 0, 1 and 2: temperature, salinity and terms.
void fill_ocean(std::span<const std::span<std::byte>> arrays, const std::vector<kernels::LevelTerms>&);
/// "" where they still hold that, else what was overwritten.
std::string overwritten_ocean(std::span<const std::span<std::byte>> arrays, const std::vector<kernels::LevelTerms>&);

/// Text of the same for programs: initial_t, initial_s, initial_terms.
std::string ocean_program_data(const OceanShape&);

}  // namespace shiplap
