#include "shiplap/cluster/share_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/core/record.hpp"

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

namespace {
/// A rank with its share, as it is written.
struct RankRow {
  std::size_t rank = 0;
  RankResult result;
  ItemRange items{};
};

std::vector<RankRow> rows_of(const ShareReport& report) {
  std::vector<RankRow> rows;
  for (std::size_t r = 0; r < report.ranks.size(); ++r) rows.push_back({r, report.ranks[r], report.items[r]});
  return rows;
}
}  // namespace

template <class V, Like<RankRow> R>
void describe(V& v, R& row) {
  v.field("rank", row.rank, "number of the rank");
  v.field("device", row.result.device, "device of the rank");
  v.field("simulated", row.result.simulated, "whether the device is virtual, so that nothing was observed");
  v.field("first_item", row.items.first, "first item of its share");
  v.field("items", row.items.count, "number of items of its share; 0: it has nothing to do");
  v.field("predicted", row.result.predicted, "predicted time of its plan");
  v.field("observed", row.result.observed, "observed time of its run");
}

template <class V, Like<ShareReport> R>
void describe(V& v, R& report) {
  v.header(formats::shares);
  v.field("job", report.job, "name of the job");
  v.derived("ranks", "every rank with its share", [&] { return rows_of(report); });
  v.field("slowest", report.slowest, "rank with the longest observed time");
  v.derived("longest", "observed time of that rank", [&] { return report.longest(); });
  v.field("mean", report.mean, "mean of the observed times of the ranks with items");
  v.derived("cost_of_slowest", "time that the ranks with items wait for the slowest one, on average",
            [&] { return report.cost_of_slowest(); });
  v.field("with_best_shares", report.with_best_shares,
          "longest time of the best shares if every rank were as much slower than predicted as it was observed to be");
}

Json ShareReport::to_json() const { return write_record(*this); }
Json json_schema(const ShareReport&) {
  return document_schema<ShareReport>("shiplap shares", "What `ShareReport::to_json` gives.");
}

}  // namespace shiplap
