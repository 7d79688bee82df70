#include "shiplap/workload/built_in/ocean.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "shiplap/workload/data.hpp"

namespace shiplap {
namespace {

// A number from 0 to 1, in steps of 2^-32.
double unit_fraction(std::uint64_t hash) { return static_cast<double>(hash >> 32) / 4294967296.0; }

// The depth of a level in m, from the surface down to 5500 m. Levels are closer to each other at the top.
double depth(std::uint64_t level, std::uint64_t levels) {
  const double place = (static_cast<double>(level) + 0.5) / static_cast<double>(levels);
  return 5500 * place * place;
}

// The pressure in decibar at a depth in m, by POP's formula (which gives bar).
double pressure(double z) { return 10 * (0.059808 * (std::exp(-0.025 * z) - 1) + 0.100766 * z + 2.28405e-7 * z * z); }

constexpr std::uint64_t most_levels = 1u << 18;

}  // namespace

OceanShape ocean_shape(Parameters& parameters) {
  OceanShape shape{.nx = parameters.count("nx", "1024"),
                   .ny = parameters.count("ny", "1024"),
                   .levels = parameters.count("nz", "42")};
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max() / sizeof(double) / 64;
  if (shape.ny > most / shape.nx || shape.levels > most / shape.nx / shape.ny)
    parameters.refuse("nx, ny and nz give more points than can be addressed");
  // Terms are kept for every level.
  if (shape.levels > most_levels) parameters.refuse(fmt::format("nz must be at most {}", most_levels));
  shape.points = shape.nx * shape.ny;
  return shape;
}

std::string to_string(const OceanShape& shape) {
  return fmt::format("nx={},ny={},nz={}", shape.nx, shape.ny, shape.levels);
}

std::string ocean_sizes(Bytes size) {
  constexpr std::uint64_t level = 1024 * 1024 * sizeof(double);
  return fmt::format("nz={}", std::max<std::uint64_t>(1, (size.count + level / 2) / level));
}

double temperature_at(std::uint64_t i) { return -3 + 34 * unit_fraction(hash_of(i, 7)); }
double salinity_at(std::uint64_t i) { return -0.001 + 0.045 * unit_fraction(hash_of(i, 8)); }

std::vector<kernels::LevelTerms> terms_of_levels(std::uint64_t levels) {
  std::vector<kernels::LevelTerms> terms;
  for (std::uint64_t level = 0; level < levels; ++level)
    terms.push_back(kernels::level_terms(pressure(depth(level, levels))));
  return terms;
}

void fill_ocean(std::span<const std::span<std::byte>> arrays, const std::vector<kernels::LevelTerms>& terms) {
  generate(as_elements<double>(arrays[0]), temperature_at);
  generate(as_elements<double>(arrays[1]), salinity_at);
  std::memcpy(arrays[2].data(), terms.data(), arrays[2].size());
}

std::string overwritten_ocean(std::span<const std::span<std::byte>> arrays,
                              const std::vector<kernels::LevelTerms>& terms) {
  const auto t = as_elements<double>(arrays[0]);
  const auto s = as_elements<double>(arrays[1]);
  if (const auto i = first_difference<double>(t, temperature_at); i < t.size())
    return fmt::format("input t[{}] was overwritten", i);
  if (const auto i = first_difference<double>(s, salinity_at); i < s.size())
    return fmt::format("input s[{}] was overwritten", i);
  return std::memcmp(arrays[2].data(), terms.data(), arrays[2].size()) == 0 ? "" : "the input terms were overwritten";
}

std::string ocean_program_data(const OceanShape& shape) {
  return fmt::format(
      R"(double initial_t(std::uint64_t i) {{ return -3 + double(i * 2654435761u % 4099) * 0.0083; }}
double initial_s(std::uint64_t i) {{ return -0.001 + double(i * 2246822519u % 4093) * 0.000011; }}
constexpr std::uint64_t points = {}, levels = {};  // points of a level, number of levels
LevelTerms terms_of(std::uint64_t level) {{
  const double place = (double(level) + 0.5) / double(levels), z = 5500 * place * place;  // m
  return level_terms(10 * (0.059808 * (std::exp(-0.025 * z) - 1) + 0.100766 * z + 2.28405e-7 * z * z));
}}
double initial_terms(std::uint64_t i) {{
  const LevelTerms terms = terms_of(i / 6);
  return (&terms.p1_0)[i % 6];
}}
double poison(std::uint64_t i) {{ return double(i | 1); }}  // must be overwritten
)",
      shape.points, shape.levels);
}

}  // namespace shiplap
