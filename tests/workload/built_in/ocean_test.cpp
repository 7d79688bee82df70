#include "shiplap/workload/built_in/ocean.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "shiplap/core/error.hpp"
#include "shiplap/workload/workload.hpp"
#include "tests/support/workload_memory.hpp"

namespace shiplap {
namespace {

using kernels::density_and_derivatives;
using kernels::level_terms;
using kernels::water;

// As McDougall, Wright, Jackett and Feistel (2003) print it: °C, psu, decibar → kg/m³.
double printed_density(double t, double s, double p) {
  const double above = 9.99843699e+2 + 7.35212840e+0 * t - 5.45928211e-2 * t * t + 3.98476704e-4 * t * t * t +
                       2.96938239e+0 * s - 7.23268813e-3 * s * t + 2.12382341e-3 * s * s + 1.04004591e-2 * p +
                       1.03970529e-7 * p * t * t + 5.18761880e-6 * p * s - 3.24041825e-8 * p * p -
                       1.23869360e-11 * p * p * t * t;
  const double below = 1 + 7.28606739e-3 * t - 4.60835542e-5 * t * t + 3.68390573e-7 * t * t * t +
                       1.80809186e-10 * std::pow(t, 4) + 2.14691708e-3 * s - 9.27062484e-6 * s * t -
                       1.78343643e-10 * s * t * t * t + 4.76534122e-6 * std::pow(s, 1.5) +
                       1.63410736e-9 * std::pow(s, 1.5) * t * t + 5.30848875e-6 * p -
                       3.03175128e-16 * p * p * t * t * t - 1.27934137e-17 * p * p * p * t;
  return above / below;
}

double density_of(double t, double s, double p) { return 1000 * kernels::density(water(t, s / 1000), level_terms(p)); }

TEST(Seawater, has_the_density_of_the_published_check_values) {
  EXPECT_NEAR(density_of(20, 35, 2000), 1033.2133866, 5e-8);
  EXPECT_NEAR(density_of(25, 35, 2000), 1031.6542295, 5e-8);
  EXPECT_NEAR(density_of(20, 20, 1000), 1017.7267431, 5e-8);
  EXPECT_NEAR(density_of(12, 40, 8000), 1062.9282579, 5e-8);
}

TEST(Seawater, has_the_density_of_the_equation_as_it_is_printed) {
  for (double t = -2; t < 40; t += 3.7)
    for (double s = 0; s < 42; s += 4.3)
      for (double p = 0; p < 9000; p += 1234.5)
        EXPECT_NEAR(density_of(t, s, p), printed_density(t, s, p), 1e-10) << t << " " << s << " " << p;
}

TEST(Seawater, has_the_derivatives_of_its_density) {
  constexpr double h = 1e-4;
  for (double t = -1; t < 30; t += 4.1)
    for (double s = 1; s < 42; s += 5.3)
      for (double p = 0; p < 6000; p += 1500) {
        const auto all = density_and_derivatives(water(t, s / 1000), level_terms(p));
        EXPECT_DOUBLE_EQ(1000 * all.density, density_of(t, s, p));
        EXPECT_NEAR(1000 * all.by_temperature, (density_of(t + h, s, p) - density_of(t - h, s, p)) / (2 * h), 1e-7);
        EXPECT_NEAR(all.by_salinity, (density_of(t, s + h, p) - density_of(t, s - h, p)) / (2 * h), 1e-7);
      }
}

TEST(Seawater, keeps_temperature_and_salinity_within_what_the_equation_is_for) {
  EXPECT_EQ(density_of(-5, 35, 0), density_of(-2, 35, 0));
  EXPECT_EQ(density_of(10, -3, 0), density_of(10, 0, 0));
  EXPECT_NEAR(density_of(10, 0, 0), printed_density(10, 0, 0), 1e-10);
  EXPECT_EQ(water(10, 2).s, 999);
}

TEST(PopState, gives_the_density_at_the_pressure_of_the_level) {
  const Workload w = find_workload("pop-state:nx=5,ny=3,nz=4,outputs=3", {});
  testing::WorkloadMemory arrays(w);
  arrays.run_in(3);
  EXPECT_EQ(w.verify(arrays.arrays()), "");
  for (std::uint64_t i = 0; i < 60; ++i) {
    const double place = (static_cast<double>(i / 15) + 0.5) / 4;
    const double z = 5500 * place * place;  // m
    const double decibar = 10 * (0.059808 * (std::exp(-0.025 * z) - 1) + 0.100766 * z + 2.28405e-7 * z * z);
    const double t = std::max(-2.0, arrays.array<double>(0)[i]);
    const double s = std::max(0.0, arrays.array<double>(1)[i]);
    EXPECT_NEAR(1000 * arrays.array<double>(3)[i], printed_density(t, 1000 * s, decibar), 1e-10) << i;
  }
}

TEST(PopBuoydiff, compares_each_level_with_the_surface_and_with_the_one_above_down_to_the_bottom) {
  constexpr std::uint64_t points = 6, levels = 5;
  const Workload w = find_workload("pop-buoydiff:nx=3,ny=2,nz=5", {});
  testing::WorkloadMemory arrays(w);
  arrays.run_in(2);
  EXPECT_EQ(w.verify(arrays.arrays()), "");
  const auto terms = terms_of_levels(levels);
  // Density of the water of one level at the pressure of another.
  const auto rho = [&](std::uint64_t of, std::uint64_t at, std::uint64_t point) {
    const std::uint64_t i = of * points + point;
    return kernels::density(water(arrays.array<double>(0)[i], arrays.array<double>(1)[i]), terms[at]);
  };
  for (std::uint64_t point = 0; point < points; ++point) {
    const auto bottom = static_cast<std::uint64_t>(arrays.array<std::int32_t>(5)[point]);
    const auto surface = [&](std::uint64_t k) { return arrays.array<double>(6)[k * points + point]; };
    const auto local = [&](std::uint64_t k) { return arrays.array<double>(7)[k * points + point]; };
    EXPECT_EQ(surface(0), 0);
    EXPECT_EQ(local(levels - 1), 0);
    for (std::uint64_t k = 1; k < levels; ++k) {
      EXPECT_NEAR(surface(k), 980.6 * (1 - rho(0, k, point) / rho(k, k, point)), 1e-10);
      const double expected = k < bottom ? 980.6 * (1 - rho(k - 1, k, point) / rho(k, k, point)) : 0;
      EXPECT_NEAR(local(k - 1), expected, 1e-10) << "level " << k - 1 << " of a column of " << bottom;
    }
  }
}

TEST(OceanWorkloads, verify_every_byte) {
  for (const char* name :
       {"pop-state:nx=5,ny=3,nz=4", "pop-state:nx=5,ny=3,nz=4,outputs=3", "pop-buoydiff:nx=3,ny=2,nz=5"})
    testing::expect_that_every_byte_is_verified(find_workload(name, {}));
}

TEST(OceanWorkloads, refuse_grids_and_outputs_that_cannot_be) {
  EXPECT_THROW(find_workload("pop-state:outputs=2", {}), UsageError);
  EXPECT_THROW(find_workload("pop-state:nx=0", {}), UsageError);
  EXPECT_THROW(find_workload("pop-buoydiff:nx=4294967296,ny=4294967296", {}), UsageError);
}

// Their terms would need terabytes before anything is planned.
TEST(Ocean, refuses_more_levels_than_it_keeps_terms_for) {
  for (const char* name : {"pop-state:nx=1,ny=1,nz=61175311832", "pop-buoydiff:nx=1,ny=1,nz=262145"})
    EXPECT_THROW(find_workload(name, {}), UsageError) << name;
  EXPECT_NO_THROW(find_workload("pop-state:nx=1,ny=1,nz=262144", {}));
}

}  // namespace
}  // namespace shiplap
