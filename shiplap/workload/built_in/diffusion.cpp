// diffusion: horizontal diffusion of fourth order on periodic levels (ETH 2025), φ ← φ − α Δ(Δφ) in each time step.
#include "shiplap/workload/built_in/diffusion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "shiplap/workload/built_in/built_in.hpp"
#include "shiplap/workload/built_in/diffusion_point.cuh"
#include "shiplap/workload/built_in/efficiency.hpp"
#include "shiplap/workload/data.hpp"
#include "shiplap/workload/described_job.hpp"

namespace shiplap {
namespace {

std::uint64_t points_of(const DiffusionShape& s) { return std::uint64_t{s.nx} * s.ny; }

// Computes one time step of one level.
void step(const DiffusionShape& s, const double* in, double* out) {
  const std::uint64_t nx = s.nx;
  const std::uint64_t ny = s.ny;
  for (std::uint64_t y = 0; y < ny; ++y) {
    const auto row = [&](std::uint64_t distance) { return in + (y + 2 * ny + distance - 2) % ny * nx; };
    const double* rows[5]{row(0), row(1), row(2), row(3), row(4)};
    for (std::uint64_t x = 0; x < nx; ++x) {
      const std::uint64_t west = (x + 2 * nx - 1) % nx, far_west = (x + 2 * nx - 2) % nx;
      const std::uint64_t east = (x + 1) % nx, far_east = (x + 2) % nx;
      const kernels::Neighbours n{.beside = (rows[2][west] + rows[2][east]) + (rows[1][x] + rows[3][x]),
                                  .corners = (rows[1][west] + rows[1][east]) + (rows[3][west] + rows[3][east]),
                                  .two_away = (rows[2][far_west] + rows[2][far_east]) + (rows[0][x] + rows[4][x])};
      out[y * nx + x] = kernels::diffused(rows[2][x], n, s.alpha);
    }
  }
}

// Computes `steps` time steps of one level. `in` and `out` may be the same.
void diffuse(const DiffusionShape& s, std::uint64_t steps, const double* in, double* out) {
  std::vector<double> a(in, in + points_of(s));
  std::vector<double> b(points_of(s));
  for (std::uint64_t done = 0; done < steps; ++done, a.swap(b)) step(s, a.data(), b.data());
  std::ranges::copy(a, out);
}

// The initial levels are copies of one base level, each shifted by another distance. Diffusion commutes with shifts, so
// the results are the results of the base level, shifted.
std::uint64_t place_in_base(const DiffusionShape& s, std::uint64_t i) {
  const std::uint64_t level = i / points_of(s);
  const std::uint64_t y = i % points_of(s) / s.nx;
  const std::uint64_t x = i % s.nx;
  return (y + hash_of(level, 12)) % s.ny * s.nx + (x + (hash_of(level, 13) >> 1)) % s.nx;
}
double base_at(std::uint64_t i) { return static_cast<double>(1 + (hash_of(i, 14) >> 32)) / 4294967296.0 - 0.25; }

/// The base level after all time steps. It is computed when it is needed first.
class Reference {
 public:
  explicit Reference(const DiffusionShape& shape) : shape_(shape) {}
  const std::vector<double>& base() {
    std::call_once(made_, [this] {
      base_.resize(points_of(shape_));
      generate(std::span(base_), base_at);
      diffuse(shape_, shape_.steps, base_.data(), base_.data());
    });
    return base_;
  }

 private:
  DiffusionShape shape_;
  std::once_flag made_;
  std::vector<double> base_;
};

void diffuse_levels(const DiffusionShape& s, std::uint64_t levels, std::uint64_t steps, const double* in, double* out) {
  const std::uint64_t points = points_of(s);
  parallel_for(levels, 1, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t level = begin; level < end; ++level)
      diffuse(s, steps, in + level * points, out + level * points);
  });
}

Job by_levels(const DiffusionShape& s, Job job) {
  const std::uint64_t field = s.nz * points_of(s);
  job.items = s.nz;
  const auto compute = [s](Chunk chunk, const View<const double>& in, const View<double>& out) {
    if (chunk.count > 0) diffuse_levels(s, chunk.count, s.steps, in.data(), out.data());
  };
  const auto arrays = job.shaped<const double>("in", Role::in, field).shaped<double>("out", Role::out, field);
  if (s.steps == 1) return arrays.host_kernel(compute);
  const auto one = arrays.scratch<double>("a", field);
  if (s.steps == 2) return one.host_kernel([=](Chunk chunk, auto in, auto out, auto) { compute(chunk, in, out); });
  return one.scratch<double>("b", field).host_kernel([=](Chunk chunk, auto in, auto out, auto, auto) {
    compute(chunk, in, out);
  });
}

Job by_steps(const DiffusionShape& s, Job job) {
  const std::uint64_t field = s.nz * points_of(s);
  job.items = s.steps;
  return job.shaped<double>("field", Role::carried, field)
      .scratch<double>("other", field, mapped_by([field](ItemRange) {
                         return ElementRange{0, field};
                       }))
      .host_kernel([s](Chunk chunk, auto u, auto) { diffuse_levels(s, s.nz, chunk.count, u.data(), u.data()); });
}

ProgramText program_text(const DiffusionShape& s) {
  ProgramText text{
      .kernel = kernel_text({"grid_stride", "diffusion_point", "diffusion"}), .launch = {}, .data = {}, .arrays = {}};
  const std::string constants = fmt::format("{}, {}, {}", s.nx, s.ny, s.alpha);
  text.launch =
      s.split_by_steps
          ? fmt::format(
                "launch_diffusion_in_place(as<double>({{0}}), as<double>({{1}}), {}, {}, {{items}}, {{blocks}}, "
                "{{stream}})",
                s.nz, constants)
          : fmt::format(
                "launch_diffusion(as<double>({{0}}), as<double>({{1}}), {}, {{items}}, {}, {}, {{blocks}}, "
                "{{stream}})",
                s.steps == 1   ? "nullptr, nullptr"
                : s.steps == 2 ? "as<double>({2}), nullptr"
                               : "as<double>({2}), as<double>({3})",
                constants, s.steps);
  text.data = fmt::format(
      R"(constexpr std::uint64_t nx = {}, ny = {};
// The levels are copies of one base level, each shifted by another distance. Diffusion commutes with shifts.
std::uint64_t place_in_base(std::uint64_t i) {{
  const std::uint64_t level = i / (nx * ny), y = i % (nx * ny) / nx, x = i % nx;
  return (y + level * 7) % ny * nx + (x + level * 11) % nx;
}}
double base(std::uint64_t i) {{ return double(1 + i * 2654435761u % 65521) / 65536 - 0.25; }}
double initial(std::uint64_t i) {{ return base(place_in_base(i)); }}
double poison(std::uint64_t i) {{ return double(2 + i % 1021); }}  // must be overwritten
double expected(std::uint64_t i) {{
  static const std::vector<double> reference = [] {{
    std::vector<double> a(nx * ny), b(nx * ny);
    for (std::uint64_t p = 0; p < a.size(); ++p) a[p] = base(p);
    for (int step = 0; step < {}; ++step, a.swap(b))
      for (std::uint64_t y = 0; y < ny; ++y)
        for (std::uint64_t x = 0; x < nx; ++x) {{
          const auto at = [&](int dy, int dx) {{ return a[(y + 2 * ny + dy) % ny * nx + (x + 2 * nx + dx) % nx]; }};
          const Neighbours n{{(at(0, -1) + at(0, 1)) + (at(-1, 0) + at(1, 0)),
                             (at(-1, -1) + at(-1, 1)) + (at(1, -1) + at(1, 1)),
                             (at(0, -2) + at(0, 2)) + (at(-2, 0) + at(2, 0))}};
          b[y * nx + x] = diffused(at(0, 0), n, {});
        }}
    return a;
  }}();
  return reference[place_in_base(i)];
}}
)",
      s.nx, s.ny, s.steps, s.alpha);
  if (s.split_by_steps)
    text.arrays = {{"double", "initial", "expected"}, {}};
  else
    text.arrays = {{"double", "initial", "initial"}, {"double", "poison", "expected"}, {}, {}};
  text.arrays.resize(s.split_by_steps ? 2 : 2 + std::min(s.steps - 1, 2u));
  return text;
}

Workload diffusion(Parameters& parameters, const CudaKernels& cuda) {
  DiffusionShape s;
  const auto length = [&](const char* name, const char* fallback) {
    const std::uint64_t value = parameters.count(name, fallback);
    if (value > 1u << 20) parameters.refuse(fmt::format("{} must be at most 1Mi", name));
    return static_cast<std::uint32_t>(value);
  };
  s.nx = length("nx", "128");
  s.ny = length("ny", "128");
  s.nz = parameters.count("nz", "1024");
  s.steps = length("steps", "16");
  const std::uint64_t inverse = parameters.count("inverse_alpha", "32");
  if (inverse < 32) parameters.refuse("inverse_alpha must be at least 32: with a larger α the time steps are unstable");
  s.alpha = 1.0 / static_cast<double>(inverse);
  s.split_by_steps = parameters.one_of("split", {"levels", "steps"}) == 1;
  // A step reads and writes 8 bytes of each point, and the bytes of all steps are counted; four times as many fit, so
  // that sums of several arrays fit too.
  if (s.nz > std::numeric_limits<std::uint64_t>::max() / 64 / points_of(s) / s.steps)
    parameters.refuse("nx, ny, nz and steps give more bytes than can be counted");

  const std::uint64_t field = s.nz * points_of(s);
  const auto updates = static_cast<double>(field) * s.steps;
  const Job job{
      .name = fmt::format("diffusion:nx={},ny={},nz={},steps={}{}{}", s.nx, s.ny, s.nz, s.steps,
                          inverse == 32 ? "" : fmt::format(",inverse_alpha={}", inverse),
                          s.split_by_steps ? ",split=steps" : ""),
      .blocks_per_item_group = std::uint64_t{(s.nx + 63) / 64} * ((s.ny + 63) / 64) * (s.split_by_steps ? s.nz : 1),
      .any_grid = true,
      .launches = s.split_by_steps ? 0 : s.steps,
      .launches_per_item = s.split_by_steps ? 1.0 : 0.0,
      .each_byte_once = s.steps == 1 && !s.split_by_steps,
      .flops = 18 * updates,  // operations for a point and a time step
      .double_precision = true,
      .device_traffic = Bytes{16 * field * s.steps},
      .efficiency = efficiency::diffusion};
  Workload w;
  w.job = s.split_by_steps ? by_steps(s, job) : by_levels(s, job);
  if (cuda.diffusion != nullptr) w.job.binding.cuda = cuda.diffusion(s);
  w.program = program_text(s);
  const auto initial = [s](std::uint64_t i) { return base_at(place_in_base(s, i)); };
  w.fill = [=](std::span<const std::span<std::byte>> arrays) {
    generate(as_elements<double>(arrays[0]), initial);
    if (!s.split_by_steps)  // no result is 2 or more
      generate(as_elements<double>(arrays[1]), [](std::uint64_t i) { return static_cast<double>(2 + hash_of(i, 15)); });
  };
  w.verify = [=,
              reference = std::make_shared<Reference>(s)](std::span<const std::span<std::byte>> arrays) -> std::string {
    const std::vector<double>& base = reference->base();
    const auto in = as_elements<double>(arrays[0]);
    const auto out = as_elements<double>(arrays[s.split_by_steps ? 0 : 1]);
    if (const auto i = s.split_by_steps ? in.size() : first_difference<double>(in, initial); i < in.size())
      return fmt::format("input in[{}] was overwritten", i);
    const auto expected = [&](std::uint64_t i) { return base[place_in_base(s, i)]; };
    if (const auto i = first_difference<double>(out, expected); i < out.size())
      return fmt::format("{}[{}] is {} instead of {}", s.split_by_steps ? "field" : "out", i, out[i], expected(i));
    return "";
  };
  return w;
}

}  // namespace

const BuiltInWorkload diffusion_workload{
    .help = {"diffusion",
             "nx=COUNT (128), ny=COUNT (128), nz=COUNT (1024), steps=COUNT (16), split=levels|steps (levels), "
             "inverse_alpha=COUNT (32)",
             "time steps of diffusion of fourth order on periodic levels"},
    .make = diffusion,
    .sizes = [](Bytes size) {
      constexpr std::uint64_t level = 128 * 128 * sizeof(double);
      return fmt::format("nz={}", std::max<std::uint64_t>(1, (size.count + level / 2) / level));
    }};

}  // namespace shiplap
