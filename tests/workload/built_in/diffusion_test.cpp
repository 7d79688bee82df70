#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "shiplap/core/error.hpp"
#include "shiplap/workload/built_in/diffusion_point.cuh"
#include "shiplap/workload/workload.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/workload_memory.hpp"

namespace shiplap {
namespace {

using Level = std::vector<double>;

// The Laplacian of five points on a periodic level.
Level laplacian(const Level& u, std::size_t nx, std::size_t ny) {
  Level result(u.size());
  for (std::size_t y = 0; y < ny; ++y)
    for (std::size_t x = 0; x < nx; ++x)
      result[y * nx + x] = u[y * nx + (x + 1) % nx] + u[y * nx + (x + nx - 1) % nx] + u[(y + 1) % ny * nx + x] +
                           u[(y + ny - 1) % ny * nx + x] - 4 * u[y * nx + x];
  return result;
}

TEST(Diffusion, subtracts_the_laplacian_of_the_laplacian_in_each_step) {
  for (const auto& [nx, ny] : {std::pair{7u, 5u}, std::pair{4u, 1u}, std::pair{1u, 1u}, std::pair{2u, 3u}}) {
    const Workload w = find_workload(fmt::format("diffusion:nx={},ny={},nz=3,steps=4,inverse_alpha=40", nx, ny), {});
    testing::WorkloadMemory arrays(w);
    Level level(arrays.array<double>(0).begin() + nx * ny, arrays.array<double>(0).begin() + 2 * nx * ny);
    for (int step = 0; step < 4; ++step) {
      const Level twice = laplacian(laplacian(level, nx, ny), nx, ny);
      for (std::size_t i = 0; i < level.size(); ++i) level[i] -= twice[i] / 40;
    }
    arrays.run_in(2);
    EXPECT_EQ(w.verify(arrays.arrays()), "");
    for (std::size_t i = 0; i < level.size(); ++i)
      EXPECT_NEAR(arrays.array<double>(1)[nx * ny + i], level[i], 1e-14) << nx << " x " << ny << ", point " << i;
  }
}

TEST(Diffusion, damps_a_wave_by_its_amplification_factor) {
  // exp(i (kx x + ky y)): 1 - α (2 cos kx - 2 + 2 cos ky - 2)²
  for (const double kx : {0.0, 0.7, std::numbers::pi})
    for (const double ky : {0.3, std::numbers::pi}) {
      const auto u = [&](int x, int y) { return std::cos(kx * x + ky * y); };
      const kernels::Neighbours n{.beside = u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1),
                                  .corners = u(-1, -1) + u(-1, 1) + u(1, -1) + u(1, 1),
                                  .two_away = u(-2, 0) + u(2, 0) + u(0, -2) + u(0, 2)};
      const double wave = 2 * std::cos(kx) - 2 + 2 * std::cos(ky) - 2;
      EXPECT_NEAR(kernels::diffused(1, n, 1.0 / 32), 1 - wave * wave / 32, 1e-14);
    }
}

TEST(Diffusion, gives_the_same_split_by_levels_and_by_steps) {
  const Workload levels = find_workload("diffusion:nx=9,ny=8,nz=5,steps=6", {});
  const Workload steps = find_workload("diffusion:nx=9,ny=8,nz=5,steps=6,split=steps", {});
  testing::WorkloadMemory one(levels);
  testing::WorkloadMemory other(steps);
  one.run_in(5);
  other.run_in(4);
  EXPECT_TRUE(std::ranges::equal(one.array<double>(1), other.array<double>(0)));
  EXPECT_EQ(steps.verify(other.arrays()), "");
}

TEST(Diffusion, notices_a_step_too_few_or_too_many) {
  for (const char* name : {"diffusion:nx=16,ny=16,nz=2,steps=63", "diffusion:nx=16,ny=16,nz=2,steps=65"}) {
    const Workload other = find_workload(name, {});
    const Workload right = find_workload("diffusion:nx=16,ny=16,nz=2,steps=64", {});
    testing::WorkloadMemory arrays(right);
    testing::WorkloadMemory wrong(other);
    wrong.run_in(1);
    std::ranges::copy(wrong.array<double>(1), arrays.array<double>(1).begin());
    EXPECT_NE(right.verify(arrays.arrays()), "") << name;
  }
}

TEST(Diffusion, verifies_every_byte) {
  for (const char* name : {"diffusion:nx=6,ny=5,nz=3,steps=1", "diffusion:nx=6,ny=5,nz=3,steps=5",
                           "diffusion:nx=6,ny=5,nz=2,steps=3,split=steps"}) {
    const Workload w = find_workload(name, {});
    testing::expect_that_every_byte_is_verified(w);
  }
}

TEST(Diffusion, refuses_a_coefficient_with_which_steps_are_unstable) {
  EXPECT_THROW(find_workload("diffusion:inverse_alpha=31", {}), UsageError);
}

TEST(Diffusion, refuses_more_bytes_than_can_be_counted) {
  for (const char* text : {"diffusion:nx=1Mi,ny=1Mi,nz=256Ki,steps=1", "diffusion:nx=1Mi,ny=1Mi,nz=1,steps=1Mi"})
    EXPECT_EQ(message_of<UsageError>([&] { find_workload(text, {}); }),
              "diffusion: nx, ny, nz and steps give more bytes than can be counted");
  EXPECT_NO_THROW(find_workload("diffusion:nx=1Mi,ny=1Mi,nz=1Ki", {}));
}

}  // namespace
}  // namespace shiplap
