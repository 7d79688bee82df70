#include "shiplap/fleet/at_once.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "shiplap/core/error.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/fleet/causes.hpp"

namespace shiplap {
namespace {

const CheckedFigure* find_figure(const NodeResult& result, std::string_view what) {
  const auto found = std::ranges::find(result.figures, what, &CheckedFigure::what);
  return found == result.figures.end() || !was_measured(*found) ? nullptr : &*found;
}

/// What the GPU reached alone, at best; 0 when it was not checked.
double alone(const NodeResult& gpu, std::string_view what, std::span<const NodeResult> checks) {
  double best = 0;
  for (const NodeResult& check : checks) {
    if (check.node != gpu.node || check.gpu != gpu.gpu || check.pci_bus_id != gpu.pci_bus_id) continue;
    if (const CheckedFigure* figure = find_figure(check, what)) best = std::max(best, figure->measured_value);
  }
  return best;
}

CheckedFigure summed(const char* at_once, std::string_view alone_name, std::span<const NodeResult> of_gpus,
                     std::span<const NodeResult> checks) {
  CheckedFigure sum{
      .what = at_once, .measured = {}, .limit = "unknown: a GPU was not checked alone", .unit = "B/s", .causes = {}};
  bool has_limit = true;
  for (const NodeResult& gpu : of_gpus) {
    const CheckedFigure* figure = find_figure(gpu, at_once);
    if (figure == nullptr)
      return {.what = at_once, .measured = "a GPU did not copy in time", .limit = {}, .causes = {}};
    sum.measured_value += figure->measured_value;
    const double limit = alone(gpu, alone_name, checks);
    sum.limit_value += limit;
    has_limit = has_limit && limit > 0;
  }
  sum.measured = to_string(Bandwidth{sum.measured_value});
  if (!has_limit) {
    sum.limit_value = 0;
    return sum;
  }
  sum.limit = fmt::format("{}, the sum of each alone", to_string(Bandwidth{sum.limit_value}));
  sum.fraction = sum.measured_value / sum.limit_value;
  return sum;
}

}  // namespace

NodeResult all_gpus_at_once(std::span<const NodeResult> of_gpus, std::span<const NodeResult> checks) {
  if (of_gpus.empty()) throw Error("no GPU of the node has copied");
  return {.node = of_gpus.front().node,
          .gpu = fmt::format("all {} GPUs", of_gpus.size()),
          .kind = fmt::format("{} x {}", of_gpus.size(), of_gpus.front().kind),
          .verdict = Verdict::unknown,
          .figures = {summed(at_once_to_gpu, "copies to the GPU", of_gpus, checks),
                      summed(at_once_from_gpu, "copies from the GPU", of_gpus, checks)}};
}

bool is_sum(const std::string& gpu) { return gpu.starts_with("all ") && gpu.ends_with(" GPUs"); }

}  // namespace shiplap
