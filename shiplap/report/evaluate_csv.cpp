#include "shiplap/report/evaluate_csv.hpp"

#include <fmt/format.h>

#include "shiplap/core/statistics.hpp"
#include "shiplap/plan/ranking.hpp"
#include "shiplap/report/csv.hpp"

namespace shiplap {
namespace {

std::string choice_fields(const Choice& choice) {
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{}", choice.strategy, choice.chunks, to_string(choice.ramp),
                     name_of(choice.layout), choice.layout == Layout::few ? std::to_string(choice.streams) : "",
                     choice.order == IssueOrder::depth ? "depth" : "breadth",
                     choice.max_grid == 0 ? "" : std::to_string(choice.max_grid),
                     choice.threads == 0 ? "" : std::to_string(choice.threads), choice.graph, choice.batched,
                     choice.gpus);
}

std::string observed_fields(const EvaluatedPoint& point) {
  if (point.samples_ms.empty()) return ",,,,,,0,";
  const Estimate observed = median_estimate(point.samples_ms);
  return fmt::format("{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.4g},{},{:.4g}", observed.value, observed.low, observed.high,
                     quantile(point.samples_ms, 0.05), quantile(point.samples_ms, 0.95),
                     relative_spread(point.samples_ms), point.samples_ms.size(),
                     in_milliseconds(point.predicted.value) / observed.value - 1);
}

}  // namespace

std::string evaluation_csv(const Evaluation& evaluation) {
  std::string out =
      "workload,memory,strategy,chunks,ramp,layout,streams,order,blocks,threads,graph,batched,gpus,planned,predicted_"
      "ms,"
      "predicted_low_ms,predicted_high_ms,observed_ms,observed_low_ms,observed_high_ms,q05_ms,q95_ms,spread,runs,error,"
      "verified\n";
  for (const EvaluatedWorkload& workload : evaluation.workloads)
    for (const EvaluatedPoint& point : workload.points)
      out += fmt::format("{},{},{},{},{:.6g},{:.6g},{:.6g},{},{}\n", csv_quoted(workload.name),
                         to_string(workload.memory), choice_fields(point.choice), point.planned,
                         in_milliseconds(point.predicted.value), in_milliseconds(point.predicted.low),
                         in_milliseconds(point.predicted.high), observed_fields(point), point.verified);
  return out;
}

}  // namespace shiplap
