#include "shiplap/advise/torch_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <istream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "shiplap/advise/cuda_functions.hpp"
#include "shiplap/advise/inferred_waits.hpp"
#include "shiplap/advise/json_objects.hpp"
#include "shiplap/advise/polled_waits.hpp"
#include "shiplap/advise/text_stream.hpp"
#include "shiplap/advise/trace_event.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/printable.hpp"

// The categories, names and keys are those of Kineto's output_json.cpp. Traces of 2022 have other categories.
namespace shiplap {
namespace {

/// A time in a trace, in nanoseconds since any moment.
struct TraceTime {
  std::int64_t start = 0;
  std::int64_t end = 0;
};

enum class TraceCategory : std::uint8_t { call, copy, kernel, fill, wait, range, other };

TraceCategory category_in_trace(const TraceEvent& event) {
  constexpr std::array categories{std::pair{std::string_view("cuda_runtime"), TraceCategory::call},
                                  std::pair{std::string_view("cuda_driver"), TraceCategory::call},
                                  std::pair{std::string_view("Runtime"), TraceCategory::call},
                                  std::pair{std::string_view("gpu_memcpy"), TraceCategory::copy},
                                  std::pair{std::string_view("Memcpy"), TraceCategory::copy},
                                  std::pair{std::string_view("kernel"), TraceCategory::kernel},
                                  std::pair{std::string_view("Kernel"), TraceCategory::kernel},
                                  std::pair{std::string_view("gpu_memset"), TraceCategory::fill},
                                  std::pair{std::string_view("Memset"), TraceCategory::fill},
                                  std::pair{std::string_view("cuda_sync"), TraceCategory::wait},
                                  std::pair{std::string_view("user_annotation"), TraceCategory::range}};
  if (event.phase != "X") return TraceCategory::other;
  const auto found = std::ranges::find(categories, event.category, [](const auto& category) { return category.first; });
  return found == categories.end() ? TraceCategory::other : found->second;
}

/// Whether a text that is no event seems to be one of CUDA.
bool mentions_cuda(std::string_view text) {
  constexpr std::array words{"\"cuda_", "\"gpu_mem", "\"kernel\"", "\"Kernel\"", "\"Runtime\""};
  return std::ranges::any_of(words, [&](const char* word) { return text.find(word) != text.npos; });
}

/// The kind of memory that a word such as "Pageable" or "Device Static" names; nullopt for "Unknown" and, with ROCm,
/// "Host".
std::optional<MemoryKind> memory_named(std::string_view word) {
  constexpr std::array words{std::pair{"Pageable", MemoryKind::pageable}, std::pair{"Pinned", MemoryKind::pinned},
                             std::pair{"Managed", MemoryKind::managed}, std::pair{"Device", MemoryKind::device},
                             std::pair{"Array", MemoryKind::device}};
  for (const auto& [begin, kind] : words)
    if (word.starts_with(begin)) return kind;
  return std::nullopt;
}

/// The memory that a copy reads and writes, from a name such as "Memcpy HtoD (Pageable -> Device)". Host memory of
/// unknown kind counts as pageable.
std::pair<MemoryKind, MemoryKind> memory_of_copy(std::string_view name) {
  constexpr std::string_view begin = "Memcpy ";
  constexpr std::string_view arrow = " -> ";
  const std::string_view direction = name.starts_with(begin) ? name.substr(begin.size(), 4) : "";
  MemoryKind from = direction.starts_with("Hto") ? MemoryKind::pageable : MemoryKind::device;
  MemoryKind to = direction.ends_with("toH") ? MemoryKind::pageable : MemoryKind::device;
  const std::size_t open = name.find('(');
  const std::size_t middle = name.find(arrow);
  if (open < middle && middle != name.npos) {
    from = memory_named(name.substr(open + 1)).value_or(from);
    to = memory_named(name.substr(middle + arrow.size())).value_or(to);
  }
  return {from, to};
}

/// A number of a trace, where one that is absent, negative or larger than 32 bits hold says that there is none.
std::optional<std::uint32_t> number_in_trace(TraceEvent::Count count) {
  if (!count || *count < 0 || *count >= 0xffffffff) return std::nullopt;
  return static_cast<std::uint32_t>(*count);
}
std::uint32_t stream_in_trace(TraceEvent::Count count) {
  constexpr std::uint32_t default_stream = 7;
  const std::uint32_t stream = number_in_trace(count).value_or(0);
  return stream == default_stream ? 0 : stream;
}
std::uint64_t count_in_trace(TraceEvent::Count count) {
  return static_cast<std::uint64_t>(std::max(count.value_or(0), std::int64_t{0}));
}

/// The number of the GPU of an event. A GPU is a process in a trace, whose number is that of the GPU.
std::uint32_t gpu_in_trace(const TraceEvent& event) {
  if (const auto device = number_in_trace(event.device)) return *device;
  std::uint32_t process = 0;
  std::from_chars(event.process.data(), event.process.data() + event.process.size(), process);
  return process;
}

/// What a wait of cuda_sync waits for; nullopt for an unknown one.
std::optional<RecordedOrder::Kind> wait_named(std::string_view name) {
  if (name.starts_with("Stream Wait")) return RecordedOrder::Kind::stream_wait;
  if (name.starts_with("Event")) return RecordedOrder::Kind::event_wait;
  if (name.starts_with("Stream")) return RecordedOrder::Kind::host_wait;
  if (name.starts_with("Context") || name.starts_with("Device")) return RecordedOrder::Kind::device_wait;
  return std::nullopt;
}

/// Makes a recording of events, which come in any order.
class TorchImport {
 public:
  explicit TorchImport(const std::filesystem::path& file) : file_(file) {}

  void add(const TraceEvent& event) {
    if (event.phase.empty() && event.gpu_memory) gpu_names_.try_emplace(event.id.value_or(0), event.name);
    if (event.phase == "M" && event.name == "process_name") process_names_.try_emplace(event.process, event.label);
    const TraceCategory category = category_in_trace(event);
    if (category == TraceCategory::other) return;
    const std::int64_t duration = event.duration.value_or(0);
    if (!event.start || duration < 0) {
      if (category != TraceCategory::range) leave_out();
      return;
    }
    add(category, event, {*event.start, *event.start + duration});
  }
  /// Counts an event that cannot be read.
  void leave_out() { ++lost_; }

  Recording recording(bool is_complete) {
    if (work_.empty())
      throw Error(
          fmt::format("{}: the trace has no kernel, copy or fill of a GPU, so there is nothing to advise; profile with "
                      "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] and export the trace again",
                      file_.string()));
    for (auto* records : {&calls_, &work_, &ranges_}) std::ranges::stable_sort(*records, {}, signed_start);
    number_threads();
    for (auto* records : {&calls_, &work_, &ranges_}) count_from_first_start(*records);
    std::vector<Record> orders = all_orders();
    Recording recording{program(), gpu_name(), std::move(calls_), is_complete, lost_, has_inferred_waits_};
    for (const auto* more : {&work_, &orders, &ranges_})
      recording.records.insert(recording.records.end(), more->begin(), more->end());
    take_polls_for_waits(recording);
    return recording;
  }

 private:
  void add(TraceCategory category, const TraceEvent& event, TraceTime time) {
    switch (category) {
      case TraceCategory::call:
        return add_call(event, time);
      case TraceCategory::copy: {
        RecordedCopy copy;
        copy.size = Bytes{count_in_trace(event.bytes)};
        std::tie(copy.from, copy.to) = memory_of_copy(event.name);
        return add_work(copy, event, time);
      }
      case TraceCategory::kernel: {
        RecordedKernel kernel;
        kernel.name = event.name;
        kernel.blocks = event.blocks;
        kernel.threads = static_cast<std::uint32_t>(std::min(event.threads, std::uint64_t{0xffffffff}));
        return add_work(std::move(kernel), event, time);
      }
      case TraceCategory::fill: {
        RecordedFill fill;
        fill.size = Bytes{count_in_trace(event.bytes)};
        return add_work(fill, event, time);
      }
      case TraceCategory::wait:
        waits_.emplace(count_in_trace(event.correlation), event);
        return;
      case TraceCategory::range:
        return add_range(event, time);
      case TraceCategory::other:
        return;
    }
  }
  void add_call(const TraceEvent& event, TraceTime time) {
    const std::uint64_t call = count_in_trace(event.correlation);
    if (call == 0 || (!watched(event.name) && !is_query(event.name))) return;
    if (process_.empty()) process_ = event.process;
    const std::string function(name_in_programs(event.name));
    calls_.push_back(RecordedCall{call, thread_key(event), since_any_moment(time), function});
  }
  template <class Work>
  void add_work(Work work, const TraceEvent& event, TraceTime time) {
    work.call = count_in_trace(event.correlation);
    work.stream = stream_in_trace(event.stream);
    work.gpu = gpu_in_trace(event);
    work.time = since_any_moment(time);
    first_gpu_ = std::min(first_gpu_, work.gpu);
    work_.push_back(std::move(work));
  }
  void add_range(const TraceEvent& event, TraceTime time) {
    constexpr std::string_view step = "ProfilerStep";
    const bool is_step = event.name.starts_with("ProfilerStep#");
    ranges_.push_back(
        RecordedRange{thread_key(event), since_any_moment(time), is_step ? std::string(step) : event.name});
  }

  /// A number for a thread until threads are numbered by their first calls.
  std::uint32_t thread_key(const TraceEvent& event) {
    const auto next = static_cast<std::uint32_t>(thread_keys_.size());
    return thread_keys_.try_emplace({event.process, event.thread}, next).first->second;
  }
  void number_threads() {
    std::unordered_map<std::uint32_t, std::uint32_t> numbers;
    const auto number = [&](std::uint32_t& thread) {
      thread = numbers.try_emplace(thread, static_cast<std::uint32_t>(numbers.size())).first->second;
    };
    for (Record& record : calls_) number(std::get<RecordedCall>(record).thread);
    for (Record& record : ranges_) number(std::get<RecordedRange>(record).thread);
  }

  /// The time since the moment from which the trace counts, as its bits without a sign.
  Nanoseconds since_any_moment(TraceTime time) {
    first_start_ = std::min(first_start_, time.start);
    return {static_cast<std::uint64_t>(time.start), static_cast<std::uint64_t>(time.end)};
  }
  static std::int64_t signed_start(const Record& record) {
    return std::visit(
        [](const auto& r) -> std::int64_t {
          if constexpr (requires { r.time; })
            return static_cast<std::int64_t>(r.time.start);
          else
            return 0;
        },
        record);
  }
  void count_from_first_start(std::vector<Record>& records) const {
    const auto first = static_cast<std::uint64_t>(first_start_);
    const auto shift = [&](auto& r) {
      if constexpr (requires { r.time; }) r.time = {r.time.start - first, r.time.end - first};
    };
    for (Record& record : records) std::visit(shift, record);
  }

  /// The orders of all calls: those of cuda_sync, and inferred waits for calls that have none.
  std::vector<Record> all_orders() {
    const InferredWaits inferred(calls_, work_);
    std::vector<Record> orders;
    std::set<std::uint64_t> recorded;
    for (const Record& record : calls_) {
      const auto& call = std::get<RecordedCall>(record);
      const auto wait = waits_.find(call.call);
      if (wait != waits_.end() && add_order(wait->second, call, recorded, orders)) continue;
      const Reads reads = watched(call.function).value_or(Reads::nothing);
      // That a wait for the GPU is one for all of its streams is no guess.
      has_inferred_waits_ =
          has_inferred_waits_ || reads == Reads::event_wait || reads == Reads::host_wait || reads == Reads::stream_wait;
      if (const auto order = inferred.of(call)) orders.push_back(*order);
    }
    return orders;
  }
  /// Adds what an event of cuda_sync says. Returns false when it does not say what was waited for.
  static bool add_order(const TraceEvent& wait, const RecordedCall& call, std::set<std::uint64_t>& recorded,
                        std::vector<Record>& orders) {
    const auto kind = wait_named(wait.name);
    if (!kind) return false;
    const bool is_for_event = *kind == RecordedOrder::Kind::event_wait || *kind == RecordedOrder::Kind::stream_wait;
    RecordedOrder order{call.call, *kind, stream_in_trace(wait.stream), 0, gpu_in_trace(wait)};
    if (is_for_event) {
      const auto record = number_in_trace(wait.awaited_record);
      if (!record || !wait.awaited_stream) return false;
      order.event = count_in_trace(wait.awaited_event);
      if (recorded.insert(*record).second)
        orders.push_back(RecordedOrder{*record, RecordedOrder::Kind::record, stream_in_trace(wait.awaited_stream),
                                       order.event, order.gpu});
    } else if (*kind == RecordedOrder::Kind::host_wait && !number_in_trace(wait.stream)) {
      return false;
    }
    orders.push_back(order);
    return true;
  }

  /// The name of the process that called CUDA. A trace without it is one of Python all the same.
  std::string program() const {
    const auto name = process_names_.find(process_);
    if (name != process_names_.end() && !name->second.empty()) return name->second;
    return fmt::format("python ({})", printable(file_.filename().string()));
  }
  std::string gpu_name() const {
    // The numbers of events and of properties may differ, as where a process sees some GPUs.
    const auto name = gpu_names_.size() == 1 ? gpu_names_.begin() : gpu_names_.find(first_gpu_);
    return name == gpu_names_.end() || name->second.empty() ? "unknown GPU" : name->second;
  }

  std::filesystem::path file_;
  std::vector<Record> calls_;
  std::vector<Record> work_;
  std::vector<Record> ranges_;
  std::unordered_map<std::uint64_t, TraceEvent> waits_;  // events of cuda_sync by their calls
  std::map<std::pair<std::string, std::string>, std::uint32_t> thread_keys_;
  std::map<std::string, std::string> process_names_;
  std::map<std::int64_t, std::string> gpu_names_;
  std::string process_;
  std::uint32_t first_gpu_ = std::numeric_limits<std::uint32_t>::max();
  std::int64_t first_start_ = std::numeric_limits<std::int64_t>::max();
  std::uint64_t lost_ = 0;
  bool has_inferred_waits_ = false;
};

}  // namespace

Recording read_torch_trace(const std::filesystem::path& file) {
  const std::string source = file.string();
  const std::unique_ptr<std::istream> in = open_text(file);
  JsonObjects objects(*in, source);
  TorchImport import(file);
  while (const auto object = objects.next()) {
    if (object->end == JsonObjectText::End::cut) continue;
    const bool is_closed = object->end == JsonObjectText::End::closed;
    if (const auto event = is_closed ? trace_event(object->text) : std::nullopt) {
      import.add(*event);
      continue;
    }
    if (mentions_cuda(object->text)) import.leave_out();
    if (is_closed) objects.reject();
  }
  return import.recording(objects.is_closed());
}

}  // namespace shiplap
