#include "shiplap/advise/polled_waits.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "shiplap/advise/cuda_functions.hpp"

namespace shiplap {
namespace {

/// The queries of a thread since its last other call.
struct RunOfPolls {
  std::size_t first = 0;  ///< index of the first one
  std::size_t count = 0;
  Nanoseconds last_but_one, last;
};

/// The work that ended last in the time in which the run can have seen it.
std::optional<RecordedWork> awaited_by(const RunOfPolls& run, const std::vector<RecordedWork>& by_end) {
  if (run.count < 2) return std::nullopt;
  const std::uint64_t latest = run.last.end + (run.last.start - run.last_but_one.start);
  const auto later =
      std::ranges::upper_bound(by_end, latest, {}, [](const RecordedWork& work) { return work.time.end; });
  if (later == by_end.begin() || std::prev(later)->time.end < run.last_but_one.start) return std::nullopt;
  return *std::prev(later);
}

}  // namespace

void take_polls_for_waits(Recording& recording) {
  std::vector<Record>& records = recording.records;
  std::vector<RecordedWork> by_end;
  for (const Record& record : records)
    if (const auto work = work_of(record)) by_end.push_back(*work);
  std::ranges::stable_sort(by_end, {}, [](const RecordedWork& work) { return work.time.end; });
  std::vector<bool> is_left_out(records.size());
  std::vector<Record> waits;
  const auto end = [&](const RunOfPolls& run) {
    const auto awaited = awaited_by(run, by_end);
    if (!awaited) return;
    auto& call = std::get<RecordedCall>(records[run.first]);
    call.time.end = std::max(run.last.end, awaited->time.end);
    is_left_out[run.first] = false;
    waits.emplace_back(RecordedOrder{call.call, RecordedOrder::Kind::host_wait, awaited->stream, 0, awaited->gpu});
  };
  std::unordered_map<std::uint32_t, RunOfPolls> runs;  // by thread
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto* const call = std::get_if<RecordedCall>(&records[i]);
    if (call == nullptr) continue;
    RunOfPolls& run = runs[call->thread];
    if (is_query(call->function)) {
      is_left_out[i] = true;
      if (run.count == 0) run.first = i;
      ++run.count;
      run.last_but_one = std::exchange(run.last, call->time);
    } else {
      end(std::exchange(run, {}));
    }
  }
  for (const auto& [thread, run] : runs) end(run);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (is_left_out[i]) continue;
    if (kept != i) records[kept] = std::move(records[i]);
    ++kept;
  }
  records.erase(records.begin() + static_cast<std::ptrdiff_t>(kept), records.end());
  records.insert(records.end(), waits.begin(), waits.end());
  recording.has_inferred_waits = recording.has_inferred_waits || !waits.empty();
}

}  // namespace shiplap
