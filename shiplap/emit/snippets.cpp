#include "shiplap/emit/snippets.hpp"

namespace shiplap::snippets {

const std::string_view check = R"(void check(cudaError_t error, int line = __builtin_LINE()) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "line %d: %s: %s\n", line, cudaGetErrorName(error), cudaGetErrorString(error));
  std::_Exit(1);  // other threads may be running
}
)";

const std::string_view cast = R"(
template <class T>
T* as(char* p) { return reinterpret_cast<T*>(p); }
)";

const std::string_view await = R"(
std::atomic<int> round_number{0};  // number of the run
// Waits until another thread has submitted what this one uses: a stream does not wait for an unrecorded event.
void await(const std::atomic<int>& made) {
  while (made.load(std::memory_order_acquire) != round_number.load(std::memory_order_relaxed)) std::this_thread::yield();
}
)";

const std::string_view together = R"(
#if CUDART_VERSION < 12080
#error "this plan copies in batches (cudaMemcpyBatchAsync), which need CUDA 12.8: use it or plan without batches"
#endif
// Submits copies in one call (CUDA 12.8 and newer). They have no order among each other.
struct Together {
  std::vector<void*> to;
  std::vector<const void*> from;
  std::vector<std::size_t> bytes;

  void add(char* destination, const char* source, std::uint64_t count) {
    to.push_back(destination);
    from.push_back(source);
    bytes.push_back(count);
  }
  void submit(cudaStream_t stream) {
    cudaMemcpyAttributes attributes{};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    std::size_t first = 0;
#if CUDART_VERSION >= 13000
    check(cudaMemcpyBatchAsync(to.data(), from.data(), bytes.data(), to.size(), &attributes, &first, 1, stream));
#else  // from 12.8 on
    std::size_t failed = 0;
    check(cudaMemcpyBatchAsync(to.data(), const_cast<void**>(from.data()), bytes.data(), to.size(), &attributes, &first,
                               1, &failed, stream));
#endif
    to.clear();
    from.clear();
    bytes.clear();
  }
} together;
)";

const std::string_view touch = R"(
// Reads and writes a byte of every page, which moves the pages to the host.
void touch(char* p, std::uint64_t bytes) {
  for (volatile char* at = p; at < p + bytes; at += 4096) *at = *at;
}
)";

const std::string_view past_caches = R"(
#ifdef __SSE2__
#include <emmintrin.h>
#endif
// Copies to memory that nobody reads soon, by stores that go past the caches.
void copy_past_caches(char* to, const char* from, std::uint64_t bytes) {
#ifdef __SSE2__
  const std::uint64_t before = std::min<std::uint64_t>(bytes, -reinterpret_cast<std::uintptr_t>(to) % 16);
  std::memcpy(to, from, before);
  std::uint64_t at = before;
  for (; at + 16 <= bytes; at += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + at), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at)));
  _mm_sfence();
  std::memcpy(to + at, from + at, bytes - at);
#else
  std::memcpy(to, from, bytes);
#endif
}
)";

const std::string_view prefetch = R"(
void prefetch(char* p, std::uint64_t bytes, int to, cudaStream_t stream) {
#if CUDART_VERSION >= 13000
  const bool back = to == cudaCpuDeviceId;
  const cudaMemLocation place{back ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, back ? 0 : to};
  check(cudaMemPrefetchAsync(p, bytes, place, 0, stream));
#else
  check(cudaMemPrefetchAsync(p, bytes, to, stream));
#endif
}
)";

const std::string_view prefer_host = R"(
// Lets the pages of managed memory stay on the host, where kernels access them over the link.
void prefer_host(char* p, std::uint64_t bytes) {
#if CUDART_VERSION >= 13000
  const cudaMemLocation host{cudaMemLocationTypeHost, 0};
#else
  constexpr int host = cudaCpuDeviceId;
#endif
  if (bytes > 0) check(cudaMemAdvise(p, bytes, cudaMemAdviseSetPreferredLocation, host));
}
)";

const std::string_view pinned = R"(
// Pinned memory in pages of 2 MiB where the system has them, which make concurrent copies faster.
char* pinned(std::uint64_t bytes) {
  constexpr std::uint64_t page = 2 << 20;
  if (bytes == 0) return nullptr;
  void* p = std::aligned_alloc(page, (bytes + page - 1) / page * page);
  if (p == nullptr) std::fprintf(stderr, "no memory\n"), std::_Exit(1);
  madvise(p, bytes, MADV_HUGEPAGE);
  std::memset(p, 0, bytes);
  check(cudaHostRegister(p, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped));
  return static_cast<char*>(p);
}
)";

const std::string_view pageable = R"(
char* pageable(std::uint64_t bytes) {
  void* p = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (p == nullptr) std::fprintf(stderr, "no memory\n"), std::_Exit(1);
  std::memset(p, 0, bytes);
  return static_cast<char*>(p);
}
)";

const std::string_view managed = R"(
char* managed(std::uint64_t bytes) {
  void* p = nullptr;
  if (bytes > 0) check(cudaMallocManaged(&p, bytes));
  return static_cast<char*>(p);
}
)";

const std::string_view threads = R"(
constexpr int agents = {agents};  // number of threads; main is the first
std::atomic<int> ended{0};
std::atomic<bool> leaving{false};
std::vector<std::thread> helpers;

void act(int agent) {
{act}}
void serve(int agent) {  // spins, because waking takes tens of microseconds
  for (int round = 1;; ++round) {
    while (round_number < round) std::this_thread::yield();
    if (leaving) return;
    act(agent);
    ++ended;
  }
}
void leave() {
  leaving = true;
  ++round_number;
  for (std::thread& helper : helpers) helper.join();
}
void act_all() {
  ended = 0;
  ++round_number;
  act(0);
  while (ended < agents - 1) std::this_thread::yield();
}
)";

const std::string_view data = R"(
template <class T>
void fill(char* data, std::uint64_t bytes, T (*initial)(std::uint64_t)) {
  for (std::uint64_t i = 0; i < bytes / sizeof(T); ++i) as<T>(data)[i] = initial(i);
}
template <class T>
bool holds(const char* name, char* data, std::uint64_t bytes, T (*expected)(std::uint64_t)) {
  for (std::uint64_t i = 0; i < bytes / sizeof(T); ++i) {
    if (as<T>(data)[i] == expected(i)) continue;
    std::fprintf(stderr, "%s[%llu] is wrong\n", name, static_cast<unsigned long long>(i));
    return false;
  }
  return true;
}
)";

const std::string_view tolerance = R"(template <class T>
bool holds(const char* name, char* data, std::uint64_t bytes, T (*expected)(std::uint64_t),
           double (*tolerance)(std::uint64_t)) {
  for (std::uint64_t i = 0; i < bytes / sizeof(T); ++i) {
    const double off = double(as<T>(data)[i]) - double(expected(i));
    const double allowed = tolerance(i);
    if (-allowed <= off && off <= allowed) continue;  // false for NaN
    std::fprintf(stderr, "%s[%llu] is wrong by %g\n", name, static_cast<unsigned long long>(i), off);
    return false;
  }
  return true;
}
)";

const std::string_view main_function = R"(
int main(int argc, char** argv) {
  const int repetitions = argc > 1 ? std::max(1, std::atoi(argv[1])) : 21;
  make_ready();
  fill();
  std::vector<double> times;
  for (int i = -3; i < repetitions; ++i) {  // the first three are the warm-up
    const double time = run();
    if (i >= 0) times.push_back(time);
  }
  std::sort(times.begin(), times.end());
  std::printf("median %.4f ms, min %.4f ms, %d repetitions\n", times[times.size() / 2], times[0], repetitions);
  fill();
  run();
{leave}  const bool good = verify();
  std::puts({verdict});
  return good ? 0 : 2;
}
)";

const std::string_view graph = R"(
cudaGraphExec_t graph;
// Captures the pipeline as a graph. All streams branch off from the first one and join it at the end.
void make_graph() {
  const cudaStream_t origin = {origin};
  cudaEvent_t mark;
  check(cudaEventCreateWithFlags(&mark, cudaEventDisableTiming));
  check(cudaStreamBeginCapture(origin, cudaStreamCaptureModeThreadLocal));
{branch}  pipeline();
{join}  cudaGraph_t captured;
  check(cudaStreamEndCapture(origin, &captured));
  check(cudaGraphInstantiateWithFlags(&graph, captured, 0));
  check(cudaGraphUpload(graph, origin));
  check(cudaStreamSynchronize(origin));
}
)";

const std::string_view branch = R"(  check(cudaEventRecord(mark, origin));
  for (cudaStream_t other : {streams})
    if (other != origin) check(cudaStreamWaitEvent(other, mark, 0));
)";

const std::string_view join = R"(  for (cudaStream_t other : {streams}) {
    if (other == origin) continue;
    check(cudaEventRecord(mark, other));
    check(cudaStreamWaitEvent(origin, mark, 0));
  }
)";

const std::string_view run_by_events = R"(
// Milliseconds from the first op to the end of the last.
double run() {
{before}  check(cudaEventRecord(start, {first}));
  {go}
{join}  check(cudaEventRecord(stop, {last}));
  check(cudaEventSynchronize(stop));
  float time = 0;
  check(cudaEventElapsedTime(&time, start, stop));
  return time;
}
)";

const std::string_view join_for_stop =
    R"(  for (cudaStream_t stream : {ending}) {  // the streams that no other stream waits for
    check(cudaEventRecord(end_mark, stream));
    check(cudaStreamWaitEvent(all_ended, end_mark, 0));
  }
)";

const std::string_view run_by_host_clock = R"(
// Milliseconds from the first call to the end of all work.
double run() {
{before}  const auto begin = std::chrono::steady_clock::now();
  {go}
  for (cudaStream_t stream : {ending}) check(cudaStreamSynchronize(stream));
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
  return time.count();
}
)";

}  // namespace shiplap::snippets
