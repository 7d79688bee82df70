// Programs that shiplap writes, compiled by nvcc and linked with a fake runtime: they make the calls that the CUDA
// device makes for the same schedule, and the data that comes out is right.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <numeric>
#include <random>

#include "shiplap/device/bindings.hpp"
#include "shiplap/device/cuda/cuda_device.hpp"
#include "shiplap/device/cuda/gate.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "tests/device/cuda/fake_api.hpp"
#include "tests/emit/cuda/calls.hpp"
#include "tests/emit/examples.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap {
namespace {

using testing::Calls;
using testing::Example;

constexpr int warm_ups = 3;
constexpr int runs = warm_ups + 1 + 1;  // a timed one, and one to be verified

/// The first argument of a kernel that moves blocks (shiplap/device/cuda/block_movers.cu). Sizes are in words.
struct MoveShape {
  void* pool;
  void* packed;
  std::uint64_t pitch;
  std::uint32_t block;
  std::uint32_t total;
};

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
  api.memcpy_2d_async = [](void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                           std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    note("strided {} {} {} {} {} {} {} {}", fmt::ptr(stream), to, from, to_pitch, from_pitch, width, height,
         static_cast<int>(kind));
    return below.memcpy_2d_async(to, to_pitch, from, from_pitch, width, height, kind, stream);
  };
  // Only the kernels of movers are launched through the table.
  api.launch_kernel = [](const void* kernel, dim3 grid, dim3 threads, void** arguments, std::size_t shared,
                         cudaStream_t stream) {
    const auto& shape = *static_cast<const MoveShape*>(arguments[0]);
    note("move {} {} {} {} {} {}", fmt::ptr(stream), fmt::ptr(shape.pool), fmt::ptr(shape.packed), shape.total, grid.x,
         threads.x);
    return below.launch_kernel(kernel, grid, threads, arguments, shared, stream);
  };
  api.stream_create_with_priority = [](cudaStream_t* stream, unsigned flags, int priority) {
    const cudaError_t error = below.stream_create_with_priority(stream, flags, priority);
    note("urgent {} {}", fmt::ptr(*stream), priority);
    return error;
  };
  api.mem_prefetch_async = [](const void* data, std::size_t bytes, int to, cudaStream_t stream) {
    note("prefetch {} {} {} {}", fmt::ptr(stream), data, bytes, to == cudaCpuDeviceId ? 0 : 1);
    return below.mem_prefetch_async(data, bytes, to, stream);
  };
  api.mem_advise = [](const void* data, std::size_t bytes, cudaMemoryAdvise advice, int of) {
    note("advise {} {} {} {}", data, bytes, static_cast<int>(advice), of == cudaCpuDeviceId ? 0 : 1);
    return below.mem_advise(data, bytes, advice, of);
  };
  return api;
}

/// The lists of a schedule, as the program makes them (snippets::name_blocks).
class Lists {
 public:
  explicit Lists(const Schedule& schedule) : schedule_(schedule), indices_(schedule.lists.size()) {
    for (std::size_t l = 0; l < indices_.size(); ++l)
      if (!schedule.lists[l].regular) indices_[l].resize(schedule.lists[l].count);
  }
  std::vector<std::span<const std::uint32_t>> bound() const { return {indices_.begin(), indices_.end()}; }
  void name_blocks() {
    for (std::uint32_t l = 0; l < indices_.size(); ++l) {
      std::vector<std::uint32_t> all(blocks_of_pool(l));
      std::iota(all.begin(), all.end(), 0u);
      if (indices_[l].empty()) continue;
      for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random_() % i]);
      std::copy_n(all.begin(), indices_[l].size(), indices_[l].begin());
    }
  }

 private:
  std::uint64_t blocks_of_pool(std::uint32_t list) const {
    for (const Op& op : schedule_.ops)
      if (const auto* blocks = std::get_if<BlockCopy>(&op.what); blocks != nullptr && blocks->list.value == list)
        return shiplap::blocks_of_pool(blocks->pool.length, schedule_.lists[list].block, schedule_.lists[list].pitch);
    return 0;
  }

  const Schedule& schedule_;
  std::vector<std::vector<std::uint32_t>> indices_;
  std::mt19937_64 random_;
};

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
  Lists lists(schedule);
  bindings.lists = lists.bound();
  const auto execution = device->prepare(schedule, bindings);
  for (int i = 0; i < runs; ++i) {
    if (i == 0 || i + 1 == runs) lists.name_blocks();  // before the timed runs, and before the verified one
    execution->run();
  }
  return testing::calls_of(lines);
}

struct Outcome {
  int code = -1;
  std::string errors;
  std::vector<std::string> calls;
};

std::vector<std::string> lines_of(const std::string& file) {
  std::vector<std::string> found;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) found.push_back(line);
  return found;
}

Outcome run_faked(const std::string& name) {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "calls";
  const std::string command = fmt::format("SHIPLAP_CALLS='{0}' '{1}/shiplap_faked_{2}' 1 >/dev/null 2>'{0}.errors'",
                                          file, SHIPLAP_EMITTED_PROGRAMS, name);
  Outcome outcome;
  const int status = std::system(command.c_str());
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.calls = lines_of(file);
  for (const std::string& line : lines_of(file + ".errors")) outcome.errors += line + "\n";
  return outcome;
}

class EmittedProgram : public ::testing::TestWithParam<std::string> {};

TEST_P(EmittedProgram, makes_the_calls_of_the_device_and_verifies_its_data) {
  const Example example = testing::example(GetParam());
  const Outcome outcome = run_faked(GetParam());
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  const Calls expected = of_device(example);
  ASSERT_FALSE(expected.streams.empty());
  EXPECT_EQ(difference(expected, testing::calls_of(outcome.calls)), "") << example.program();
}

/// Whether the line says that bytes move or a kernel is launched.
bool is_work(const std::string& line) {
  return std::ranges::any_of(std::array{"copy ", "batch ", "strided ", "move ", "launch "},
                             [&](const char* kind) { return line.starts_with(kind); });
}

TEST(EmittedProgram, moves_nothing_when_a_list_is_wrong_and_says_where) {
  for (const auto& [name, message] :
       {std::pair{
            "index_outside",
            "list x: index 150 at position 41 is outside of the pool, which has blocks 0 to 149; use one of these"},
        {"index_twice", "list y: position 41 names block "},
        {"index_missing", "list x has 119 indices, and 120 blocks are moved; give one for each block"}}) {
    const Outcome outcome = run_faked(name);
    EXPECT_EQ(outcome.code, 1) << name;
    EXPECT_EQ(outcome.errors.substr(0, std::strlen(message)), message);
    EXPECT_FALSE(outcome.calls.empty()) << "its memory is there";
    EXPECT_TRUE(std::ranges::none_of(outcome.calls, is_work)) << name;
  }
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
