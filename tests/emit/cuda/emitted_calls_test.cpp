// Programs that shiplap writes, compiled by nvcc and linked with a fake runtime: they make the calls that the CUDA
// device makes for the same schedule, and the data that comes out is right.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <mutex>

#include "shiplap/device/cuda/cuda_device.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "tests/device/cuda/fake_api.hpp"
#include "tests/emit/cuda/calls.hpp"
#include "tests/emit/examples.hpp"

namespace shiplap {
namespace {

using testing::Calls;
using testing::Example;

constexpr int warm_ups = 3;
constexpr int runs = warm_ups + 1 + 1;  // a timed one, and one to be verified

Api below;  // what the logging table calls
std::vector<std::string> lines;
std::mutex guard;

template <class... Values>
void note(fmt::format_string<Values...> format, Values&&... values) {
  const std::lock_guard lock(guard);
  lines.push_back(fmt::format(format, std::forward<Values>(values)...));
}

/// The fake runtime of the device's tests, with what it is asked for as lines.
Api logging_api() {
  below = testing::fake_api();
  testing::fake_cuda().free_memory = testing::fake_cuda().total_memory = std::size_t{1} << 40;
  Api api = below;
  api.event_create_with_flags = [](cudaEvent_t* event, unsigned flags) {
    const cudaError_t error = below.event_create_with_flags(event, flags);
    if (flags == cudaEventDefault) note("clock {}", fmt::ptr(*event));
    return error;
  };
  api.event_record = [](cudaEvent_t event, cudaStream_t stream) {
    note("record {} {}", fmt::ptr(stream), fmt::ptr(event));
    return below.event_record(event, stream);
  };
  api.stream_wait_event = [](cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    note("wait {} {}", fmt::ptr(stream), fmt::ptr(event));
    return below.stream_wait_event(stream, event, flags);
  };
  api.event_synchronize = [](cudaEvent_t event) {
    note("synchronize {}", fmt::ptr(event));
    return below.event_synchronize(event);
  };
  api.memcpy_async = [](void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    note("copy {} {} {} {} {}", fmt::ptr(stream), to, from, bytes, static_cast<int>(kind));
    return below.memcpy_async(to, from, bytes, kind, stream);
  };
  api.memcpy_batch_async = [](void* const* to, const void* const* from, const std::size_t* bytes, std::size_t count,
                              cudaStream_t stream) {
    note("batch {} {}", fmt::ptr(stream), count);
    for (std::size_t i = 0; i < count; ++i)
      note("copy {} {} {} {} {}", fmt::ptr(stream), to[i], from[i], bytes[i], static_cast<int>(cudaMemcpyDefault));
    return below.memcpy_batch_async(to, from, bytes, count, stream);
  };
  api.mem_prefetch_async = [](const void* data, std::size_t bytes, int to, cudaStream_t stream) {
    note("prefetch {} {} {} {}", fmt::ptr(stream), data, bytes, to == cudaCpuDeviceId ? 0 : 1);
    return below.mem_prefetch_async(data, bytes, to, stream);
  };
  return api;
}

/// What the device calls for the example's schedule.
Calls of_device(const Example& example) {
  lines.clear();
  const Api api = logging_api();
  const auto device = open_cuda(0, api);
  const Schedule schedule = example.schedule();
  std::vector<Memory> memory;
  Bindings bindings;
  for (const Buffer& buffer : schedule.buffers) {
    memory.push_back(device->allocate(buffer.place, buffer.memory, buffer.size));
    bindings.buffers.push_back(memory.back().data());
    note("memory {} {}", fmt::ptr(memory.back().data()), buffer.size.count);
  }
  const bool has_text = !example.workload.program.kernel.empty();
  const bool any_grid = example.workload.job.any_grid;
  const KernelFunction launch = [&](const Launch& l) {
    std::string operands;
    for (const std::byte* operand : l.operands) operands += fmt::format(" {}", fmt::ptr(operand));
    note("launch {} {} {}{}", l.stream, any_grid ? l.blocks : 0, has_text ? l.lengths.back().count : 0, operands);
  };
  bindings.kernels.assign(schedule.kernels.size(), {.host = {}, .cuda = launch});
  const auto execution = device->prepare(schedule, bindings);
  for (int i = 0; i < runs; ++i) execution->run();
  return testing::calls_of(lines);
}

struct Outcome {
  int code = -1;
  std::vector<std::string> calls;
};

Outcome run_faked(const std::string& name) {
  std::string file = (std::filesystem::temp_directory_path() / "shiplap-calls-XXXXXX").string();
  close(mkstemp(file.data()));
  const std::string command =
      fmt::format("SHIPLAP_CALLS='{}' '{}/shiplap_faked_{}' 1 >/dev/null", file, SHIPLAP_EMITTED_PROGRAMS, name);
  Outcome outcome;
  const int status = std::system(command.c_str());
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) outcome.calls.push_back(line);
  std::filesystem::remove(file);
  return outcome;
}

class EmittedProgram : public ::testing::TestWithParam<std::string> {};

TEST_P(EmittedProgram, makes_the_calls_of_the_device_and_verifies_its_data) {
  const Example example = testing::example(GetParam());
  const Outcome outcome = run_faked(GetParam());
  EXPECT_EQ(outcome.code, 0);
  const Calls expected = of_device(example);
  ASSERT_FALSE(expected.streams.empty());
  EXPECT_EQ(difference(expected, testing::calls_of(outcome.calls)), "") << example.program();
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Example& example : testing::small_examples())
    if (example.faked) all.push_back(example.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Emit, EmittedProgram, ::testing::ValuesIn(names()),
                         [](const auto& named) { return named.param; });

}  // namespace
}  // namespace shiplap
