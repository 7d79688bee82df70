#include "shiplap/advise/inferred_waits.hpp"

#include <algorithm>
#include <iterator>
#include <variant>

#include "shiplap/advise/cuda_functions.hpp"

namespace shiplap {

InferredWaits::InferredWaits(const std::vector<Record>& calls, const std::vector<Record>& work) {
  std::unordered_map<std::uint64_t, StreamOfWork> streams;  // by the call that submitted the work
  for (const Record& record : work) {
    const RecordedWork one = work_of(record).value();
    const StreamOfWork stream{one.gpu, one.stream};
    streams.insert_or_assign(one.call, stream);
    ends_.emplace_back(one.time.end, stream);
  }
  std::ranges::stable_sort(ends_, {}, &std::pair<std::uint64_t, StreamOfWork>::first);
  std::unordered_map<std::uint32_t, StreamOfWork> last_of_thread;
  for (const Record& record : calls) {
    const auto& call = std::get<RecordedCall>(record);
    if (const auto submitted = streams.find(call.call); submitted != streams.end())
      last_of_thread.insert_or_assign(call.thread, submitted->second);
    const auto last = last_of_thread.find(call.thread);
    if (watched(call.function) == Reads::host_wait && last != last_of_thread.end())
      of_thread_.emplace(call.call, last->second);
  }
}

std::optional<RecordedOrder> InferredWaits::of(const RecordedCall& call) const {
  switch (watched(call.function).value_or(Reads::nothing)) {
    case Reads::device_wait:
      return RecordedOrder{call.call, RecordedOrder::Kind::device_wait};
    case Reads::host_wait: {
      const auto awaited = of_thread_.find(call.call);
      return awaited == of_thread_.end() ? std::nullopt : std::optional(wait_for(call, awaited->second));
    }
    case Reads::event_wait: {
      const auto later = std::ranges::upper_bound(ends_, call.time.end, {}, [](const auto& end) { return end.first; });
      return later == ends_.begin() ? std::nullopt : std::optional(wait_for(call, std::prev(later)->second));
    }
    default:
      return std::nullopt;
  }
}

RecordedOrder InferredWaits::wait_for(const RecordedCall& call, StreamOfWork awaited) {
  return {call.call, RecordedOrder::Kind::host_wait, awaited.stream, 0, awaited.gpu};
}

}  // namespace shiplap
