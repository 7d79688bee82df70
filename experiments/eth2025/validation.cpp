// Wrong results that the published program's tolerance accepts, those that the check of the built-in workload accepts,
// and runs that are checked.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "experiments/eth2025/figures.hpp"
#include "experiments/eth2025/steps.hpp"
#include "experiments/eth2025/sweep.hpp"
#include "experiments/eth2025/verdicts.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"

namespace shiplap::experiments::eth {
namespace {

constexpr double tolerance = 1e-5;  // tolerance of the published program
constexpr std::uint64_t arccos_elements = 1 << 14;

float psi(float x) { return static_cast<float>(2 * std::acos(x) / std::numbers::pi - 1); }

std::vector<float> after(std::span<const float> x, unsigned calls) {
  std::vector<float> y(x.begin(), x.end());
  for (float& value : y)
    for (unsigned i = 0; i < calls; ++i) value = psi(value);
  return y;
}

/// Whether the check of the built-in workload accepts `y`.
bool taken_here(const Workload& w, std::span<float> x, std::vector<float> y) {
  const std::array<std::span<std::byte>, 2> arrays{std::as_writable_bytes(x), std::as_writable_bytes(std::span(y))};
  return w.verify(arrays).empty();
}

std::string word(bool taken) { return taken ? "taken" : "refused"; }

Figure tolerances(std::vector<Passed>& passed) {
  Figure figure{.id = "validation",
                .where = "the authors' program",
                .title = "wrong results that a tolerance accepts, by the number of arccos calls",
                .columns = {{"calls", ""},
                            {"largest result of |x| <= 0.97", ""},
                            {"zeros, within 1e-5", ""},
                            {"one call more, within 1e-5", ""},
                            {"zeros, here", ""},
                            {"one call more, here", ""}},
                .rows = {},
                .note =
                    "Computed on the host. Here one element in 16 is 1 or -1, which change places for ever, and the "
                    "tolerance is what roundings can amount to."};
  for (const unsigned calls : {1u, 4u, 16u, 32u, 64u}) {
    const Workload w = find_workload(fmt::format("arccos:n={},calls={},precision=promoted", arccos_elements, calls));
    std::vector<float> x(arccos_elements);
    std::vector<float> y(arccos_elements);
    const std::array<std::span<std::byte>, 2> arrays{std::as_writable_bytes(std::span(x)),
                                                     std::as_writable_bytes(std::span(y))};
    w.fill(arrays);
    std::vector<float> inside;  // values inside (-1, 1), like the published program's random numbers, which are hardly
                                // ever 1 or -1
    std::ranges::copy_if(x, std::back_inserter(inside), [](float value) { return std::abs(value) < 1; });
    const std::vector<float> right = after(inside, calls);
    const std::vector<float> more = after(inside, calls + 1);
    double largest = 0;
    double apart = 0;
    for (std::size_t i = 0; i < right.size(); ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(right[i])));
      apart = std::max(apart, std::abs(static_cast<double>(right[i]) - static_cast<double>(more[i])));
    }
    const Passed& p =
        passed.emplace_back(Passed{.calls = calls,
                                   .zeros_there = largest <= tolerance,
                                   .zeros_here = taken_here(w, x, std::vector<float>(arccos_elements, 0.0f)),
                                   .one_more_here = taken_here(w, x, after(x, calls + 1))});
    figure.rows.push_back({static_cast<double>(calls), largest, word(p.zeros_there), word(apart <= tolerance),
                           word(p.zeros_here), word(p.one_more_here)});
  }
  return figure;
}

void add_runs(const Bench& bench, const std::string& workload, Figure& figure, std::string& missing) {
  try {
    std::vector<Choice> choices;
    constexpr std::array<std::uint32_t, 3> streams{1, 4, 16};
    for (const InStreams& each : as_published(streams, 16)) choices.push_back(each.choice);
    const EvaluatedWorkload found = observe(bench, find_workload(workload), choices);
    if (!found.not_run.empty()) missing = found.not_run;
    for (const EvaluatedPoint& point : found.points)
      figure.rows.push_back({workload, static_cast<double>(point.choice.chunks), median(point.samples_ms),
                             in_milliseconds(point.predicted.value), std::string(point.verified ? "right" : "wrong")});
  } catch (const Unsupported& why) {
    if (missing.empty()) missing = why.what();
  }
}

}  // namespace

StepResult validation(const Bench& bench) {
  std::vector<Passed> passed;
  StepResult result;
  result.figures.push_back(tolerances(passed));
  Figure runs{.id = "checked-runs",
              .where = "§4.1",
              .title = "runs of both programs whose results were checked byte by byte or within roundings",
              .columns = {{"workload", ""}, {"streams", ""}, {"time", "ms"}, {"predicted", "ms"}, {"result", ""}},
              .rows = {},
              .note = bench.info.is_virtual ? "Bytes are moved and kernels computed; the time is simulated." : ""};
  std::string missing;
  add_runs(bench, fmt::format("arccos:n={},calls=32,precision=promoted", arccos_elements), runs, missing);
  add_runs(bench, "diffusion:nx=32,ny=32,nz=16,steps=4", runs, missing);
  if (!missing.empty()) runs.note += (runs.note.empty() ? "" : " ") + ("Not there: " + missing + ".");
  result.figures.push_back(std::move(runs));
  result.findings = {tolerance_of_results(passed)};
  return result;
}

}  // namespace shiplap::experiments::eth
