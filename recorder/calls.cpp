#include "recorder/calls.hpp"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "recorder/default_streams.hpp"
#include "recorder/sampled_hash.hpp"
#include "shiplap/advise/cuda_functions.hpp"
#include "shiplap/device/cuda/cupti.hpp"

namespace shiplap::recorder {
namespace {

/// Smaller copies are not worth a hash, and keeping their data on the GPU gains little.
constexpr std::size_t least_hashed = 16 * 1024;
constexpr int host_to_device = 1;  // cudaMemcpyHostToDevice

struct Function {
  bool is_watched = false;
  bool stream_per_thread = false;
  Reads reads = Reads::nothing;
  std::string name;
};
constexpr std::size_t most_functions = 2048;  // CUPTI numbers the functions of an API from 1 on
using Functions = std::array<Function, most_functions>;

/// What one thread has collected.
struct ThreadCalls {
  std::mutex mutex;  // is locked by another thread only in take_calls
  CollectedCalls collected;
  std::uint32_t number = 0;
  std::uint32_t depth = 0;  ///< nested calls: the runtime calls the driver
  std::uint64_t start = 0;  ///< begin of the outermost call; 0: it is not collected
  std::atomic<bool> ended = false;
};

/// Is never deleted, because threads of the program may outlive static objects.
struct Watch {
  Functions runtime;
  Functions driver;
  std::atomic<bool> collects = false;
  std::mutex mutex;
  std::vector<std::shared_ptr<ThreadCalls>> threads;
  std::uint32_t next_thread = 0;
  DefaultStreams default_streams;
  CUpti_SubscriberHandle subscriber{};
};
Watch& watch() {
  static Watch* const state = new Watch;
  return *state;
}

/// Has no destructor, because CUDA may be called while objects of the thread are destroyed.
thread_local ThreadCalls* mine = nullptr;

/// Marks the calls of a thread that ends, so that they are forgotten once they were taken.
struct EndOfThread {
  ~EndOfThread() {
    if (ThreadCalls* const calls = std::exchange(mine, nullptr)) calls->ended = true;
  }
};

ThreadCalls& this_thread() {
  if (mine == nullptr) {
    thread_local const EndOfThread end;
    static_cast<void>(end);
    auto calls = std::make_shared<ThreadCalls>();
    const std::lock_guard lock(watch().mutex);
    calls->number = watch().next_thread++;
    mine = calls.get();
    watch().threads.push_back(std::move(calls));
  }
  return *mine;
}

/// The parameters of a call, one word each in the structures that CUPTI passes.
class Parameters {
 public:
  explicit Parameters(const CUpti_CallbackData& data) : words_(static_cast<const char*>(data.functionParams)) {}
  template <class T>
  T at(std::size_t index) const {
    T value;
    std::memcpy(&value, words_ + index * sizeof(void*), sizeof(T));
    return value;
  }

 private:
  const char* words_;
};

/// A function of the driver that the program has loaded; null where its version lacks the function.
template <class Function>
Function* driver_function(const char* name) {
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  return reinterpret_cast<Function*>(driver == nullptr ? nullptr : dlsym(driver, name));
}

/// The context and the GPU that a stream belongs to, which need not be the current ones.
struct StreamOwner {
  CUcontext context = nullptr;  ///< null where the driver does not say it
  std::uint32_t gpu = RecordedOrder::unknown_gpu;
};

std::uint32_t gpu_of(CUcontext context) {
  std::uint32_t gpu = RecordedOrder::unknown_gpu;
  const bool known = context != nullptr && cupti().device_id(context, &gpu) == CUPTI_SUCCESS;
  return known ? gpu : RecordedOrder::unknown_gpu;
}

/// Whether the handle is that of a default stream: a small number, which means the default stream in the current
/// context.
bool is_default_handle(CUstream stream) {
  return reinterpret_cast<std::uintptr_t>(stream) <= reinterpret_cast<std::uintptr_t>(CU_STREAM_PER_THREAD);
}

StreamOwner owner_of(CUstream stream, CUcontext current) {
  if (is_default_handle(stream)) return {current, gpu_of(current)};
  static const auto get_context = driver_function<CUresult(CUstream, CUcontext*)>("cuStreamGetCtx");
  static const auto get_device = driver_function<CUresult(CUstream, CUdevice*)>("cuStreamGetDevice");  // from CUDA 12.8
  CUcontext context = nullptr;
  if (get_context != nullptr && get_context(stream, &context) == CUDA_SUCCESS && context != nullptr)
    return {context, gpu_of(context)};
  CUdevice device = 0;
  if (get_device != nullptr && get_device(stream, &device) == CUDA_SUCCESS)
    return {nullptr, static_cast<std::uint32_t>(device)};
  return {};
}

/// The number of a stream, 0 for a default stream; nullopt where it is unknown.
std::optional<std::uint32_t> stream_number(const StreamOwner& owner, CUstream stream, bool per_thread) {
  std::uint32_t number = 0;
  if (owner.context == nullptr ||
      cupti().stream_id(owner.context, stream, per_thread ? 1 : 0, &number) != CUPTI_SUCCESS)
    return is_default_handle(stream) ? std::optional(0u) : std::nullopt;
  return is_default_stream(owner.gpu, number) ? 0 : number;
}

/// Remembers the number of the context's default stream, which CUPTI's records have.
void note_default_stream(CUcontext context) {
  thread_local CUcontext known = nullptr;
  if (context == nullptr || context == known) return;
  known = context;
  std::uint32_t number = 0;
  if (cupti().stream_id(context, nullptr, 0, &number) != CUPTI_SUCCESS) return;
  const std::uint32_t gpu = gpu_of(context);
  const std::lock_guard lock(watch().mutex);
  watch().default_streams.add(gpu, number);
}

void enter(const Function& function, const CUpti_CallbackData& data, ThreadCalls& thread) {
  if (thread.depth++ > 0) return;
  thread.start = 0;
  if (!watch().collects.load(std::memory_order_relaxed)) return;
  note_default_stream(data.context);
  if (function.reads == Reads::copy || function.reads == Reads::copy_from_host) {
    const Parameters parameters(data);
    CopyArguments copy{
        .call = data.correlationId, .from = parameters.at<std::uint64_t>(1), .to = parameters.at<std::uint64_t>(0)};
    const auto size = parameters.at<std::size_t>(2);
    const bool from_host = function.reads == Reads::copy_from_host ||
                           (function.name.starts_with("cudaMemcpy") && parameters.at<int>(3) == host_to_device);
    if (from_host && size >= least_hashed) copy.content = sampled_hash(reinterpret_cast<const void*>(copy.from), size);
    const std::lock_guard lock(thread.mutex);
    thread.collected.copies.push_back(copy);
  }
  cupti().timestamp(&thread.start);
}

void read_order(const Function& function, const CUpti_CallbackData& data, ReturnedCall& call) {
  const Parameters parameters(data);
  bool is_known = true;
  const auto stream_at = [&](std::size_t index) {
    const auto stream = parameters.at<CUstream>(index);
    const StreamOwner owner = owner_of(stream, data.context);
    call.gpu = owner.gpu;
    const std::optional<std::uint32_t> number = stream_number(owner, stream, function.stream_per_thread);
    is_known = number.has_value();
    return number.value_or(0);
  };
  call.orders = true;
  switch (function.reads) {
    case Reads::event_record:
      call.order = RecordedOrder::Kind::record;
      call.event = parameters.at<std::uint64_t>(0);
      call.stream = stream_at(1);
      break;
    case Reads::stream_wait:
      call.order = RecordedOrder::Kind::stream_wait;
      call.stream = stream_at(0);
      call.event = parameters.at<std::uint64_t>(1);
      break;
    case Reads::event_wait:
      call.order = RecordedOrder::Kind::event_wait;
      call.event = parameters.at<std::uint64_t>(0);
      break;
    case Reads::host_wait:
      call.stream = stream_at(0);
      // The host has waited for some stream of the GPU: who counts on the wait must not lose it.
      call.order = is_known ? RecordedOrder::Kind::host_wait : RecordedOrder::Kind::device_wait;
      return;
    case Reads::device_wait:
      call.gpu = gpu_of(data.context);
      call.order = RecordedOrder::Kind::device_wait;
      break;
    case Reads::nothing:
    case Reads::copy:
    case Reads::copy_from_host:
      call.orders = false;
  }
  // An order of a stream without a number would be one of the default stream, which has the number 0.
  if (!is_known) call.orders = false;
}

void leave(const Function& function, const CUpti_CallbackData& data, ThreadCalls& thread) {
  if (thread.depth == 0 || --thread.depth > 0 || thread.start == 0) return;
  std::uint64_t end = 0;
  cupti().timestamp(&end);
  ReturnedCall call{.call = {.call = data.correlationId,
                             .thread = thread.number,
                             .time = {thread.start, std::max(thread.start, end)},
                             .function = {},
                             .error = 0},
                    .function = function.name.c_str()};
  if (data.functionReturnValue != nullptr)  // a CUresult or a cudaError_t
    std::memcpy(&call.call.error, data.functionReturnValue, sizeof(call.call.error));
  read_order(function, data, call);
  const std::lock_guard lock(thread.mutex);
  thread.collected.calls.push_back(std::move(call));
}

void CUPTIAPI on_call(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* given) {
  const Functions& functions = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? watch().runtime : watch().driver;
  if (id >= functions.size() || !functions[id].is_watched) return;
  const auto& data = *static_cast<const CUpti_CallbackData*>(given);
  ThreadCalls& thread = this_thread();
  if (data.callbackSite == CUPTI_API_ENTER)
    enter(functions[id], data, thread);
  else
    leave(functions[id], data, thread);
}

std::string watch_functions(CUpti_CallbackDomain domain, Functions& functions) {
  for (std::uint32_t id = 1; id < functions.size(); ++id) {
    const char* name = nullptr;
    if (cupti().callback_name(domain, id, &name) != CUPTI_SUCCESS || name == nullptr) continue;
    const std::optional<Reads> reads = watched(name);
    if (!reads) continue;
    functions[id] = {true, has_stream_per_thread(name), *reads, std::string(name_in_programs(name))};
    if (const CUptiResult result = cupti().enable_callback(1, watch().subscriber, domain, id); result != CUPTI_SUCCESS)
      return message(result);
  }
  return "";
}

}  // namespace

std::string watch_calls() {
  if (const CUptiResult result = cupti().subscribe(&watch().subscriber, on_call, nullptr); result != CUPTI_SUCCESS)
    return message(result);
  const std::string refused = watch_functions(CUPTI_CB_DOMAIN_RUNTIME_API, watch().runtime);
  return refused.empty() ? watch_functions(CUPTI_CB_DOMAIN_DRIVER_API, watch().driver) : refused;
}

void collect_calls(bool collects) { watch().collects = collects; }

CollectedCalls take_calls() {
  std::vector<std::shared_ptr<ThreadCalls>> threads;
  {
    const std::lock_guard lock(watch().mutex);
    threads = watch().threads;
    std::erase_if(watch().threads, [](const auto& thread) { return thread->ended.load(); });
  }
  CollectedCalls all;
  for (const auto& thread : threads) {
    CollectedCalls taken;
    {
      const std::lock_guard lock(thread->mutex);
      std::swap(taken, thread->collected);
    }
    all.copies.insert(all.copies.end(), taken.copies.begin(), taken.copies.end());
    all.calls.insert(all.calls.end(), std::make_move_iterator(taken.calls.begin()),
                     std::make_move_iterator(taken.calls.end()));
  }
  return all;
}

bool is_default_stream(std::uint32_t gpu, std::uint32_t cupti_stream) {
  const std::lock_guard lock(watch().mutex);
  return watch().default_streams.has(gpu, cupti_stream);
}

}  // namespace shiplap::recorder
