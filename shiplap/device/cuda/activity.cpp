#include "shiplap/device/cuda/activity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <unordered_map>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/activity_records.hpp"
#include "shiplap/device/cuda/cupti.hpp"

namespace shiplap {

#ifdef SHIPLAP_HAS_CUPTI
namespace {

constexpr std::size_t buffer_size = 8u << 20;  // bytes in a buffer that CUPTI fills with records
constexpr std::size_t buffer_alignment = 8;    // bytes; CUPTI requires this alignment
constexpr auto op_ids = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
// CUPTI links external ids to records of API calls, so these must be recorded too: of the runtime, and of the driver,
// by which Triton, CuPy, Numba and kernels in CUDA text are launched.
constexpr CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                                        CUPTI_ACTIVITY_KIND_RUNTIME,
                                        CUPTI_ACTIVITY_KIND_DRIVER,
                                        CUPTI_ACTIVITY_KIND_MEMCPY,
                                        CUPTI_ACTIVITY_KIND_MEMCPY2,
                                        CUPTI_ACTIVITY_KIND_MEMSET,
                                        CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL};

/// The records that the callbacks have received. CUPTI calls them from its own threads.
struct Received {
  struct Work {
    std::uint32_t call = 0;
    std::uint64_t start = 0;  ///< ns, by the GPU's clock
    std::uint64_t end = 0;
  };
  std::mutex mutex;
  bool in_use = false;
  std::vector<Work> work;
  std::unordered_map<std::uint32_t, std::uint64_t> op_of_call;
};
Received& received() {
  static Received* const state = new Received;  // is never deleted, because CUPTI's threads may outlive static objects
  return *state;
}

void give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(buffer_alignment, buffer_size));
  *size = *buffer == nullptr ? 0 : buffer_size;
  *most_records = 0;
}

template <class Record>
void add(const CUpti_Activity* record) {
  const auto* work = reinterpret_cast<const Record*>(record);
  received().work.push_back({work->correlationId, work->start, work->end});
}

void take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  const std::lock_guard lock(received().mutex);
  CUpti_Activity* record = nullptr;
  while (cupti().next(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) add<CopyActivity>(record);
    if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY2) add<PeerCopyActivity>(record);
    if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) add<FillActivity>(record);
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) add<KernelActivity>(record);
    if (record->kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) {
      const auto* id = reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(record);
      if (id->externalKind == op_ids) received().op_of_call[id->correlationId] = id->externalId;
    }
  }
  std::free(buffer);
}

}  // namespace

bool activity_available(std::string& why) {
  why = cupti().missing;
  if (!why.empty()) return false;
  // An attempt to enable recording is the only way to find out whether another tool uses CUPTI.
  static const CUptiResult tried = [] {
    const CUptiResult result = cupti().register_callbacks(give_buffer, take_buffer);
    if (result != CUPTI_SUCCESS) return result;
    const CUptiResult enabled = cupti().enable(CUPTI_ACTIVITY_KIND_MEMCPY);
    if (enabled == CUPTI_SUCCESS) static_cast<void>(cupti().disable(CUPTI_ACTIVITY_KIND_MEMCPY));
    return enabled;
  }();
  if (tried == CUPTI_SUCCESS) return true;
  why = fmt::format("CUPTI refuses to record: {}; does a profiler watch this process?", message(tried));
  return false;
}

ActivityRecording::ActivityRecording(std::size_t ops) : ops_(ops) {
  if (std::string why; !activity_available(why)) throw Unsupported("activity cannot be recorded: " + why);
  {
    const std::lock_guard lock(received().mutex);
    if (received().in_use) throw Unsupported("another run is being recorded; record one run at a time");
    received().in_use = true;
    received().work.clear();
    received().op_of_call.clear();
  }
  recording_ = true;
  for (const CUpti_ActivityKind kind : kinds) {
    if (const CUptiResult result = cupti().enable(kind); result != CUPTI_SUCCESS) {
      stop();
      throw Error(fmt::format("cuptiActivityEnable({}): {}", static_cast<int>(kind), message(result)));
    }
  }
}

ActivityRecording::~ActivityRecording() { stop(); }

void ActivityRecording::stop() noexcept {
  if (!recording_) return;
  recording_ = false;
  for (const CUpti_ActivityKind kind : kinds) static_cast<void>(cupti().disable(kind));
  static_cast<void>(cupti().flush(1));
  const std::lock_guard lock(received().mutex);
  received().in_use = false;
}

ActivityRecording::Op::Op(ActivityRecording* recording, std::uint32_t op) noexcept : recording_(recording) {
  if (recording_ != nullptr) static_cast<void>(cupti().push(op_ids, op));
}
ActivityRecording::Op::~Op() {
  std::uint64_t last = 0;
  if (recording_ != nullptr) static_cast<void>(cupti().pop(op_ids, &last));
}

std::vector<ActivitySpan> ActivityRecording::take() {
  stop();
  std::vector<ActivitySpan> spans(ops_);
  const std::lock_guard lock(received().mutex);
  std::uint64_t origin = ~std::uint64_t{0};
  for (const auto& work : received().work) origin = std::min(origin, work.start);
  for (const auto& work : received().work) {
    const auto op = received().op_of_call.find(work.call);
    if (op == received().op_of_call.end() || op->second >= ops_) continue;
    ActivitySpan& span = spans[op->second];
    const Seconds start{static_cast<double>(work.start - origin) * 1e-9};
    const Seconds end{static_cast<double>(work.end - origin) * 1e-9};
    span.start = span.seen ? std::min(span.start, start) : start;
    span.end = std::max(span.end, end);
    span.seen = true;
  }
  return spans;
}

#else

bool activity_available(std::string& why) {
  why = "built without CUPTI's headers; install the CUDA toolkit's CUPTI and build again";
  return false;
}

ActivityRecording::ActivityRecording(std::size_t ops) : ops_(ops) {
  std::string why;
  activity_available(why);
  throw Unsupported("activity cannot be recorded: " + why);
}
ActivityRecording::~ActivityRecording() { stop(); }
void ActivityRecording::stop() noexcept { recording_ = false; }
ActivityRecording::Op::Op(ActivityRecording* recording, std::uint32_t) noexcept : recording_(recording) {}
ActivityRecording::Op::~Op() = default;
std::vector<ActivitySpan> ActivityRecording::take() { return std::vector<ActivitySpan>(ops_); }

#endif

}  // namespace shiplap
