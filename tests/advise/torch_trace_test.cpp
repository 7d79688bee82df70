#include "shiplap/advise/torch_trace.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "shiplap/advise/advice.hpp"
#include "shiplap/advise/recording_writer.hpp"
#include "shiplap/advise/steps.hpp"
#include "shiplap/profile/profile.hpp"
#include "tests/advise/made_trace.hpp"

namespace shiplap {
namespace {

using made_trace::MadeTrace;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TorchTrace : public MadeTrace {};

TEST_F(TorchTrace, gives_calls_then_work_by_its_start_then_orders_and_ranges) {
  kernel(2, "void saxpy<float>(int, float const*)", "260", "140");
  event("user_annotation", "forward", "90", "610");
  call(1, "cudaMemcpyAsync", "100", "10");
  call(2, "cudaLaunchKernel", "120", "5");
  call(3, "cudaMemsetAsync", "130", "5");
  call(4, "cudaDeviceSynchronize", "140", "300");
  copy(1, "HtoD (Pinned -> Device)", "150", "100");
  work("gpu_memset", "Memset (Device)", 3, "255", "4", R"("bytes": 512)", 13);
  const std::vector<Record> expected{
      RecordedCall{1, 0, {10'000, 20'000}, "cudaMemcpyAsync"},
      RecordedCall{2, 0, {30'000, 35'000}, "cudaLaunchKernel"},
      RecordedCall{3, 0, {40'000, 45'000}, "cudaMemsetAsync"},
      RecordedCall{4, 0, {50'000, 350'000}, "cudaDeviceSynchronize"},
      RecordedCopy{1, 0, {60'000, 160'000}, Bytes{4096}, MemoryKind::pinned, MemoryKind::device},
      RecordedFill{3, 13, {165'000, 169'000}, Bytes{512}},
      RecordedKernel{2, 0, {170'000, 310'000}, "void saxpy<float>(int, float const*)", 600, 256},
      RecordedOrder{4, RecordedOrder::Kind::device_wait},
      RecordedRange{0, {0, 610'000}, "forward"},
  };
  const Recording recording = read();
  EXPECT_EQ(recording.records, expected);
  EXPECT_EQ(recording.gpu, "NVIDIA H100");
  EXPECT_TRUE(recording.complete);
  EXPECT_EQ(recording.lost, 0u);
}

TEST_F(TorchTrace, tells_the_kinds_of_memory_by_the_names_of_copies) {
  const std::vector<std::pair<std::string, std::pair<MemoryKind, MemoryKind>>> copies{
      {"HtoD (Pageable -> Device)", {MemoryKind::pageable, MemoryKind::device}},
      {"DtoH (Device -> Pinned)", {MemoryKind::device, MemoryKind::pinned}},
      {"HtoD (Managed -> Device)", {MemoryKind::managed, MemoryKind::device}},
      {"DtoD (Device -> Device)", {MemoryKind::device, MemoryKind::device}},
      {"HtoA (Pinned -> Array)", {MemoryKind::pinned, MemoryKind::device}},
      {"HtoH (Pageable -> Pinned)", {MemoryKind::pageable, MemoryKind::pinned}},
      {"HtoD (Host -> Device)", {MemoryKind::pageable, MemoryKind::device}},
      {"DtoH (Device -> Unknown)", {MemoryKind::device, MemoryKind::pageable}},
      {"PtoP (Device -> Device)", {MemoryKind::device, MemoryKind::device}},
      {"HtoD", {MemoryKind::pageable, MemoryKind::device}}};
  for (const auto& [name, kinds] : copies) copy(1, name, "1", "1");
  const std::vector<RecordedCopy> found = read_all<RecordedCopy>();
  ASSERT_EQ(found.size(), copies.size());
  for (std::size_t i = 0; i < copies.size(); ++i)
    EXPECT_EQ(std::pair(found[i].from, found[i].to), copies[i].second) << copies[i].first;
}

TEST_F(TorchTrace, keeps_the_calls_that_nsys_reports_keep_and_removes_versions_from_their_names) {
  kernel(9, "k", "1", "1");
  call(1, "cudaMemcpyAsync_v3020", "1", "1");
  call(2, "cudaStreamIsCapturing", "2", "1");
  call(3, "cudaMalloc", "3", "1");
  event("cuda_driver", "cuLaunchKernel", "4", "1", R"("correlation": 4)");
  call(0, "cudaFree", "5", "1");
  EXPECT_THAT(read_all<RecordedCall>(), ElementsAre(RecordedCall{1, 0, {0, 1000}, "cudaMemcpyAsync"},
                                                    RecordedCall{3, 0, {2000, 3000}, "cudaMalloc"},
                                                    RecordedCall{4, 0, {3000, 4000}, "cuLaunchKernel"}));
}

TEST_F(TorchTrace, numbers_threads_by_their_first_calls) {
  kernel(9, "k", "1", "1");
  call(2, "cudaLaunchKernel", "20", "1", "7");
  call(1, "cudaLaunchKernel", "10", "1", "\"thread 8\"");
  event("user_annotation", "own thread", "5", "1", "", "1", "9");
  event("user_annotation", "thread of a call", "6", "1", "", "1", "7");
  EXPECT_THAT(read_all<RecordedCall>(), ElementsAre(RecordedCall{1, 0, {9000, 10'000}, "cudaLaunchKernel"},
                                                    RecordedCall{2, 1, {19'000, 20'000}, "cudaLaunchKernel"}));
  EXPECT_THAT(read_all<RecordedRange>(), ElementsAre(RecordedRange{2, {4000, 5000}, "own thread"},
                                                     RecordedRange{1, {5000, 6000}, "thread of a call"}));
}

TEST_F(TorchTrace, has_the_categories_of_2022) {
  event("Runtime", "cudaLaunchKernel", "1", "2", R"("correlation": 5)");
  work("Kernel", "k", 5, "4", "2", R"("grid": [1, 1, 1], "block": [32, 1, 1])");
  work("Memcpy", "Memcpy DtoH (Device -> Pageable)", 6, "7", "2", R"("bytes": 8)");
  work("Memset", "Memset (Device)", 7, "9", "1", R"("bytes": 16)");
  EXPECT_THAT(read().records,
              ElementsAre(Record{RecordedCall{5, 0, {0, 2000}, "cudaLaunchKernel"}},
                          Record{RecordedKernel{5, 0, {3000, 5000}, "k", 1, 32}},
                          Record{RecordedCopy{6, 0, {6000, 8000}, Bytes{8}, MemoryKind::device, MemoryKind::pageable}},
                          Record{RecordedFill{7, 0, {8000, 9000}, Bytes{16}}}));
}

TEST_F(TorchTrace, gives_steps_of_the_profiler_one_name_and_leaves_out_their_copies_on_the_gpu) {
  for (const char* const number : {"1", "2", "3"}) {
    const std::string at = number;
    event("user_annotation", "ProfilerStep#" + at, at + "000", "900");
    work("gpu_user_annotation", "ProfilerStep#" + at, 0, at + "100", "800", R"("External id": 1)");
    call(std::stoull(at), "cudaLaunchKernel", at + "050", "10");
    kernel(std::stoull(at), "k", at + "100", "500");
  }
  EXPECT_THAT(read_all<RecordedRange>(), ElementsAre(RecordedRange{0, {0, 900'000}, "ProfilerStep"},
                                                     RecordedRange{0, {1'000'000, 1'900'000}, "ProfilerStep"},
                                                     RecordedRange{0, {2'000'000, 2'900'000}, "ProfilerStep"}));
  const auto steps = find_steps(read(), "ProfilerStep");
  ASSERT_TRUE(steps.has_value());
  EXPECT_EQ(steps->ops, 1u);
  EXPECT_EQ(steps->bounds.size(), 4u);
}

TEST_F(TorchTrace, has_several_gpus_and_the_name_of_the_first_one_in_use) {
  event("kernel", "a", "1", "1", R"("device": 2, "stream": 7, "correlation": 1)", "2", "7");
  event("kernel", "b", "2", "1", R"("stream": 20, "correlation": 2)", "1", "20");
  const Recording recording = read();
  EXPECT_THAT(recording.records, ElementsAre(Record{RecordedKernel{1, 0, {0, 1000}, "a", 1, 1, 2}},
                                             Record{RecordedKernel{2, 20, {1000, 2000}, "b", 1, 1, 1}}));
  EXPECT_EQ(recording.gpu, "NVIDIA A100");
}

TEST_F(TorchTrace, tells_a_gpu_from_a_process_of_the_same_number_by_the_category) {
  event("cuda_runtime", "cudaLaunchKernel", "1", "1", R"("correlation": 1)", "0", "7");
  kernel(1, "k", "2", "1");
  EXPECT_THAT(read().records, ElementsAre(Record{RecordedCall{1, 0, {0, 1000}, "cudaLaunchKernel"}},
                                          Record{RecordedKernel{1, 0, {1000, 2000}, "k", 600, 256}}));
}

TEST_F(TorchTrace, names_the_process_that_called_cuda) {
  text(R"({"name": "process_name", "ph": "M", "ts": 1, "pid": 0, "tid": 0, "args": {"name": "GPU 0"}})");
  text(R"({"name": "process_name", "ph": "M", "ts": 1, "pid": 1, "tid": 0, "args": {"name": "python3.10"}})");
  text(R"({"ph": "X", "cat": "Trace", "ts": 1, "dur": 9, "pid": "Spans", "tid": "PyTorch Profiler", "name": "x"})");
  call(1, "cudaLaunchKernel", "1", "1");
  kernel(1, "k", "2", "1");
  EXPECT_EQ(read().program, "python3.10");
}

TEST_F(TorchTrace, without_names_of_processes_is_a_python_program_of_an_unknown_gpu) {
  event("kernel", "k", "1", "1", "", "5", "7");
  const Recording recording = read();
  EXPECT_EQ(recording.program, "python (trace.json)");
  EXPECT_EQ(recording.gpu, "unknown GPU");
}

// Times.

TEST_F(TorchTrace, has_times_since_1970_to_1_ns) {
  kernel(1, "a", "1712195495506161.001", "1.28");
  kernel(2, "b", "1712195495506162.282", "0.003");
  EXPECT_THAT(read().records, ElementsAre(Record{RecordedKernel{1, 0, {0, 1280}, "a", 600, 256}},
                                          Record{RecordedKernel{2, 0, {1281, 1284}, "b", 600, 256}}));
}

TEST_F(TorchTrace, has_times_since_another_moment_also_before_it) {
  kernel(1, "a", "-0.5", "1");
  kernel(2, "b", "4203669603187.439", "9288.291");
  EXPECT_THAT(read().records,
              ElementsAre(Record{RecordedKernel{1, 0, {0, 1000}, "a", 600, 256}},
                          Record{RecordedKernel{2, 0, {4203669603187939, 4203669612476230}, "b", 600, 256}}));
}

// Waits.

TEST_F(TorchTrace, takes_waits_from_cuda_sync_with_the_records_of_their_events) {
  call(1, "cudaEventRecord", "1", "1");
  call(2, "cudaStreamWaitEvent", "3", "1");
  call(3, "cudaStreamSynchronize", "5", "1");
  call(4, "cudaDeviceSynchronize", "7", "1");
  call(5, "cudaEventSynchronize", "9", "1");
  kernel(9, "k", "11", "1");
  const std::string of_event =
      R"("wait_on_stream": 7, "wait_on_cuda_event_record_corr_id": 1, "wait_on_cuda_event_id": 19, "stream": )";
  wait("Stream Wait Event", 2, of_event + "24");
  wait("Stream Sync", 3, R"("stream": 20)");
  wait("Context Sync", 4, R"("stream": 4294967295)");
  wait("Event Sync", 5, of_event + "-1");
  EXPECT_THAT(read_all<RecordedOrder>(), ElementsAre(RecordedOrder{1, RecordedOrder::Kind::record, 0, 19, 0},
                                                     RecordedOrder{2, RecordedOrder::Kind::stream_wait, 24, 19, 0},
                                                     RecordedOrder{3, RecordedOrder::Kind::host_wait, 20, 0, 0},
                                                     RecordedOrder{4, RecordedOrder::Kind::device_wait, 0, 0, 0},
                                                     RecordedOrder{5, RecordedOrder::Kind::event_wait, 0, 19, 0}));
}

TEST_F(TorchTrace, infers_a_wait_whose_event_of_cuda_sync_does_not_say_what_was_awaited) {
  call(1, "cudaLaunchKernel", "1", "1");
  kernel(1, "k", "3", "10", 20);
  call(2, "cudaEventSynchronize", "4", "12");
  wait("Event Sync", 2, R"("wait_on_stream": -1, "wait_on_cuda_event_record_corr_id": -1, "wait_on_cuda_event_id": 9)");
  EXPECT_THAT(read_all<RecordedOrder>(), ElementsAre(RecordedOrder{2, RecordedOrder::Kind::host_wait, 20, 0, 0}));
}

TEST_F(TorchTrace, leaves_out_the_order_of_streams_that_no_event_of_cuda_sync_tells) {
  call(1, "cudaEventRecord", "1", "1");
  call(2, "cudaStreamWaitEvent", "3", "1");
  kernel(9, "k", "5", "1");
  EXPECT_THAT(read_all<RecordedOrder>(), IsEmpty());
}

// Files that are damaged.

TEST_F(TorchTrace, that_breaks_off_has_its_whole_events_and_is_not_complete) {
  for (const std::uint64_t number : {1, 2, 3}) {
    call(number, "cudaLaunchKernel", std::to_string(10 * number), "1");
    kernel(number, "k", std::to_string(10 * number + 2), "5");
  }
  const std::string trace = whole();
  const std::vector<Record> records = read(trace).records;
  const std::size_t first_kernel = trace.find("\"kernel\"");
  for (std::size_t end = trace.find('\n', first_kernel); end <= trace.rfind("\n]"); ++end) {
    const Recording cut = read(trace.substr(0, end));
    EXPECT_LE(cut.records.size(), records.size());
    EXPECT_GE(cut.records.size(), 2u);
    EXPECT_FALSE(cut.complete);
    EXPECT_EQ(cut.lost, 0u);
  }
}

TEST_F(TorchTrace, keeps_the_events_around_those_that_are_no_json) {
  const std::vector<std::string> broken{
      R"x({"ph": "X", "cat": "python_function", "name": "f("a", {"b")", "pid": 1, "tid": 1, "ts": 1, "dur": 1})x",
      R"x({"ph": "X", "cat": "python_function", "name": "one " quote", "pid": 1, "tid": 1, "ts": 1, "dur": 1})x",
      R"x({"ph": "X", "cat": "python_function", "name": "C:\Users\{", "pid": 1, "tid": 1, "ts": 1, "dur": 1})x",
      R"x({"ph": "X", "cat": "python_function", "name": "C:\dir\", "pid": 1, "tid": 1, "ts": 1, "dur": 1})x",
      R"x({"ph": "X", "cat": "python_function", "name": nan, "args": {"grid": [2, {}]}, "ts": 1, "dur": 1})x",
      "{\"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"two\nlines\", \"ts\": 1, \"dur\": 1}"};
  std::uint64_t number = 0;
  for (const std::string& one : broken) {
    kernel(++number, "before", "1", "1");
    text(one);
    kernel(++number, "behind", "1", "1");
  }
  const Recording recording = read();
  EXPECT_EQ(recording.records.size(), number);
  EXPECT_EQ(recording.lost, 0u);
  EXPECT_TRUE(recording.complete);
}

TEST_F(TorchTrace, counts_broken_events_of_cuda_as_lost) {
  kernel(1, "k", "1", "1");
  kernel(2, "\"quotes\"", "1", "1");
  kernel(3, "ends before it starts", "1", "-1");
  text(R"({"ph": "X", "cat": "kernel", "name": "without times"})");
  kernel(4, "k", "1", "1");
  const Recording recording = read();
  EXPECT_EQ(recording.records.size(), 2u);
  EXPECT_EQ(recording.lost, 3u);
}

TEST_F(TorchTrace, replaces_bytes_that_are_no_text) {
  kernel(1, "k\x01\xff\x7f", "1", "1");
  EXPECT_THAT(read().records, ElementsAre(Record{RecordedKernel{1, 0, {0, 1000}, "k???", 600, 256}}));
}

TEST_F(TorchTrace, may_be_on_one_line_or_an_array_or_larger_than_a_block_that_is_read) {
  constexpr std::uint64_t kernels = 5000;
  for (std::uint64_t number = 1; number <= kernels; ++number) kernel(number, "k", std::to_string(number), "1");
  std::string trace = whole();
  EXPECT_GT(trace.size(), 700'000u);
  std::erase(trace, '\n');
  const Recording on_one_line = read(trace);
  EXPECT_EQ(on_one_line.records.size(), kernels);
  EXPECT_TRUE(on_one_line.complete);
  const std::size_t begin = trace.find('[', trace.find("traceEvents"));
  const Recording array = read(trace.substr(begin, trace.rfind(']') + 1 - begin));
  EXPECT_EQ(array.records, on_one_line.records);
  EXPECT_TRUE(array.complete);
}

// What is refused.

TEST_F(TorchTrace, without_work_of_a_gpu_is_refused_with_the_way_to_record_it) {
  EXPECT_THAT(error(), AllOf(HasSubstr("trace.json: "), HasSubstr("no kernel, copy or fill")));
  call(1, "cudaLaunchKernel", "1", "1");
  event("cpu_op", "aten::empty", "1", "1");
  EXPECT_THAT(error(), HasSubstr("ProfilerActivity.CUDA"));
}

TEST_F(TorchTrace, of_braces_alone_is_refused) {
  EXPECT_THAT(message_of([&] { read(std::string(100'000, '{')); }), HasSubstr("no kernel, copy or fill"));
  EXPECT_THAT(message_of([&] { read(""); }), HasSubstr("no kernel, copy or fill"));
}

TEST_F(TorchTrace, that_is_absent_is_refused) {
  EXPECT_THAT(message_of([&] { read_torch_trace(file() / "absent"); }), HasSubstr("it cannot be read"));
}

TEST_F(TorchTrace, is_written_as_a_recording_and_read_as_the_same) {
  call(1, "cudaMemcpyAsync", "1", "1");
  copy(1, "HtoD (Pinned -> Device)", "2", "1");
  call(2, "cudaStreamSynchronize", "3", "1");
  event("user_annotation", "range", "1", "9");
  const Recording recording = read();
  std::stringstream lines;
  RecordingWriter writer(recording.program, recording.gpu, [&](std::string_view line) { lines << line << '\n'; });
  for (const Record& record : recording.records) writer.write(record);
  writer.close(recording.lost);
  EXPECT_EQ(read_recording(lines, "lines").records, recording.records);
}

/// Twenty steps of 3 ms in which the host waits for streams or events, as the profiler records them: with events of
/// cuda_sync or, as is usual, without them.
class WaitsOfTrace : public MadeTrace {
 protected:
  enum class Way : std::uint8_t { prefetch, two_streams, event };

  void steps(Way way, bool has_cuda_sync) {
    for (int step = 0; step < 20; ++step) {
      begin_ = 1000 + 3000 * step;
      if (way == Way::prefetch) {  // the host reads what stream 20 brings, while stream 21 takes the next input
        submit_kernel(0, 6, 900, 20);
        submit_copy("DtoH (Device -> Pinned)", 6, 906, 1200, 20);
        submit_copy("HtoD (Pinned -> Device)", 12, 17, 1200, 21);
        wait_for("cudaStreamSynchronize", 18, 2106, 20, has_cuda_sync);
      } else if (way == Way::two_streams) {  // the second wait is the one for the result
        submit_kernel(0, 6, 500, 20);
        submit_kernel(6, 506, 700, 21);
        submit_copy("DtoH (Device -> Pinned)", 12, 1206, 1200, 21);
        wait_for("cudaStreamSynchronize", 18, 506, 20, has_cuda_sync);
        wait_for("cudaStreamSynchronize", 520, 2406, 21, has_cuda_sync);
      } else {  // the event is recorded before the copy, for which the second wait is
        submit_kernel(0, 6, 900, 7);
        ++number_;
        call(number_, "cudaEventRecord", at(6), "2");
        const std::uint64_t record = number_;
        submit_copy("DtoH (Device -> Pinned)", 9, 906, 1200, 7);
        ++number_;
        call(number_, "cudaEventSynchronize", at(18), "892");
        if (has_cuda_sync)
          MadeTrace::wait("Event Sync", number_,
                          "\"stream\": 7, \"wait_on_stream\": 7, \"wait_on_cuda_event_id\": 5, "
                          "\"wait_on_cuda_event_record_corr_id\": " +
                              std::to_string(record));
        wait_for("cudaStreamSynchronize", 915, 2110, 7, has_cuda_sync);
      }
    }
  }
  /// What is said of a rule that is asked for: what it changes, or that it does not apply.
  std::string said_of(const std::string& rule) const {
    std::string said;
    const std::string refused = message_of([&] {
      const Advised advised = advise(read(), find_profile("h200"), {.only = {rule}});
      said = advised.advice.empty() ? "nothing" : advised.advice.front().what;
    });
    return said.empty() ? refused : said;
  }
  bool advises(const std::string& rule) const {
    const Advised advised = advise(read(), find_profile("h200"));
    return std::ranges::find(advised.advice, rule, &Advice::rule) != advised.advice.end();
  }

 private:
  std::string at(int time) const { return std::to_string(begin_ + time); }
  void submit_kernel(int called, int start, int takes, int stream) {
    call(++number_, "cudaLaunchKernel", at(called), "5");
    kernel(number_, "k" + std::to_string(stream), at(start), std::to_string(takes), stream);
  }
  void submit_copy(const std::string& kinds, int called, int start, int takes, int stream) {
    call(++number_, "cudaMemcpyAsync", at(called), "5");
    work("gpu_memcpy", "Memcpy " + kinds, number_, at(start), std::to_string(takes), "\"bytes\": 67108864", stream);
  }
  void wait_for(const std::string& function, int start, int end, int stream, bool has_cuda_sync) {
    call(++number_, function, at(start), std::to_string(end - start));
    if (has_cuda_sync) MadeTrace::wait("Stream Sync", number_, "\"stream\": " + std::to_string(stream));
  }

  int begin_ = 0;
  std::uint64_t number_ = 0;
};

TEST_F(WaitsOfTrace, are_not_called_needless_where_it_is_unknown_what_they_are_for) {
  steps(Way::prefetch, false);
  EXPECT_TRUE(read().has_inferred_waits);
  EXPECT_FALSE(advises("copy asynchronously"));
  EXPECT_THAT(said_of("copy asynchronously"), HasSubstr("does not apply"));
  EXPECT_THAT(said_of("drop waits"), HasSubstr("does not apply"));
}
TEST_F(WaitsOfTrace, for_two_streams_are_kept_where_it_is_unknown_which_is_for_the_result) {
  steps(Way::two_streams, false);
  EXPECT_THAT(said_of("drop waits"), HasSubstr("does not apply"));
}
TEST_F(WaitsOfTrace, for_an_event_and_a_stream_are_kept_where_it_is_unknown_which_is_for_the_result) {
  steps(Way::event, false);
  EXPECT_THAT(said_of("drop waits"), HasSubstr("does not apply"));
}
TEST_F(WaitsOfTrace, that_are_recorded_are_no_guesses_and_none_that_delivers_a_result_is_dropped) {
  steps(Way::prefetch, true);
  EXPECT_FALSE(read().has_inferred_waits);
  EXPECT_THAT(said_of("copy asynchronously"), HasSubstr("does not apply"));
}
TEST_F(WaitsOfTrace, for_the_whole_gpu_are_known_by_their_names) {
  call(1, "cudaLaunchKernel", "0", "5");
  kernel(1, "k", "6", "900");
  call(2, "cudaDeviceSynchronize", "10", "900");
  EXPECT_FALSE(read().has_inferred_waits);
}
TEST_F(WaitsOfTrace, of_a_stream_for_an_event_without_numbers_are_unknown) {
  call(1, "cudaLaunchKernel", "0", "5");
  kernel(1, "k", "6", "900");
  call(2, "cudaStreamWaitEvent", "10", "3");
  EXPECT_TRUE(read().has_inferred_waits);
}

TEST_F(TorchTrace, with_more_blocks_or_threads_than_there_are_numbers_has_the_largest_number) {
  call(1, "cudaLaunchKernel", "0", "5");
  work("kernel", "k", 1, "6", "900", R"("grid": [4294967296, 4294967296, 2], "block": [4294967296, 4, 1])");
  const std::vector<RecordedKernel> kernels = read_all<RecordedKernel>();
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels.front().blocks, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(kernels.front().threads, std::numeric_limits<std::uint32_t>::max());
}

}  // namespace
}  // namespace shiplap
