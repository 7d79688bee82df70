#include "shiplap/evaluate/evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "shiplap/core/statistics.hpp"
#include "shiplap/evaluate/samples.hpp"

namespace shiplap {

double Duel::over_winner() const { return median(automatic_ms) / median(winner_ms) - 1; }
double Duel::over_ideal_overlap() const { return median(automatic_ms) / median(ideal_overlap_ms) - 1; }
bool Duel::within_rule() const {
  const double error = std::hypot(median_standard_error(automatic_ms), median_standard_error(winner_ms));
  constexpr double three_microseconds = 0.003;  // samples in ms
  const double allowed = std::max({0.01 * median(winner_ms), three_microseconds, 2 * error});
  return median(automatic_ms) - median(winner_ms) <= allowed;
}

std::string label(const EvaluatedWorkload& workload) {
  if (workload.memory == MemoryKind::pinned) return workload.name;
  return fmt::format("{}, {} memory", workload.name, to_string(workload.memory));
}

namespace {

void for_all_samples(EvaluatedWorkload& workload, const std::function<void(std::vector<double>&)>& change) {
  for (EvaluatedPoint& point : workload.points) change(point.samples_ms);
  for (EvaluatedGroup& group : workload.groups) {
    change(group.automatic_ms);
    change(group.ideal_overlap_ms);
  }
  if (workload.duel)
    for (auto samples_ms : {&Duel::automatic_ms, &Duel::winner_ms, &Duel::ideal_overlap_ms})
      change((*workload.duel).*samples_ms);
}

}  // namespace

EvaluatedWorkload as_recorded(EvaluatedWorkload workload) {
  for_all_samples(workload, [](std::vector<double>& samples_ms) { samples_ms = as_in_files(std::move(samples_ms)); });
  return workload;
}

bool halve_samples(Evaluation& evaluation) {
  constexpr std::size_t fewest = 11;  // rounds on a GPU when none are asked for
  bool has_halved = false;
  const auto halve = [&](std::vector<double>& samples_ms) {
    if (samples_ms.size() <= fewest) return;
    for (std::size_t i = 0; 2 * i < samples_ms.size(); ++i) samples_ms[i] = samples_ms[2 * i];
    samples_ms.resize((samples_ms.size() + 1) / 2);
    has_halved = true;
  };
  for (EvaluatedWorkload& workload : evaluation.workloads) for_all_samples(workload, halve);
  for (EvaluatedTransfer& transfer : evaluation.transfers) halve(transfer.samples_ms);
  return has_halved;
}

EvaluatedTransfer as_recorded(EvaluatedTransfer transfer) {
  transfer.samples_ms = as_in_files(std::move(transfer.samples_ms));
  return transfer;
}

std::vector<std::string> wrong_results(const Evaluation& evaluation) {
  std::vector<std::string> wrong;
  for (const EvaluatedWorkload& workload : evaluation.workloads)
    for (const EvaluatedPoint& point : workload.points)
      if (!point.verified)
        wrong.push_back(fmt::format("{}: {}: {}", label(workload), to_string(point.choice), point.difference));
  for (const EvaluatedTransfer& t : evaluation.transfers)
    if (t.wrong_bytes > 0)
      wrong.push_back(fmt::format("{} in {} copies {} the GPU: {} bytes are wrong", to_string(t.total), t.copies,
                                  t.to_device ? "to" : "from", t.wrong_bytes));
  return wrong;
}

}  // namespace shiplap
