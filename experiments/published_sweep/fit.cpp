#include "experiments/published_sweep/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "experiments/published_sweep/nonlinear_fit.hpp"
#include "shiplap/core/parallel.hpp"
#include "shiplap/sim/simulate.hpp"
#include "shiplap/strategy/strategy.hpp"

namespace shiplap::experiments::published_sweep {
namespace {

// NVIDIA's data sheet of the GH200 with 96 GB: SMs of its H100 die, 2048 threads per SM.
constexpr unsigned gh200_multiprocessors = 132;
constexpr std::uint64_t gh200_resident_threads = std::uint64_t{gh200_multiprocessors} * 2048;
constexpr Bytes gh200_memory{96'000'000'000};
constexpr std::uint64_t fitted_threads_per_block = 256;

// Sizes of the rows of L+o and g. At 4 KiB, submission limits the rate of copies, so the points do not determine g.
constexpr std::array row_sizes{4_KiB, 16_KiB, 64_KiB, 256_KiB, 1_MiB, 4_MiB, 16_MiB};
constexpr std::size_t fitted_gaps = row_sizes.size() - 1;
constexpr unsigned calls_per_chunk = 3;  // copy, launch, copy

/// The unknowns in the order in which they are fitted, in seconds and seconds per byte.
struct Unknowns {
  double h2d_per_byte = 1.2e-11;
  double d2h_per_byte = 1e-11;
  double call = 1.5e-6;
  std::array<double, 3> latency{3e-5, 3e-5, 3e-5};  // L+o of both directions together, at 16 KiB, 256 KiB and 16 MiB
  std::array<double, fitted_gaps> gap{5e-6, 5e-6, 5e-6, 5e-6, 5e-6, 5e-6};
  double per_element_and_call = 1.5e-12;
  // These two are fitted only where the number of calls varies.
  double latency_per_call = 1.2e-7;
  double per_element = 1e-12;
};

// Calls `visit(unknown)` for each unknown. Packing, unpacking and intervals use this one order.
template <class U, class Visit>
void for_each_unknown(U& unknowns, bool calls_vary, Visit visit) {
  visit(unknowns.h2d_per_byte);
  visit(unknowns.d2h_per_byte);
  visit(unknowns.call);
  for (auto& latency : unknowns.latency) visit(latency);
  for (auto& gap : unknowns.gap) visit(gap);
  visit(unknowns.per_element_and_call);
  if (!calls_vary) return;
  visit(unknowns.latency_per_call);
  visit(unknowns.per_element);
}

std::vector<double> packed(const Unknowns& unknowns, bool calls_vary) {
  std::vector<double> out;
  for_each_unknown(unknowns, calls_vary, [&](double value) { out.push_back(value); });
  return out;
}

Unknowns unpacked(std::span<const double> values, bool calls_vary) {
  Unknowns out;
  std::size_t i = 0;
  for_each_unknown(out, calls_vary, [&](double& value) { value = values[i++]; });
  if (!calls_vary) out.latency_per_call = out.per_element = 0;
  return out;
}

/// Interpolates between the three fitted sizes over the logarithm of the size.
double latency_at(const std::array<double, 3>& latency, Bytes size) {
  const double x = std::log2(in_bytes(size));
  if (x <= 14) return latency[0];
  if (x <= 18) return latency[0] + (latency[1] - latency[0]) * (x - 14) / 4;
  return latency[1] + (latency[2] - latency[1]) * std::min(1.0, (x - 18) / 6);
}

Profile profile_of(const Unknowns& u) {
  Profile profile;
  profile.gpus.push_back({.name = "NVIDIA GH200",
                          .memory = gh200_memory,
                          .sm_count = gh200_multiprocessors,
                          .launch_latency = {},
                          .kernel_gap = {},
                          .handovers = {},
                          .resident_threads = Interval<double>::exact(static_cast<double>(gh200_resident_threads)),
                          .memory_bandwidth = {},
                          .flop_rate = {}});
  const auto direction = [&](double per_byte) {
    DirectionModel model{.per_byte = Interval<PerByte>::exact({per_byte}), .costs = {}, .duplex = {}};
    for (std::size_t row = 0; row < row_sizes.size(); ++row) {
      const double gap = row == 0 ? calls_per_chunk * u.call : u.gap[row - 1];
      model.costs.push_back(
          {.size = row_sizes[row],
           .latency_overhead = Interval<Seconds>::exact(Seconds{latency_at(u.latency, row_sizes[row]) / 2}),
           .gap = Interval<Seconds>::exact(Seconds{gap})});
    }
    return model;
  };
  profile.links.push_back({.h2d = direction(u.h2d_per_byte), .d2h = direction(u.d2h_per_byte)});
  profile.submission.copy = profile.submission.launch = Interval<Seconds>::exact(Seconds{u.call});
  return profile;
}

PublishedKernel kernel_of(const Unknowns& u) {
  return {.latency_per_call = Interval<Seconds>::exact(Seconds{u.latency_per_call}),
          .per_element = Interval<Seconds>::exact(Seconds{u.per_element}),
          .per_element_and_call = Interval<Seconds>::exact(Seconds{u.per_element_and_call})};
}

Seconds simulated(const PublishedPoint& point, const Profile& profile, const PublishedKernel& kernel) {
  const Choice choice{.chunks = point.streams, .layout = Layout::per_chunk, .order = IssueOrder::depth};
  const Limits limits{.device_memory = gh200_memory, .resident_threads = gh200_resident_threads};
  const Schedule schedule = find_strategy("streams").schedule(published_job(point, kernel), choice, limits);
  return simulate(schedule, profile).timeline.makespan;
}

std::vector<double> relative_errors(std::span<const PublishedPoint> points, const Unknowns& unknowns) {
  const Profile profile = profile_of(unknowns);
  const PublishedKernel kernel = kernel_of(unknowns);
  std::vector<double> out(points.size());
  parallel_for(points.size(), 16, [&](std::uint64_t at, std::uint64_t end) {
    for (; at < end; ++at) out[at] = simulated(points[at], profile, kernel) / points[at].time - 1;
  });
  return out;
}

/// Limits of a fitted value when all unknowns are at their limits. Each value is at most a mean of unknowns.
template <class T>
void set_limits(Interval<T>& of, const T& low, const T& high) {
  of.low = std::min(low, of.value);
  of.high = std::max(high, of.value);
}

void set_limits(Profile& of, const Profile& low, const Profile& high) {
  for (const auto direction : {&LinkModel::h2d, &LinkModel::d2h}) {
    DirectionModel& model = of.links[0].*direction;
    const DirectionModel& lower = low.links[0].*direction;
    const DirectionModel& upper = high.links[0].*direction;
    set_limits(model.per_byte, lower.per_byte.value, upper.per_byte.value);
    for (std::size_t row = 0; row < model.costs.size(); ++row) {
      set_limits(model.costs[row].latency_overhead, lower.costs[row].latency_overhead.value,
                 upper.costs[row].latency_overhead.value);
      set_limits(model.costs[row].gap, lower.costs[row].gap.value, upper.costs[row].gap.value);
    }
    // The gap has no lower limit, because these copies are limited by submission.
    model.costs[0].gap.low = Seconds{0};
  }
  for (const auto call : {&SubmissionModel::copy, &SubmissionModel::launch})
    set_limits(*(of.submission.*call), (low.submission.*call)->value, (high.submission.*call)->value);
}

std::vector<Missing> missing_parameters() {
  const std::string contained = "not separable in the published times; L+o contains it";
  const std::string absent = "not published";
  std::vector<Missing> out;
  for (const char* parameter : {"gpus[0].launch_latency", "gpus[0].kernel_gap", "gpus[0].handovers"})
    out.push_back({parameter, contained});
  for (const char* way : {"h2d", "d2h"}) {
    out.push_back({fmt::format("links[0].{}.duplex", way),
                   "not separable in the published times: unequal rates of the two directions and lower rates while "
                   "both are busy explain them equally well; G and g are those of a pipeline with duplex copies"});
  }
  for (const char* object : {"gpus[0]", "links[0]", "host", "submission"}) out.push_back({object, absent});
  return out;
}

void describe(Profile& profile, std::span<const PublishedPoint> points, const std::string& file) {
  const std::uint64_t largest = std::ranges::max(points, {}, &PublishedPoint::size).size;
  const std::uint32_t streams = std::ranges::max(points, {}, &PublishedPoint::streams).streams;
  profile.origin = Origin::derived;
  profile.source = fmt::format(
      "Overlapping data transfer and computation on GPU, project report of the course HPC4WC, ETH Zurich, 2025: fitted "
      "with this simulator (not measured) to the authors' published times in {} of "
      "github.com/grafrap/HPC4WC-overlapping, commit 9d516c9: its {} points of up to {} elements and {} streams. The "
      "times are by the host's clock over the whole program, so L+o holds the launch latency "
      "and the synchronisation, half of the sum in each direction. Only the sum of the two copies' and the launch's "
      "submission is identified, and given to each in equal parts. Which direction has which G is not identified. g of "
      "4 KiB is an upper limit: what three calls take. Memory, SMs and resident threads from NVIDIA's "
      "published data of the product.",
      file, points.size(), largest, streams);
  profile.conditions = {{"clock", "host"},
                        {"cuda", "12.3"},
                        {"node", "Grace Hopper, cluster santis of the Alps infrastructure"},
                        {"numa node of the host's memory", unknown_fact}};
  profile.missing = missing_parameters();
}

}  // namespace

Job published_job(const PublishedPoint& point, const PublishedKernel& kernel) {
  const Bytes size = 4_B * point.size;
  Job job{.items = point.size,
          .name = fmt::format("arccos:n={},calls={}", point.size, point.calls),
          .arrays = {{.name = "x", .role = Role::in, .size = size, .element = 4_B},
                     {.name = "result", .role = Role::out, .size = size, .element = 4_B}},
          .cost = {.points = {}, .has_floor = true, .limited = {}, .origin = "fitted to published times"},
          .items_per_block = fitted_threads_per_block,
          .threads_per_block = static_cast<unsigned>(fitted_threads_per_block),
          .any_grid = false,
          .each_byte_once = true};
  // The smallest launch has one block for every SM. The other two points are on a line through zero.
  const double calls = point.calls;
  const Seconds an_item = kernel.per_element.value + calls * kernel.per_element_and_call.value;
  constexpr std::uint64_t least = gh200_multiprocessors * fitted_threads_per_block;
  const Seconds of_least = std::max(calls * kernel.latency_per_call.value, static_cast<double>(least) * an_item);
  job.cost.points.push_back({least, Interval<Seconds>::exact(of_least)});
  for (const std::uint64_t items : {2 * least, std::uint64_t{1} << 30})
    job.cost.points.push_back({items, Interval<Seconds>::exact(static_cast<double>(items) * an_item)});
  return job;
}

SimulationFit fit_simulation(std::span<const PublishedPoint> points, const std::string& file) {
  const bool calls_vary =
      std::ranges::any_of(points, [&](const PublishedPoint& p) { return p.calls != points[0].calls; });
  // The step is coarse, because the simulated time of a kernel changes in steps of blocks and waves.
  const NonlinearFit found = nonlinear_fit(
      [&](std::span<const double> values) { return relative_errors(points, unpacked(values, calls_vary)); },
      packed({}, calls_vary), {.iterations = 40, .tolerance = 1e-4, .outlier = 0.05, .step = 0.03});

  const auto moved = [&](double by) {
    std::vector<double> values = found.parameters;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (std::isfinite(found.standard_errors[i])) values[i] *= std::exp(by * found.standard_errors[i]);
    return unpacked(values, calls_vary);
  };
  const Unknowns best = unpacked(found.parameters, calls_vary);
  SimulationFit fit{
      .profile = profile_of(best), .kernel = kernel_of(best), .calls_vary = calls_vary, .converged = found.converged};
  const Unknowns low = moved(-1.96);
  const Unknowns high = moved(1.96);
  set_limits(fit.profile, profile_of(low), profile_of(high));
  const PublishedKernel slow = kernel_of(high);
  const PublishedKernel fast = kernel_of(low);
  for (const auto term :
       {&PublishedKernel::latency_per_call, &PublishedKernel::per_element, &PublishedKernel::per_element_and_call})
    set_limits(fit.kernel.*term, (fast.*term).value, (slow.*term).value);

  describe(fit.profile, points, file);
  const std::vector<double> errors = relative_errors(points, best);
  const auto worst = std::ranges::max_element(errors, {}, [](double error) { return std::abs(error); });
  const PublishedPoint& at = points[static_cast<std::size_t>(worst - errors.begin())];
  fit.profile.residuals.push_back(
      {.parameter = "links[0]",
       .worst = std::abs(*worst),
       .at = fmt::format("{} elements, {} call(s), {} stream(s): the whole program", at.size, at.calls, at.streams)});
  return fit;
}

Seconds predict(const SimulationFit& fit, const PublishedPoint& point) {
  return simulated(point, fit.profile, fit.kernel);
}

}  // namespace shiplap::experiments::published_sweep
