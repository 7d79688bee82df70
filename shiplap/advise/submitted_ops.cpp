#include "shiplap/advise/submitted_ops.hpp"

#include <algorithm>
#include <variant>

namespace shiplap {

RecordedCalls calls_of(const Recording& recording) {
  RecordedCalls calls;
  for (const Record& record : recording.records)
    if (const auto* call = std::get_if<RecordedCall>(&record)) calls.emplace(call->call, call);
  return calls;
}

std::vector<SubmittedOp> submitted_ops(const Recording& recording, const RecordedCalls& calls) {
  std::vector<SubmittedOp> found;
  for (std::size_t i = 0; i < recording.records.size(); ++i)
    if (const auto work = work_of(recording.records[i])) {
      const auto call = calls.find(work->call);
      found.push_back({i, call == calls.end() ? work->time.start : call->second->time.start, work->time.start,
                       work->time.end - work->time.start, call != calls.end()});
    }
  std::ranges::stable_sort(found, {}, &SubmittedOp::time);
  return found;
}

std::vector<std::size_t> submitted_order(const Recording& recording) {
  std::vector<std::size_t> order;
  for (const SubmittedOp& one : submitted_ops(recording, calls_of(recording))) order.push_back(one.record);
  return order;
}

}  // namespace shiplap
