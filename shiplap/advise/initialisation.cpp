#include "shiplap/advise/initialisation.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "shiplap/core/statistics.hpp"

namespace shiplap {
namespace {

constexpr double usual_launch = 10e-6;  // seconds, where a recording has first launches only
/// A first launch that takes less than this more than others has loaded nothing. A first copy has prepared nothing
/// where its call ends sooner than this after its bytes are there.
constexpr Seconds least_loading = microseconds(100);

/// The times in which GPUs work, in ascending order and apart from each other.
std::vector<Nanoseconds> busy_times(const Recording& recording) {
  std::vector<Nanoseconds> times;
  for (const Record& record : recording.records)
    if (const auto work = work_of(record)) times.push_back(work->time);
  std::ranges::sort(times, {}, &Nanoseconds::start);
  std::vector<Nanoseconds> busy;
  for (const Nanoseconds& time : times)
    if (busy.empty() || time.start > busy.back().end)
      busy.push_back(time);
    else
      busy.back().end = std::max(busy.back().end, time.end);
  return busy;
}

/// When the GPUs work.
class BusyTime {
 public:
  explicit BusyTime(std::vector<Nanoseconds> busy) : busy_(std::move(busy)) {
    before_.push_back(Seconds{0});
    for (const Nanoseconds& time : busy_) before_.push_back(before_.back() + between(time.start, time.end));
  }
  /// How long the GPUs are idle in this time.
  Seconds idle_in(const Nanoseconds& time) const {
    return between(time.start, time.end) - (until(time.end) - until(time.start));
  }

 private:
  Seconds until(std::uint64_t time) const {
    const auto next = std::ranges::upper_bound(busy_, time, {}, &Nanoseconds::start);
    if (next == busy_.begin()) return Seconds{0};
    const auto last = static_cast<std::size_t>(next - busy_.begin()) - 1;
    return before_[last] + between(busy_[last].start, std::min(busy_[last].end, time));
  }
  std::vector<Nanoseconds> busy_;  // disjoint, in order
  std::vector<Seconds> before_;    // sum of the times before each of them
};

/// Copies to a GPU that one call has submitted.
struct Sent {
  std::uint64_t end = 0;  // when the last one ended
  std::uint32_t gpu = 0;
};

/// What calls have submitted, by their numbers.
struct Submitted {
  std::set<std::uint64_t> work;                                    // calls with any
  std::unordered_map<std::uint64_t, const std::string*> launched;  // names of kernels
  std::unordered_map<std::uint64_t, Sent> sent;
};

Submitted submitted_by_calls(const Recording& recording) {
  Submitted found;
  for (const Record& record : recording.records) {
    if (const auto work = work_of(record)) found.work.insert(work->call);
    if (const auto* kernel = std::get_if<RecordedKernel>(&record))
      found.launched.try_emplace(kernel->call, &kernel->name);
    const auto* copy = std::get_if<RecordedCopy>(&record);
    if (copy == nullptr || copy->from == MemoryKind::device || copy->to != MemoryKind::device) continue;
    Sent& sent = found.sent[copy->call];
    sent = {std::max(sent.end, copy->time.end), copy->gpu};
  }
  return found;
}

std::vector<const RecordedCall*> calls_by_start(const Recording& recording) {
  std::vector<const RecordedCall*> calls;
  for (const Record& record : recording.records)
    if (const auto* call = std::get_if<RecordedCall>(&record)) calls.push_back(call);
  std::ranges::stable_sort(calls, {}, [](const RecordedCall* call) { return call->time.start; });
  return calls;
}

Seconds duration(const RecordedCall& call) { return between(call.time.start, call.time.end); }

}  // namespace

Initialisation initialisation_of(const Recording& recording) {
  const Submitted submitted = submitted_by_calls(recording);
  Initialisation found;
  std::set<std::string> names;
  std::vector<const RecordedCall*> first_launches;
  std::vector<double> other_launches;
  std::map<std::uint32_t, std::pair<const RecordedCall*, Seconds>> first_copies;  // by GPU, with the time after them
  bool has_worked = false;
  for (const RecordedCall* call : calls_by_start(recording)) {
    has_worked = has_worked || submitted.work.contains(call->call);
    if (!has_worked) found.before_work += duration(*call);
    const auto kernel = submitted.launched.find(call->call);
    const bool launches = kernel != submitted.launched.end();
    // The launch of a graph with a copy in it does not wait for that copy.
    if (const auto copy = submitted.sent.find(call->call); copy != submitted.sent.end() && !launches)
      first_copies.try_emplace(copy->second.gpu, call,
                               between(std::max(copy->second.end, call->time.start), call->time.end));
    if (!launches) continue;
    if (names.insert(*kernel->second).second)
      first_launches.push_back(call);
    else
      other_launches.push_back(duration(*call).count());
  }
  const Seconds usual{other_launches.empty() ? usual_launch : median(other_launches)};
  const BusyTime busy(busy_times(recording));
  const auto note = [&](const RecordedCall& call, Seconds once) {
    if (once >= least_loading && found.of_call.emplace(call.call, once).second) found.in_first_calls += once;
  };
  for (const RecordedCall* call : first_launches)
    note(*call, std::min(duration(*call) - usual, busy.idle_in(call->time)));
  for (const auto& [gpu, copy] : first_copies) note(*copy.first, copy.second);
  return found;
}

}  // namespace shiplap
