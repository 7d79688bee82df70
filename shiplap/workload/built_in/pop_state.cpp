// pop-state: the equation of state of sea water (MWJF) of the ocean model POP, as in van Werkhoven et al. 2014.
#include <fmt/format.h>

#include <array>

#include "shiplap/workload/built_in/built_in.hpp"
#include "shiplap/workload/built_in/efficiency.hpp"
#include "shiplap/workload/built_in/ocean.hpp"
#include "shiplap/workload/data.hpp"
#include "shiplap/workload/described_job.hpp"

namespace shiplap {
namespace {

using kernels::density;
using kernels::density_and_derivatives;
using kernels::DensityAndDerivatives;
using kernels::LevelTerms;
using kernels::water;

/// The correct value of an output at point i: density, or its derivative by temperature or by salinity.
double expected(std::uint64_t output, std::uint64_t i, const LevelTerms& terms) {
  const auto w = water(temperature_at(i), salinity_at(i));
  if (output == 0) return density(w, terms);
  const DensityAndDerivatives all = density_and_derivatives(w, terms);
  return output == 1 ? all.by_temperature : all.by_salinity;
}

ProgramText program_text(const OceanShape& shape, unsigned outputs) {
  ProgramText text{
      .kernel = kernel_text({"grid_stride", "seawater", "pop_state"}),
      .launch = fmt::format("launch_pop_state(as<double>({{0}}), as<double>({{1}}), as<LevelTerms>({{2}}), "
                            "as<double>({{3}}), {}, {{first}}, {{items}}, {}, {{blocks}}, {{stream}})",
                            outputs == 1 ? "nullptr, nullptr" : "as<double>({4}), as<double>({5})", shape.points),
      .data = ocean_program_data(shape),
      .arrays = {{"double", "initial_t", "initial_t"},
                 {"double", "initial_s", "initial_s"},
                 {"double", "initial_terms", "initial_terms"},
                 {"double", "poison", "expected_density"}}};
  if (outputs == 1) {
    text.data +=
        "double expected_density(std::uint64_t i) {\n"
        "  return density(water(initial_t(i), initial_s(i)), terms_of(i / points));\n}\n";
    return text;
  }
  text.data +=
      "DensityAndDerivatives expected_at(std::uint64_t i) {\n"
      "  return density_and_derivatives(water(initial_t(i), initial_s(i)), terms_of(i / points));\n}\n"
      "double expected_density(std::uint64_t i) { return expected_at(i).density; }\n"
      "double expected_by_t(std::uint64_t i) { return expected_at(i).by_temperature; }\n"
      "double expected_by_s(std::uint64_t i) { return expected_at(i).by_salinity; }\n";
  text.arrays.push_back({"double", "poison", "expected_by_t"});
  text.arrays.push_back({"double", "poison", "expected_by_s"});
  return text;
}

/// The terms of the level of point i: six doubles of the array `terms`.
LevelTerms terms_at(const OceanShape& shape, const View<const double>& terms, std::uint64_t i) {
  const double* t = &terms[6 * (i / shape.points)];
  return {t[0], t[1], t[2], t[3], t[4], t[5]};
}

Job pop_state_job(const OceanShape& shape, std::uint64_t outputs) {
  const std::uint64_t field = shape.points * shape.levels;
  const Job job{.items = shape.levels,
                .name = fmt::format("pop-state:{},outputs={}", to_string(shape), outputs),
                .blocks_per_item_group = (shape.points + 511) / 512,  // a block has 256 threads with two points each
                .any_grid = true,
                .each_byte_once = true,
                .flops = (outputs == 1 ? 40 : 89) * static_cast<double>(field),
                .double_precision = true,
                .device_traffic = Bytes{8 * field * (2 + outputs)},
                .efficiency = efficiency::pop_state};
  const auto described = job.shaped<const double>("t", Role::in, field)
                             .shaped<const double>("s", Role::in, field)
                             .shaped<const double>("terms", Role::broadcast, 6 * shape.levels)
                             .shaped<double>("density", Role::out, field);
  if (outputs == 1)
    return described.host_kernel([shape](Chunk, auto t, auto s, View<const double> terms, View<double> out) {
      for (std::uint64_t i = out.first(); i < out.end_index(); ++i)
        out[i] = density(water(t[i], s[i]), terms_at(shape, terms, i));
    });
  return described.shaped<double>("density by t", Role::out, field)
      .shaped<double>("density by s", Role::out, field)
      .host_kernel([shape](Chunk, auto t, auto s, View<const double> terms, View<double> out, View<double> by_t,
                           View<double> by_s) {
        for (std::uint64_t i = out.first(); i < out.end_index(); ++i) {
          const auto all = density_and_derivatives(water(t[i], s[i]), terms_at(shape, terms, i));
          out[i] = all.density;
          by_t[i] = all.by_temperature;
          by_s[i] = all.by_salinity;
        }
      });
}

/// Names the first result whose bits differ from the reference. Host and device have the same fused operations.
std::string wrong_state(const OceanShape& shape, const std::vector<LevelTerms>& terms,
                        std::span<const std::span<std::byte>> arrays) {
  constexpr std::array names{"density", "density by t", "density by s"};
  for (std::size_t output = 0; output + 3 < arrays.size(); ++output) {
    const auto out = as_elements<double>(arrays[output + 3]);
    const auto at = [&](std::uint64_t i) { return expected(output, i, terms[i / shape.points]); };
    if (const auto i = first_difference<double>(out, at); i < out.size())
      return fmt::format("{}[{}] is {} instead of {}", names[output], i, out[i], at(i));
  }
  return "";
}

Workload pop_state(Parameters& parameters, const CudaKernels& cuda) {
  const OceanShape shape = ocean_shape(parameters);
  const std::uint64_t outputs = parameters.count("outputs", "1");
  if (outputs != 1 && outputs != 3)
    parameters.refuse("outputs is 1 (density) or 3 (and its derivatives by temperature and salinity)");
  Workload w;
  w.job = pop_state_job(shape, outputs);
  if (cuda.pop_state != nullptr) w.job.binding.cuda = cuda.pop_state(shape, static_cast<unsigned>(outputs));
  w.program = program_text(shape, static_cast<unsigned>(outputs));
  const auto terms = terms_of_levels(shape.levels);
  w.fill = [terms](std::span<const std::span<std::byte>> arrays) {
    fill_ocean(arrays, terms);
    for (std::size_t a = 3; a < arrays.size(); ++a)
      generate(as_elements<double>(arrays[a]), [](std::uint64_t i) { return static_cast<double>(hash_of(i, 9)); });
  };
  w.verify = [terms, shape](std::span<const std::span<std::byte>> arrays) -> std::string {
    if (std::string wrong = overwritten_ocean(arrays, terms); !wrong.empty()) return wrong;
    return wrong_state(shape, terms, arrays);
  };
  return w;
}

}  // namespace

const BuiltInWorkload pop_state_workload{
    .help = {"pop-state", "nx=COUNT (1024), ny=COUNT (1024), nz=COUNT (42), outputs=1|3 (1)",
             "density of sea water from temperature and salinity, level by level"},
    .make = pop_state,
    .sizes = ocean_sizes,
    .items = "nz"};

}  // namespace shiplap
