// pop-buoydiff: buoyancy differences of the ocean model POP between each level and the surface, and between
// neighbouring levels (van Werkhoven et al. 2014). For level k it reads the levels 0, k - 1 and k, and writes level k
// of the first result and level k - 1 of the second.
#include <fmt/format.h>

#include <algorithm>

#include "shiplap/workload/built_in/built_in.hpp"
#include "shiplap/workload/built_in/efficiency.hpp"
#include "shiplap/workload/built_in/ocean.hpp"
#include "shiplap/workload/data.hpp"
#include "shiplap/workload/described_job.hpp"

namespace shiplap {
namespace {

using kernels::buoyancy_difference;
using kernels::LevelTerms;
using kernels::ratio;
using kernels::water;

/// The depth of a column in levels. Some columns are all land, and some are all water.
std::int32_t bottom_at(std::uint64_t point, std::uint64_t levels) {
  return static_cast<std::int32_t>(hash_of(point, 10) % (levels + 1));
}

/// The difference between the surface and level k. `water_at` returns the water of the column at a level.
template <class WaterAt>
double to_surface(std::uint64_t k, const LevelTerms& terms, const WaterAt& water_at) {
  return k == 0 ? 0.0 : buoyancy_difference(ratio(water_at(0), terms), ratio(water_at(k), terms));
}
/// The difference between level k - 1 and level k at the pressure of level k. It is 0 at the bottom and below.
template <class WaterAt>
double local_above(std::uint64_t k, const LevelTerms& terms, std::int32_t bottom, const WaterAt& water_at) {
  if (k >= static_cast<std::uint64_t>(bottom)) return 0.0;
  return buoyancy_difference(ratio(water_at(k - 1), terms), ratio(water_at(k), terms));
}

/// The elements of `local` that the kernel of these levels writes: those of the level before each of them. The kernel
/// of the last level writes its own elements too.
ElementRange local_reach(const OceanShape& shape, ItemRange levels) {
  const std::uint64_t end = levels.first + levels.count;
  const std::uint64_t first = std::max<std::uint64_t>(levels.first, 1) - 1;
  const std::uint64_t last = end == shape.levels ? end : std::max<std::uint64_t>(end, 1) - 1;
  return {first * shape.points, (last - first) * shape.points};
}

ProgramText program_text(const OceanShape& shape) {
  return {
      .kernel = kernel_text({"grid_stride", "seawater", "pop_buoydiff"}),
      .launch = fmt::format(
          "launch_pop_buoydiff({{as<double>({{0}}), as<double>({{1}}), as<LevelTerms>({{2}}), as<double>({{3}}), "
          "as<double>({{4}}), as<std::int32_t>({{5}}), as<double>({{6}}), as<double>({{7}})}}, {{first}}, {{items}}, "
          "{}, {}, {{blocks}}, {{stream}})",
          shape.levels, shape.points),
      .data = ocean_program_data(shape) +
              R"(std::int32_t initial_bottom(std::uint64_t i) { return std::int32_t(i * 2654435761u % (levels + 1)); }
Water initial_water(std::uint64_t i) { return water(initial_t(i), initial_s(i)); }
double expected_to_surface(std::uint64_t i) {
  if (i < points) return 0;
  const LevelTerms terms = terms_of(i / points);
  return buoyancy_difference(ratio(initial_water(i % points), terms), ratio(initial_water(i), terms));
}
double expected_local(std::uint64_t i) {
  const std::uint64_t below = i / points + 1;
  if (below >= std::uint64_t(initial_bottom(i % points)) || below == levels) return 0;
  const LevelTerms terms = terms_of(below);
  return buoyancy_difference(ratio(initial_water(i), terms), ratio(initial_water(i + points), terms));
}
)",
      .arrays = {{"double", "initial_t", "initial_t"},
                 {"double", "initial_s", "initial_s"},
                 {"double", "initial_terms", "initial_terms"},
                 {},
                 {},
                 {"std::int32_t", "initial_bottom", "initial_bottom"},
                 {"double", "poison", "expected_to_surface"},
                 {"double", "poison", "expected_local"}}};
}

/// Computes both results for the levels of a chunk. The difference to the level above is written one level up. That of
/// the last level is 0.
void compute_levels(const OceanShape& shape, Chunk chunk, View<const double> t, View<const double> s,
                    View<const double> terms, View<const double> surface_t, View<const double> surface_s,
                    View<const std::int32_t> bottom, View<double> surface, View<double> local) {
  const std::uint64_t points = shape.points;
  for (std::uint64_t k = chunk.first; k < chunk.end(); ++k) {
    const double* at = &terms[6 * k];
    const LevelTerms level{at[0], at[1], at[2], at[3], at[4], at[5]};
    for (std::uint64_t point = 0; point < points; ++point) {
      const auto water_at = [&](std::uint64_t at_level) {
        if (at_level == 0) return water(surface_t[point], surface_s[point]);
        return water(t[at_level * points + point], s[at_level * points + point]);
      };
      surface[k * points + point] = to_surface(k, level, water_at);
      if (k > 0) local[(k - 1) * points + point] = local_above(k, level, bottom[point], water_at);
    }
  }
  if (chunk.end() == shape.levels)
    for (std::uint64_t point = 0; point < points; ++point) local[(shape.levels - 1) * points + point] = 0;
}

Job pop_buoydiff_job(const OceanShape& shape) {
  const std::uint64_t points = shape.points;
  const std::uint64_t field = points * shape.levels;
  // With an even number of points each of the 256 threads of a block computes two columns.
  const std::uint64_t points_per_block = points % 2 == 0 ? 512 : 256;
  return Job{.items = shape.levels,
             .name = fmt::format("pop-buoydiff:{}", to_string(shape)),
             .blocks_per_item_group = (points + points_per_block - 1) / points_per_block,
             .any_grid = true,
             .each_byte_once = true,
             .flops = 126 * static_cast<double>(field),
             .double_precision = true,
             .device_traffic = Bytes{8 * field * 4},
             .efficiency = efficiency::pop_buoydiff}
      .shaped<const double>("t", Role::in, field, halo(1, 0))
      .shaped<const double>("s", Role::in, field, halo(1, 0))
      .shaped<const double>("terms", Role::broadcast, 6 * shape.levels)
      .prefix_of<double>("t", "surface t", points)
      .prefix_of<double>("s", "surface s", points)
      .shaped<const std::int32_t>("bottom", Role::broadcast, points)
      .reads("t", 3)  // this level, the one above and the surface
      .reads("s", 3)
      .shaped<double>("to surface", Role::out, field)
      .shaped<double>("local", Role::out, field,
                      mapped_by([shape](ItemRange levels) { return local_reach(shape, levels); }))
      .host_kernel([shape](Chunk chunk, View<const double> t, View<const double> s, View<const double> terms,
                           View<const double> surface_t, View<const double> surface_s, View<const std::int32_t> bottom,
                           View<double> surface, View<double> local) {
        compute_levels(shape, chunk, t, s, terms, surface_t, surface_s, bottom, surface, local);
      });
}

/// Names the first result whose bits differ from the reference. Host and device have the same fused operations.
std::string wrong_buoydiff(const OceanShape& shape, const std::vector<LevelTerms>& terms,
                           std::span<const std::span<std::byte>> arrays) {
  const std::uint64_t points = shape.points;
  const auto check = [&](const char* name, std::size_t array, const auto& expected) -> std::string {
    const auto out = as_elements<double>(arrays[array]);
    const auto i = first_difference<double>(out, expected);
    return i < out.size() ? fmt::format("{}[{}] is {} instead of {}", name, i, out[i], expected(i)) : "";
  };
  const auto of_column = [points](std::uint64_t point) {
    return [=](std::uint64_t k) { return water(temperature_at(k * points + point), salinity_at(k * points + point)); };
  };
  const std::string surface = check("to surface", 6, [&](std::uint64_t i) {
    return to_surface(i / points, terms[i / points], of_column(i % points));
  });
  if (!surface.empty()) return surface;
  return check("local", 7, [&](std::uint64_t i) {
    const std::uint64_t below = i / points + 1;
    if (below == shape.levels) return 0.0;
    return local_above(below, terms[below], bottom_at(i % points, shape.levels), of_column(i % points));
  });
}

Workload pop_buoydiff(Parameters& parameters, const CudaKernels& cuda) {
  const OceanShape shape = ocean_shape(parameters);
  const auto terms = terms_of_levels(shape.levels);
  const auto bottom_of = [levels = shape.levels](std::uint64_t i) { return bottom_at(i, levels); };
  Workload w;
  w.job = pop_buoydiff_job(shape);
  if (cuda.pop_buoydiff != nullptr) w.job.binding.cuda = cuda.pop_buoydiff(shape);
  w.program = program_text(shape);
  w.fill = [terms, bottom_of](std::span<const std::span<std::byte>> arrays) {
    fill_ocean(arrays, terms);
    generate(as_elements<std::int32_t>(arrays[5]), bottom_of);
    for (const std::size_t a : {6, 7})
      generate(as_elements<double>(arrays[a]), [](std::uint64_t i) { return static_cast<double>(1 + hash_of(i, 11)); });
  };
  w.verify = [=](std::span<const std::span<std::byte>> arrays) -> std::string {
    if (std::string wrong = overwritten_ocean(arrays, terms); !wrong.empty()) return wrong;
    const auto bottom = as_elements<std::int32_t>(arrays[5]);
    if (const auto i = first_difference<std::int32_t>(bottom, bottom_of); i < bottom.size())
      return fmt::format("input bottom[{}] was overwritten", i);
    return wrong_buoydiff(shape, terms, arrays);
  };
  return w;
}

}  // namespace

const BuiltInWorkload pop_buoydiff_workload{
    .help = {"pop-buoydiff", "nx=COUNT (1024), ny=COUNT (1024), nz=COUNT (42)",
             "buoyancy differences of sea water between each level, the one above and the surface"},
    .make = pop_buoydiff,
    .sizes = ocean_sizes,
    .items = "nz"};

}  // namespace shiplap
