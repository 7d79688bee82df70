// Every call of the table of CUDA functions fails once, before it does anything, and from every call on all of them do.
// Needs no GPU: every call is faked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/check.hpp"
#include "shiplap/device/cuda/cuda_device.hpp"
#include "tests/device/cuda/fake_api.hpp"
#include "tests/device/cuda/fault_scenarios.hpp"
#include "tests/device/cuda/faults.hpp"

namespace shiplap {
namespace {

using ::testing::AnyOf;
using testing::fake_cuda;
using testing::FakeCuda;
using testing::faults;
using testing::faulty_api;
using testing::functions;
using ::testing::HasSubstr;
using testing::Scenario;

/// Calls whose failure may go unreported, and why: what they are for has been done or is given up.
const std::map<std::string, std::string> may_be_ignored{
    {"cudaFree", "memory goes out of scope, in a destructor"},
    {"cudaFreeHost", "memory goes out of scope, in a destructor"},
    {"cudaHostUnregister", "memory goes out of scope, in a destructor"},
    {"cudaStreamDestroy", "a stream goes out of scope, in a destructor"},
    {"cudaEventDestroy", "an event goes out of scope, in a destructor"},
    {"cudaGraphDestroy", "a graph goes out of scope, in a destructor"},
    {"cudaGraphExecDestroy", "a graph goes out of scope, in a destructor"},
    {"cudaStreamSynchronize", "a gate that is open is waited for before its flags are freed, in a destructor"},
    {"cudaGetLastError", "all that it returns is an error that another call has had"},
    {"cudaStreamQuery", "a stream that cannot say that it still works is waited for, which then fails"},
    {"cuCtxGetCurrent", "the caller's GPU, which is not known, cannot be made current again"},
    {"cuCtxSetCurrent", "the caller's GPU is made current again, in a destructor"},
    {"cudaMemAdvise", "advice is taken back with the last execution that gave it, in a destructor"},
    {"cudaSetDevice", "peer access is left as it was found, in a destructor"},
    {"cudaDeviceEnablePeerAccess", "peer access is left as it was found, in a destructor"},
    {"cudaDeviceDisablePeerAccess", "peer access is left as it was found, in a destructor"},
};
/// Those that tell of other calls and have no failures of their own.
const std::vector<std::string> cannot_fail{"cudaGetLastError", "cudaGetErrorName", "cudaGetErrorString"};
bool can_fail(std::size_t function) { return std::ranges::count(cannot_fail, functions()[function].name) == 0; }

/// Ends the program when one step takes a minute: a thread that hangs cannot be ended otherwise.
class Watchdog {
 public:
  ~Watchdog() {
    step("");
    thread_.request_stop();
    changed_.notify_all();
  }
  void step(std::string what) {
    const std::lock_guard lock(mutex_);
    what_ = std::move(what);
    changed_.notify_all();
  }

 private:
  void watch(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      if (changed_.wait_for(lock, std::chrono::minutes(1)) == std::cv_status::no_timeout || what_.empty()) continue;
      std::fprintf(stderr, "hangs: %s\n", what_.c_str());
      std::abort();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;
  std::jthread thread_{[this](const std::stop_token& stop) { watch(stop); }};
};

/// Opens the device, works with it, closes it. The message of what was thrown; then the same device works again.
std::optional<std::string> attempt(const Scenario& scenario, const Api& api) {
  std::unique_ptr<MeasurableDevice> device;
  std::optional<std::string> message;
  try {
    device = open_cuda(scenario.gpus, api);
    scenario.work(*device, api);
  } catch (const Error& error) {
    message = error.what();
  }
  if (device != nullptr && message && !faults().is_lost()) {
    EXPECT_NO_THROW(scenario.work(*device, api)) << "once more, after: " << *message;
  }
  return message;
}

Api prepare_table(const Scenario& scenario) {
  Api api = faulty_api();
  fake_cuda().devices = static_cast<int>(scenario.gpus.size());
  return api;
}

struct FaultyCall : ::testing::TestWithParam<Scenario> {
  std::vector<int> counts() {
    const Api api = prepare_table(GetParam());
    EXPECT_EQ(attempt(GetParam(), api), std::nullopt);
    EXPECT_EQ(fake_cuda().live(), 0);
    return faults().counts();
  }
  Watchdog watchdog;
};

void expect_report(const std::optional<std::string>& message, std::string_view error, std::size_t threads) {
  const std::string call = faults().first();
  if (!message) {
    EXPECT_TRUE(may_be_ignored.contains(call)) << call << " has failed and nobody was told";
    return;
  }
  EXPECT_THAT(*message, HasSubstr(std::string(error)));
  if (call == "cudaGetDeviceCount")
    EXPECT_THAT(*message, HasSubstr(call + " failed: "));
  else if (faults().is_lost() && (threads > 1 || may_be_ignored.contains(call)))
    EXPECT_THAT(*message, HasSubstr(" failed ("));  // another thread may be first to say so, or a call behind this one
  else if (call == "cudaPeekAtLastError")
    EXPECT_THAT(*message,
                AnyOf(HasSubstr("a CUDA call failed (before this run"), HasSubstr("the kernel launch failed (")));
  else
    EXPECT_THAT(*message, HasSubstr(call + " failed (")) << "with what it was for";
}

TEST(FaultyTable, has_a_place_for_a_fault_in_front_of_every_member) {
  const Api faulty = faulty_api();
  const Api plain = testing::fake_api();
  constexpr std::size_t size = sizeof(void (*)());
  for (std::size_t at = 0; at < sizeof(Api); at += size)
    EXPECT_NE(
        std::memcmp(reinterpret_cast<const char*>(&faulty) + at, reinterpret_cast<const char*>(&plain) + at, size), 0)
        << "member " << at / size;
}

TEST(FaultyTable, has_no_member_that_the_scenarios_do_not_call) {
  std::vector<int> counts(functions().size());
  for (const Scenario& scenario : testing::fault_scenarios()) {
    const Api api = prepare_table(scenario);
    attempt(scenario, api);
    for (std::size_t f = 0; f < counts.size(); ++f) counts[f] += faults().counts()[f];
  }
  for (std::size_t f = 0; f < counts.size(); ++f) EXPECT_TRUE(counts[f] > 0 || !can_fail(f)) << functions()[f].name;
}

TEST_P(FaultyCall, is_named_and_leaves_nothing_behind_whichever_it_is) {
  const std::vector<int> in_all = counts();
  for (std::size_t f = 0; f < functions().size(); ++f) {
    for (int before = 0; can_fail(f) && before < in_all[f]; ++before) {
      const std::string what = std::string(functions()[f].name) + " behind " + std::to_string(before) + " others of it";
      SCOPED_TRACE(what);
      watchdog.step(what);
      const Api api = prepare_table(GetParam());
      faults().fail_once(f, before);
      const auto message = attempt(GetParam(), api);
      ASSERT_TRUE(faults().struck());
      expect_report(message, api.get_error_name(functions()[f].failure), GetParam().threads);
      const auto peers_left = static_cast<std::size_t>(message ? 0 : fake_cuda().live_peers);
      EXPECT_EQ(static_cast<std::size_t>(fake_cuda().live()), faults().kept() + peers_left);
      EXPECT_EQ(FakeCuda::last_error, cudaSuccess);
      for (const bool open : fake_cuda().gate_open_at_wait) EXPECT_TRUE(open) << "the host waits behind a closed gate";
    }
  }
}

TEST_P(FaultyCall, of_a_gpu_that_is_lost_is_named_and_nothing_hangs) {
  const std::vector<int> in_all = counts();
  const int calls = std::accumulate(in_all.begin(), in_all.end(), 0);
  for (int before = 0; before < calls; ++before) {
    const std::string what = "lost behind " + std::to_string(before) + " calls";
    SCOPED_TRACE(what);
    watchdog.step(what);
    const Api api = prepare_table(GetParam());
    faults().lose_device(before);
    const auto message = attempt(GetParam(), api);
    ASSERT_TRUE(faults().struck());
    expect_report(message, "cudaErrorLaunchFailure", GetParam().threads);
    if (message) {
      EXPECT_THAT(*message, HasSubstr("its process cannot use the GPU any more"));
    }
    // All that could be given back was tried to.
    EXPECT_EQ(fake_cuda().live() - fake_cuda().live_peers, static_cast<int>(faults().kept()));
    for (const bool open : fake_cuda().gate_open_at_wait) EXPECT_TRUE(open) << "the host waits behind a closed gate";
  }
}
INSTANTIATE_TEST_SUITE_P(CudaFake, FaultyCall, ::testing::ValuesIn(testing::fault_scenarios()),
                         [](const auto& of) { return of.param.name; });

}  // namespace
}  // namespace shiplap
