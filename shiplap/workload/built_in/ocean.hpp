// Common parts of the workloads of the ocean model POP: their grid, fields, levels and pressures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shiplap/workload/built_in/seawater.cuh"
#include "shiplap/workload/parameters.hpp"

namespace shiplap {

/// The sizes of the grid. A field is double[levels][points].
struct OceanShape {
  std::uint64_t nx = 1;
  std::uint64_t ny = 1;
  std::uint64_t levels = 1;
  std::uint64_t points = 1;  ///< number of points of a level
};
/// Takes the parameters nx, ny and nz, which are 1024, 1024 and 42 by default.
OceanShape ocean_shape(Parameters&);
/// The sizes as parameters, as in "nx=1024,ny=1024,nz=42".
std::string to_string(const OceanShape&);
/// The parameter nz that gives fields of about `size` bytes with levels of 1024 x 1024 points.
std::string ocean_sizes(Bytes size);

/// Temperature in °C and salinity in kg/kg by the index in a field. A few are outside of the range of the equation of
/// state.
double temperature_at(std::uint64_t i);
double salinity_at(std::uint64_t i);
/// The terms of each level at the pressure of its depth.
std::vector<kernels::LevelTerms> terms_of_levels(std::uint64_t levels);
/// Fills arrays 0, 1 and 2: temperature, salinity and terms.
void fill_ocean(std::span<const std::span<std::byte>> arrays, const std::vector<kernels::LevelTerms>&);
/// Checks that arrays 0, 1 and 2 were not overwritten. Returns "" or a sentence about the first element that was.
std::string overwritten_ocean(std::span<const std::span<std::byte>> arrays, const std::vector<kernels::LevelTerms>&);

/// Program text of the functions initial_t, initial_s and initial_terms, which give the same kinds of data.
std::string ocean_program_data(const OceanShape&);

}  // namespace shiplap
