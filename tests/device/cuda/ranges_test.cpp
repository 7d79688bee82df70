// What a profiler is told of a run. Needs no GPU: every call is faked, and the profiler is one that the test plays.
#include "shiplap/device/cuda/ranges.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/cuda_device.hpp"
#include "tests/device/cuda/fake_api.hpp"
#include "tests/device/cuda/fault_memory.hpp"
#include "tests/device/suite/transfers.hpp"

#if __has_include(<nvtx3/nvToolsExt.h>)
#define NVTX_NO_IMPL  // as those do who receive ranges
#include <nvtx3/nvToolsExt.h>
#endif

namespace shiplap {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::fake_api;
using testing::fake_cuda;
using testing::FaultMemory;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

/// What was told, and by which threads.
struct Profiler {
  std::mutex guard;
  bool listens = true;
  int calls = 0;                  ///< beside asking for the domain
  std::deque<std::string> names;  ///< handles point to them
  std::vector<std::string> begun;
  std::map<std::thread::id, int> open;
  std::map<std::thread::id, std::vector<std::string>> by_thread;
  bool ended_without_begin = false;

  bool all_ended() const {
    for (const auto& [thread, count] : open)
      if (count != 0) return false;
    return !ended_without_begin;
  }
  void forget() {
    calls = 0;
    begun.clear();
    open.clear();
    by_thread.clear();
  }
};
Profiler* profiler = nullptr;  ///< of the present test

void* domain() { return profiler != nullptr && profiler->listens ? profiler : nullptr; }
void* name(void*, const std::string& text) {
  const std::lock_guard lock(profiler->guard);
  ++profiler->calls;
  return &profiler->names.emplace_back(text);
}
void push(void*, void* handle) {
  const std::lock_guard lock(profiler->guard);
  ++profiler->calls;
  const std::string& text = *static_cast<std::string*>(handle);
  profiler->begun.push_back(text);
  profiler->by_thread[std::this_thread::get_id()].push_back(text);
  ++profiler->open[std::this_thread::get_id()];
}
void pop(void*) {
  const std::lock_guard lock(profiler->guard);
  ++profiler->calls;
  if (--profiler->open[std::this_thread::get_id()] < 0) profiler->ended_without_begin = true;
}
std::uint64_t start(void*, void* handle) {
  push(nullptr, handle);
  return 17;
}
void end(void*, std::uint64_t range) {
  EXPECT_EQ(range, 17u);
  pop(nullptr);
}
constexpr RangeApi played{domain, name, push, pop, start, end};

struct RangesFixture : ::testing::Test {
  RangesFixture() { profiler = &told; }
  ~RangesFixture() override { profiler = nullptr; }

  Profiler told;
  Api api = fake_api();
};
using RangesFake = RangesFixture;
using NvtxRanges = RangesFixture;

TEST_F(RangesFake, of_a_run_hold_one_for_each_op_by_its_name) {
  const auto device = open_cuda(0, api, played);
  const Schedule schedule = testing::three_streams_inverting();
  FaultMemory memory(*device, api, schedule, true);
  const auto execution = device->prepare(schedule, memory.bindings);
  EXPECT_THAT(told.begun, IsEmpty());
  execution->run();
  EXPECT_THAT(told.begun,
              ElementsAre("run of 9 ops", "copy H2D of chunk 0 (op 0)", "kernel invert of chunk 0 (op 1)",
                          "copy D2H of chunk 0 (op 2)", "copy H2D of chunk 1 (op 3)", "kernel invert of chunk 1 (op 4)",
                          "copy D2H of chunk 1 (op 5)", "copy H2D of chunk 2 (op 6)", "kernel invert of chunk 2 (op 7)",
                          "copy D2H of chunk 2 (op 8)"));
  EXPECT_TRUE(told.all_ended());
}

TEST_F(RangesFake, are_named_when_the_execution_is_made_and_not_while_it_runs) {
  const auto device = open_cuda(0, api, played);
  const Schedule schedule = testing::three_streams_inverting();
  FaultMemory memory(*device, api, schedule, true);
  const auto execution = device->prepare(schedule, memory.bindings);
  const std::size_t named = told.names.size();
  EXPECT_EQ(named, 10u);
  for (int run = 0; run < 3; ++run) execution->run();
  EXPECT_EQ(told.names.size(), named);
  EXPECT_EQ(told.begun.size(), 3 * named);
}

TEST_F(RangesFake, are_told_to_nobody_where_nobody_listens) {
  told.listens = false;
  const auto device = open_cuda(0, api, played);
  for (const Schedule& schedule : {testing::three_streams_inverting(), testing::host_agents_inverting()}) {
    FaultMemory memory(*device, api, schedule, true);
    device->prepare(schedule, memory.bindings)->run();
    memory.expect_output();
  }
  EXPECT_EQ(told.calls, 0);
}

TEST_F(RangesFake, of_host_ops_are_of_the_threads_that_perform_them) {
  const auto device = open_cuda(0, api, played);
  const Schedule schedule = testing::host_agents_inverting();
  FaultMemory memory(*device, api, schedule, true);
  device->prepare(schedule, memory.bindings)->run();
  EXPECT_TRUE(told.all_ended());
  EXPECT_EQ(told.begun.size(), 1 + schedule.ops.size());
  ASSERT_EQ(told.by_thread.size(), 2u);
  for (const auto& [thread, names] : told.by_thread) {
    if (thread == std::this_thread::get_id()) {
      EXPECT_EQ(names.front(), "run of 21 ops");
      EXPECT_EQ(names[1], "pin of chunk 0 (op 0)");
      EXPECT_THAT(names, Each(Not(StartsWith("host copy"))));
    } else {
      EXPECT_THAT(names, Each(StartsWith("host copy")));
    }
  }
}

TEST_F(RangesFake, of_a_batch_are_one_and_of_a_graph_that_of_the_run) {
  const auto device = open_cuda(0, api, played);
  Schedule schedule = testing::batches_inverting_nothing();
  FaultMemory memory(*device, api, schedule, false);
  device->prepare(schedule, memory.bindings)->run();
  EXPECT_THAT(told.begun, ElementsAre("run of 6 ops", "copy H2D of chunk 0 (op 0) and 2 more in its batch",
                                      "copy D2H of chunk 0 (op 3) and 2 more in its batch"));
  told.forget();
  schedule = testing::three_streams_inverting();
  schedule.as_graph = true;
  FaultMemory of_graph(*device, api, schedule, true);
  const auto graph = device->prepare(schedule, of_graph.bindings);
  EXPECT_THAT(told.begun, IsEmpty()) << "while it is captured";
  graph->run();
  EXPECT_THAT(told.begun, ElementsAre("run of a graph of 9 ops"));
  EXPECT_TRUE(told.all_ended());
}

TEST_F(RangesFake, end_whichever_call_of_a_run_fails) {
  const auto device = open_cuda(0, api, played);
  for (const Schedule& schedule : {testing::three_streams_inverting(), testing::host_agents_inverting()}) {
    FaultMemory memory(*device, api, schedule, true);
    const auto execution = device->prepare(schedule, memory.bindings);
    int failed = 0;
    for (bool fails = true; fails; ++failed) {
      fake_cuda().fail(failed, cudaErrorUnknown);
      told.forget();
      try {
        execution->run();
      } catch (const Error&) {
      }
      fails = !fake_cuda().failed_call.empty();
      fake_cuda().fail(-1, cudaSuccess);
      ASSERT_TRUE(told.all_ended()) << "call " << failed;
      ASSERT_THAT(told.begun, Contains(StartsWith("run of ")));
    }
    EXPECT_GT(failed, 9);
  }
}

TEST_F(RangesFake, end_when_the_function_of_a_kernel_throws) {
  const auto device = open_cuda(0, api, played);
  const Schedule schedule = testing::three_streams_inverting();
  FaultMemory memory(*device, api, schedule, true);
  memory.bindings.kernels[0].cuda = [](const Launch&) { throw std::runtime_error("no"); };
  const auto execution = device->prepare(schedule, memory.bindings);
  EXPECT_THROW(execution->run(), Error);
  EXPECT_THAT(told.begun, ElementsAre("run of 9 ops", "copy H2D of chunk 0 (op 0)", "kernel invert of chunk 0 (op 1)"));
  EXPECT_TRUE(told.all_ended());
}

#ifdef NVTX_VERSION
// The receiving end, as a profiler's library has it.
nvtxDomainHandle_t NVTX_API on_domain(const char* text) {
  static std::string opened;
  opened = text;
  return reinterpret_cast<nvtxDomainHandle_t>(&opened);
}
nvtxStringHandle_t NVTX_API on_name(nvtxDomainHandle_t, const char* text) {
  static std::deque<std::string> names;
  if (profiler != nullptr) ++profiler->calls;
  return reinterpret_cast<nvtxStringHandle_t>(&names.emplace_back(text));
}
int NVTX_API on_push(nvtxDomainHandle_t, const nvtxEventAttributes_t* event) {
  if (profiler != nullptr && event->messageType == NVTX_MESSAGE_TYPE_REGISTERED)
    push(nullptr, reinterpret_cast<std::string*>(event->message.registered));
  return 0;
}
int NVTX_API on_pop(nvtxDomainHandle_t) {
  if (profiler != nullptr) pop(nullptr);
  return 0;
}

nvtxRangeId_t NVTX_API on_start(nvtxDomainHandle_t, const nvtxEventAttributes_t* event) {
  on_push(nullptr, event);
  return 17;
}
void NVTX_API on_end(nvtxDomainHandle_t, nvtxRangeId_t range) {
  EXPECT_EQ(range, 17u);
  on_pop(nullptr);
}

int NVTX_API listen(NvtxGetExportTableFunc_t tables) {
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(tables(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr || callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) return 0;
  const auto set = [&](unsigned id, auto* function) { *table[id] = reinterpret_cast<NvtxFunctionPointer>(function); };
  set(NVTX_CBID_CORE2_DomainCreateA, on_domain);
  set(NVTX_CBID_CORE2_DomainRegisterStringA, on_name);
  set(NVTX_CBID_CORE2_DomainRangePushEx, on_push);
  set(NVTX_CBID_CORE2_DomainRangePop, on_pop);
  set(NVTX_CBID_CORE2_DomainRangeStartEx, on_start);
  set(NVTX_CBID_CORE2_DomainRangeEnd, on_end);
  return 1;
}

TEST_F(NvtxRanges, reach_a_profiler_in_the_domain_of_shiplap) {
  const auto device = open_cuda(0, api);
  const Schedule schedule = testing::batches_inverting_nothing();
  FaultMemory memory(*device, api, schedule, false);
  const auto execution = device->prepare(schedule, memory.bindings);
  execution->run();
  EXPECT_EQ(*static_cast<std::string*>(nvtx_ranges().domain()), "shiplap");
  EXPECT_THAT(told.begun, ElementsAre("run of 6 ops", "copy H2D of chunk 0 (op 0) and 2 more in its batch",
                                      "copy D2H of chunk 0 (op 3) and 2 more in its batch"));
  EXPECT_TRUE(told.all_ended());
}

TEST_F(NvtxRanges, register_each_name_once_however_many_executions_have_it) {
  const RangeApi& nvtx = nvtx_ranges();
  void* const once = nvtx.name(nvtx.domain(), "a name of this test");
  const int registered = told.calls;
  EXPECT_EQ(nvtx.name(nvtx.domain(), "a name of this test"), once);
  EXPECT_EQ(told.calls, registered);
}
#endif

}  // namespace
}  // namespace shiplap

#ifdef NVTX_VERSION
// A profiler that is part of the program: NVTX calls what this points to where no library is named in the environment.
extern "C" {
NvtxInitializeInjectionNvtxFunc_t InitializeInjectionNvtx2_fnptr = shiplap::listen;
}
#endif
