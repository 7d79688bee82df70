#include "shiplap/cluster/share_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/core/quantity_json.hpp"

namespace shiplap {

RankResult rank_result(const Report& report) {
  return {.device = report.device,
          .simulated = report.simulated,
          .predicted = report.planned.predicted.value,
          .observed = report.observed.value};
}

ShareReport share_report(const Job& job, const Shares& shares, std::vector<RankResult> results) {
  if (results.size() != shares.items.size() || results.empty())
    throw UsageError(fmt::format("{}: results of {} ranks, and shares of {}: give one result for each share", job.name,
                                 results.size(), shares.items.size()));
  ShareReport report{.job = job.name, .items = shares.items, .ranks = std::move(results)};
  std::size_t with_items = 0;
  std::vector<NodeTimes> observed = shares.times;
  for (std::size_t r = 0; r < report.ranks.size(); ++r) {
    const RankResult& rank = report.ranks[r];
    if (rank.observed > report.ranks[report.slowest].observed) report.slowest = r;
    if (report.items[r].count == 0) continue;
    ++with_items;
    report.mean += rank.observed;
    if (!observed.empty() && rank.predicted > Seconds{0} && rank.observed > Seconds{0})
      observed[r] = observed[r].slower_by(rank.observed / rank.predicted);
  }
  if (with_items > 0) report.mean /= static_cast<double>(with_items);
  report.with_best_shares = observed.empty() ? report.longest() : share(job, std::move(observed)).longest();
  return report;
}

Json ShareReport::to_json() const {
  Json rows = Json::array();
  for (std::size_t r = 0; r < ranks.size(); ++r)
    rows.push_back({{"rank", r},
                    {"device", ranks[r].device},
                    {"simulated", ranks[r].simulated},
                    {"first_item", items[r].first},
                    {"items", items[r].count},
                    {"predicted", quantity_json(ranks[r].predicted)},
                    {"observed", quantity_json(ranks[r].observed)}});
  return {{"schema", formats::shares.schema},
          {"version", formats::shares.version},
          {"job", job},
          {"ranks", std::move(rows)},
          {"slowest", slowest},
          {"longest", quantity_json(longest())},
          {"mean", quantity_json(mean)},
          {"cost_of_slowest", quantity_json(cost_of_slowest())},
          {"with_best_shares", quantity_json(with_best_shares)}};
}

}  // namespace shiplap
