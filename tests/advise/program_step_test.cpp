// The typical step of recordings that are made by hand. All times are in microseconds.
#include "shiplap/advise/program_step.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/advise/made_recording.hpp"
#include "tests/advise/made_step.hpp"

namespace shiplap {
namespace {

using Afters = std::vector<EarlierOp>;
using Order = RecordedOrder::Kind;
constexpr double step_period = 1000;
constexpr std::size_t recorded_steps = 4;

/// The step of a program that does the same in four steps, 1 ms apart. The third step is the typical one.
template <class Body>
ProgramStep repeated_step(std::size_t works, const Body& body) {
  MadeRecording made;
  for (std::size_t i = 0; i < recorded_steps; ++i) {
    body(made, i);
    made.offset += step_period;
  }
  return program_step(made.recording, equal_steps(works, recorded_steps, 2));
}
template <class Body>
ProgramStep repeated(std::size_t works, const Body& body) {
  return repeated_step(works, [&](MadeRecording& made, std::size_t) { body(made); });
}

TEST(ProgramStep, has_the_host_time_between_the_calls_of_a_thread_and_that_in_its_calls) {
  const ProgramStep step = repeated(2, [](MadeRecording& made) {
    made.kernel(made.call("cudaLaunchKernel", 0, 3), 10, 50, 4, "first");
    made.call("cudaEventQuery", 4, 6);  // what no rule knows is the program's own time
    made.kernel(made.call("cudaLaunchKernel", 10, 14), 50, 70, 4, "second");
  });
  ASSERT_EQ(letters_of(step), "kk");
  EXPECT_MICROSECONDS(step.ops[0].host_before, step_period - 14);
  EXPECT_MICROSECONDS(step.ops[1].host_before, 10 - 3);
  EXPECT_MICROSECONDS(step.ops[0].call, 3);
  EXPECT_MICROSECONDS(step.ops[1].call, 4);
  EXPECT_MICROSECONDS(step.ops[0].time, 40);
  EXPECT_MICROSECONDS(step.ops[1].time, 20);
  EXPECT_EQ(step.ops[1].name, "second");
  EXPECT_EQ(step.ops[1].stream, 4u);
  EXPECT_EQ(step.ops[1].grid, 12u);
  EXPECT_EQ(step.ops[1].threads, 128u);
}

TEST(ProgramStep, has_no_host_time_before_the_first_call_of_a_thread) {
  MadeRecording made;
  for (unsigned number = 0; number < 4; ++number) {
    made.launch(0, 10, 20);
    made.offset += step_period;
  }
  EXPECT_EQ(program_step(made.recording, equal_steps(1, 4, 0)).ops[0].host_before, Seconds{0});
}

TEST(ProgramStep, keeps_the_host_times_of_threads_apart) {
  const ProgramStep step = repeated(2, [](MadeRecording& made) {
    made.kernel(made.call("cudaLaunchKernel", 0, 2, 0), 5, 9);
    made.kernel(made.call("cudaLaunchKernel", 500, 503, 7), 505, 509);
  });
  EXPECT_MICROSECONDS(step.ops[0].host_before, step_period - 2);
  EXPECT_MICROSECONDS(step.ops[1].host_before, step_period - 3);
  EXPECT_EQ(step.ops[1].thread, 7u);
  EXPECT_FALSE(step.ops[1].handed_over_by);
}

TEST(ProgramStep, times_a_pageable_copy_from_when_it_could_start_until_its_call_returned) {
  const ProgramStep step = repeated(4, [](MadeRecording& made) {
    made.copy(made.call("cudaMemcpy", 0, 50), 20, 45);  // its stream is idle
    made.launch(60, 65, 90);
    made.copy(made.call("cudaMemcpy", 70, 150), 120, 148);  // waits for the kernel until 90
    made.copy(made.call("cudaMemcpyAsync", 200, 230, 0), 205, 240);
  });
  ASSERT_EQ(letters_of(step), "ikii");
  EXPECT_MICROSECONDS(step.ops[0].time, 50);
  EXPECT_MICROSECONDS(step.ops[2].time, 150 - 90);
  EXPECT_MICROSECONDS(step.ops[3].time, 30);
  EXPECT_TRUE(step.ops[2].blocks);
  EXPECT_FALSE(step.ops[3].blocks);
  for (const std::size_t i : {0, 2, 3}) EXPECT_EQ(step.ops[i].host_memory, MemoryKind::pageable) << i;
}

TEST(ProgramStep, times_a_pageable_copy_from_the_end_of_what_its_stream_waits_for) {
  const ProgramStep step = repeated(2, [](MadeRecording& made) {
    made.launch(0, 5, 90, 3);
    made.order(made.call("cudaEventRecord", 3, 4), Order::record, 3, 11);
    made.order(made.call("cudaStreamWaitEvent", 5, 6), Order::stream_wait, 1, 11);
    made.copy(made.call("cudaMemcpyAsync", 10, 130), 95, 125);
  });
  EXPECT_MICROSECONDS(step.ops[1].time, 130 - 90);
}

TEST(ProgramStep, has_for_pinned_copies_no_time_of_their_own_and_how_long_a_blocking_call_returned) {
  const ProgramStep step = repeated(3, [](MadeRecording& made) {
    made.copy(made.call("cudaMemcpy", 0, 60), 5, 52).from = MemoryKind::pinned;
    made.copy(made.call("cudaMemcpyAsync", 70, 72), 75, 120).from = MemoryKind::pinned;
    RecordedCopy& back = made.copy(made.call("cudaMemcpyAsync", 80, 83), 130, 140);
    back.from = MemoryKind::device;
    back.to = MemoryKind::pinned;
    back.to_address = 4711;
  });
  ASSERT_EQ(letters_of(step), "iio");
  EXPECT_TRUE(step.ops[0].blocks);
  EXPECT_MICROSECONDS(step.ops[0].returning, 60 - 52);
  EXPECT_EQ(step.ops[0].call, Seconds{0});
  EXPECT_FALSE(step.ops[1].blocks);
  EXPECT_EQ(step.ops[1].returning, Seconds{0});
  EXPECT_MICROSECONDS(step.ops[1].call, 2);
  for (const StepOp& op : step.ops) {
    EXPECT_EQ(op.time, Seconds{0});
    EXPECT_EQ(op.host_memory, MemoryKind::pinned);
    EXPECT_EQ(op.size, Bytes{4096});
  }
  EXPECT_EQ(step.ops[2].host_address, 4711u);
}

TEST(ProgramStep, takes_events_as_dependencies_across_streams_also_on_the_step_before) {
  const ProgramStep step = repeated(4, [](MadeRecording& made) {
    made.order(made.call("cudaStreamWaitEvent", 0, 1), Order::stream_wait, 1, 20);
    made.launch(2, 10, 20, 1);
    made.order(made.call("cudaEventRecord", 5, 6), Order::record, 1, 10);
    made.launch(7, 20, 30, 1);  // is put into the stream after the event
    made.order(made.call("cudaStreamWaitEvent", 10, 11), Order::stream_wait, 2, 10);
    made.launch(12, 20, 40, 2);
    made.launch(15, 40, 50, 2);
    made.order(made.call("cudaEventRecord", 18, 19), Order::record, 2, 20);
  });
  ASSERT_EQ(letters_of(step), "kkkk");
  EXPECT_EQ(step.ops[0].after, (Afters{{3, 1}}));
  EXPECT_EQ(step.ops[1].after, Afters{});
  EXPECT_EQ(step.ops[2].after, (Afters{{0, 0}}));
  EXPECT_EQ(step.ops[3].after, Afters{});
}

TEST(ProgramStep, has_waits_for_a_stream_a_device_and_an_event) {
  const ProgramStep step = repeated(3, [](MadeRecording& made) {
    made.launch(0, 10, 40, 1);
    made.order(made.call("cudaEventRecord", 3, 4), Order::record, 1, 10);
    made.launch(5, 40, 90, 1);
    made.launch(8, 10, 60, 2);
    made.order(made.call("cudaEventSynchronize", 20, 43), Order::event_wait, 0, 10);
    made.order(made.call("cudaStreamSynchronize", 45, 65), Order::host_wait, 2);
    made.order(made.call("cudaDeviceSynchronize", 70, 97), Order::device_wait, 0);
    made.order(made.call("cudaStreamSynchronize", 100, 104), Order::host_wait, 1);  // has nothing to wait for
  });
  ASSERT_EQ(letters_of(step), "kkkwwww");
  EXPECT_EQ(step.ops[3].after, (Afters{{0, 0}}));
  EXPECT_MICROSECONDS(step.ops[3].returning, 43 - 40);
  EXPECT_EQ(step.ops[4].after, (Afters{{2, 0}}));
  EXPECT_MICROSECONDS(step.ops[4].returning, 65 - 60);
  EXPECT_EQ(step.ops[5].after, (Afters{{1, 0}, {2, 0}}));
  EXPECT_MICROSECONDS(step.ops[5].returning, 97 - 90);
  EXPECT_MICROSECONDS(step.ops[5].host_before, 70 - 65);
  EXPECT_EQ(step.ops[6].after, (Afters{{1, 0}}));
  EXPECT_MICROSECONDS(step.ops[6].returning, 4);
  EXPECT_EQ(step.ops[6].name, "cudaStreamSynchronize");
}

TEST(ProgramStep, orders_the_default_stream_with_streams_that_it_never_overlaps_and_with_no_others) {
  const ProgramStep step = repeated(4, [](MadeRecording& made) {
    made.launch(0, 100, 110, 1);
    made.launch(3, 105, 125, 2);
    made.launch(6, 120, 130, 0);  // while stream 2 works
    made.launch(9, 130, 140, 1);
  });
  EXPECT_EQ(step.ops[0].after, (Afters{{2, 1}}));
  EXPECT_EQ(step.ops[1].after, Afters{});
  EXPECT_EQ(step.ops[2].after, (Afters{{0, 0}}));
  EXPECT_EQ(step.ops[3].after, (Afters{{2, 0}}));
}

TEST(ProgramStep, has_a_graph_as_one_op_with_its_whole_span) {
  const ProgramStep step = repeated(3, [](MadeRecording& made) {
    const std::uint64_t launch = made.call("cudaGraphLaunch", 0, 5);
    made.kernel(launch, 18, 30, 1, "b");
    made.kernel(launch, 10, 20, 1, "a");
    made.kernel(launch, 35, 41, 1, "c");
  });
  ASSERT_EQ(letters_of(step), "k");
  EXPECT_MICROSECONDS(step.ops[0].time, 41 - 10);
  EXPECT_MICROSECONDS(step.ops[0].call, 5);
  EXPECT_NE(step.ops[0].name.find("3 ops"), std::string::npos) << step.ops[0].name;
}

TEST(ProgramStep, has_several_copies_of_one_call_as_one_copy_of_all_bytes) {
  const ProgramStep step = repeated(2, [](MadeRecording& made) {
    const std::uint64_t batch = made.call("cudaMemcpyBatchAsync", 0, 5);
    for (const std::uint64_t size : {100, 200}) {
      RecordedCopy& copy = made.copy(batch, static_cast<double>(size), static_cast<double>(size) + 50);
      copy.from = MemoryKind::pinned;
      copy.size = Bytes{size};
    }
  });
  ASSERT_EQ(letters_of(step), "i");
  EXPECT_EQ(step.ops[0].size, Bytes{300});
}

TEST(ProgramStep, has_fills_and_copies_within_device_memory_as_kernels) {
  const ProgramStep step = repeated(2, [](MadeRecording& made) {
    made.copy(made.call("cudaMemcpyAsync", 0, 2), 10, 17).from = MemoryKind::device;
    const std::uint64_t fill = made.call("cudaMemsetAsync", 3, 5);
    made.recording.records.emplace_back(
        RecordedFill{fill, 1, from_to(made.offset + 17, made.offset + 22), Bytes{8}, 0});
  });
  ASSERT_EQ(letters_of(step), "kk");
  EXPECT_MICROSECONDS(step.ops[0].time, 7);
  EXPECT_MICROSECONDS(step.ops[1].time, 5);
}

TEST(ProgramStep, has_the_time_of_allocating_and_freeing_before_the_next_op_and_not_more_than_passed) {
  const ProgramStep step = repeated(3, [](MadeRecording& made) {
    made.launch(0, 10, 20);
    made.call("cudaMalloc", 5, 8);
    made.call("cudaMemGetInfo", 8, 9);
    made.call("cudaFree", 10, 15);
    made.call("cudaHostRegister", 16, 23);
    made.call("cudaHostUnregister", 24, 25);
    made.call("cudaMallocAsync", 26, 28);
    made.launch(30, 40, 50);
    made.launch(35, 50, 60);
  });
  EXPECT_MICROSECONDS(step.ops[1].host_before, 30 - 2);
  EXPECT_MICROSECONDS(step.ops[1].allocating, 3 + 5 + 7 + 1 + 2);
  EXPECT_EQ(step.ops[0].allocating, Seconds{0});
  EXPECT_EQ(step.ops[2].allocating, Seconds{0});
}

TEST(ProgramStep, waits_in_a_call_that_frees_memory_while_a_kernel_runs_and_frees_it_afterwards) {
  for (const char* function : {"cudaFree", "hipFree", "hipHostFree", "cuMemFree_v2"}) {
    const ProgramStep step = repeated(3, [&](MadeRecording& made) {
      made.launch(0, 10, 20);
      made.call(function, 5, 24);
      made.launch(30, 40, 50);
    });
    ASSERT_EQ(letters_of(step), "kwk") << function;
    EXPECT_EQ(step.ops[1].after, (std::vector<EarlierOp>{{0, 0}}));
    EXPECT_MICROSECONDS(step.ops[2].host_before, 30 - 20);
    EXPECT_MICROSECONDS(step.ops[2].allocating, 24 - 20);
  }
  const ProgramStep in_order = repeated(3, [](MadeRecording& made) {
    made.launch(0, 10, 20);
    made.call("cudaFreeAsync", 5, 24);
    made.launch(30, 40, 50);
  });
  EXPECT_EQ(letters_of(in_order), "kk");
}

TEST(ProgramStep, is_an_iteration_where_the_host_launches_one_kernel_again_and_again_and_waits_in_between) {
  const auto is_iteration = [](unsigned launches, bool waits, bool same_kernel) {
    return repeated(launches,
                    [&](MadeRecording& made) {
                      for (unsigned i = 0; i < launches; ++i) {
                        const double at = 30 * i;
                        made.launch(at, at + 5, at + 15, 1, same_kernel ? "stencil" : "kernel " + std::to_string(i));
                        if (waits)
                          made.order(made.call("cudaDeviceSynchronize", at + 16, at + 18), Order::device_wait, 0);
                      }
                    })
        .is_iteration;
  };
  EXPECT_TRUE(is_iteration(4, true, true));
  EXPECT_FALSE(is_iteration(4, false, true));
  EXPECT_FALSE(is_iteration(4, true, false));
  EXPECT_FALSE(is_iteration(2, true, true));
}

TEST(ProgramStep, counts_the_calls_that_allocate_and_those_that_free) {
  const ProgramStep step = repeated(2, [](MadeRecording& made) {
    made.launch(0, 10, 20);
    made.call("cudaMalloc", 25, 28);
    made.call("cudaFree", 29, 30);
    made.call("cuMemAlloc_v2", 30, 31);
    made.call("cudaHostUnregister", 31, 32);
    made.call("cudaMallocAsync", 32, 33);
    made.launch(35, 40, 50);
  });
  EXPECT_EQ(step.ops[1].allocations, 3u);
  EXPECT_EQ(step.ops[1].frees, 2u);
}

TEST(ProgramStep, knows_contents_and_addresses_as_the_same_only_where_all_steps_agree) {
  const ProgramStep step = repeated_step(6, [](MadeRecording& made, std::size_t number) {
    const auto copy = [&](double at, std::uint64_t content, std::uint64_t address) -> RecordedCopy& {
      RecordedCopy& made_copy = made.copy(made.call("cudaMemcpy", at, at + 5), at + 1, at + 4);
      made_copy.content = content;
      made_copy.from_address = address;
      return made_copy;
    };
    copy(0, 77, 4096);
    copy(10, number == 0 ? 78 : 77, number == 3 ? 8192 : 4096);  // another one in one step
    copy(20, number == 1 ? 0 : 77, number == 1 ? 0 : 4096);      // unknown in one step
    copy(30, 0, 0);                                              // unknown in all steps
    copy(40, 77, 4096).size = Bytes{number == 3 ? 100u : 200u};
    made.launch(50, 60, 70);
  });
  const std::vector<bool> contents{true, false, false, false, false, false};
  const std::vector<bool> addresses{true, false, false, false, true, false};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(step.ops[i].same_content, contents[i]) << i;
    EXPECT_EQ(step.ops[i].same_address, addresses[i]) << i;
  }
}

/// A thread copies from 40 to 42, and another one launches a kernel at this time. Neither does anything else.
ProgramStep two_threads(double launched) {
  return repeated(2, [&](MadeRecording& made) {
    made.copy(made.call("cudaMemcpyAsync", 40, 42, 1), 45, 50, 2).from = MemoryKind::pinned;
    made.kernel(made.call("cudaLaunchKernel", launched, launched + 2, 0), 990, 995);
  });
}

TEST(ProgramStep, has_a_thread_that_calls_soon_after_another_one_waiting_for_its_call) {
  const ProgramStep step = two_threads(60);
  ASSERT_TRUE(step.ops[1].handed_over_by);
  EXPECT_EQ(*step.ops[1].handed_over_by, (EarlierOp{0, 0}));
  EXPECT_MICROSECONDS(step.ops[1].host_before, 60 - 42);
  EXPECT_FALSE(step.ops[0].handed_over_by);  // 980 µs after the launch it has waited for something else
  EXPECT_MICROSECONDS(step.ops[0].host_before, step_period - 2);
}

TEST(ProgramStep, has_a_thread_waiting_for_a_call_in_the_step_before) {
  const ProgramStep step = repeated(2, [](MadeRecording& made) {
    made.kernel(made.call("cudaLaunchKernel", 0, 2, 0), 10, 20);
    made.kernel(made.call("cudaLaunchKernel", 980, 985, 1), 990, 995);
  });
  ASSERT_TRUE(step.ops[0].handed_over_by);
  EXPECT_EQ(*step.ops[0].handed_over_by, (EarlierOp{1, 1}));
  EXPECT_MICROSECONDS(step.ops[0].host_before, step_period - 985);
}

TEST(ProgramStep, has_threads_independent_where_one_calls_long_after_the_other_or_during_its_call) {
  // The pause of a thread is 998. It is four times as long as the time since the other's call up to 42 + 249.5.
  EXPECT_TRUE(two_threads(42 + 249).ops[1].handed_over_by);
  for (const double launched : {42 + 250.0, 41.0}) {
    const ProgramStep step = two_threads(launched);
    EXPECT_FALSE(step.ops[1].handed_over_by) << launched;
    EXPECT_MICROSECONDS(step.ops[1].host_before, step_period - 2) << launched;
  }
}

TEST(ProgramStep, sums_migrations_of_a_step_and_has_the_median_of_all_steps) {
  const ProgramStep step = repeated_step(1, [](MadeRecording& made, std::size_t number) {
    made.launch(0, 100, 200);
    made.migration(90, 105, 1'000'000, true);  // before the first op of the step: belongs to the step before
    made.migration(100, 110, 2000, true);
    made.migration(300, 330, number == 0 ? 3000 : 5000, true);
    made.migration(500, 507, 400, false);
  });
  // The last of the four steps has no end. The first one has 2000 + 3000 bytes, the others have 2000 more.
  EXPECT_EQ(step.migrations.to_device, Bytes{2000 + 5000 + 1'000'000});
  EXPECT_EQ(step.migrations.to_host, Bytes{400});
  EXPECT_MICROSECONDS(step.migrations.on_device, 10 + 30 + 15);
  EXPECT_MICROSECONDS(step.migrations.on_host, 7);
}

TEST(ProgramStep, takes_the_median_time_between_the_first_works_on_the_gpu_with_quartiles) {
  MadeRecording made;
  for (const double start : {0.0, 100.0, 210.0, 330.0, 460.0}) {
    made.launch(start, start + 20, start + 30);
    made.launch(start + 3, start + 30, start + 40);
  }
  const ProgramStep step = program_step(made.recording, equal_steps(2, 5, 1));
  // Distances 100, 110, 120 and 130. The last step has no end.
  EXPECT_MICROSECONDS(step.time.value, 115);
  EXPECT_MICROSECONDS(step.time.low, 107.5);
  EXPECT_MICROSECONDS(step.time.high, 122.5);
  EXPECT_MICROSECONDS(step.total, 460);
  EXPECT_EQ(step.repeats, 5u);
}

/// Each step copies the same bytes to the GPU, launches one to five kernels, and waits for the last one.
MadeRecording ragged_steps(Steps& steps) {
  MadeRecording made;
  steps = equal_steps(1, 0, 0);
  std::size_t ops = 0;
  for (unsigned number = 0; number < 10; ++number) {
    const unsigned kernels = 1 + number * 2 % 5;
    RecordedCopy& in = made.copy(made.call("cudaMemcpyAsync", 0, 2), 5, 9);
    in.from = MemoryKind::pinned;
    in.from_address = 4096;
    in.content = 77;
    for (unsigned k = 0; k < kernels; ++k) made.launch(10 + k * 10, 15 + k * 10, 24 + k * 10, 2);
    made.order(made.call("cudaEventRecord", 90, 91), Order::record, 2, 5);
    made.order(made.call("cudaEventSynchronize", 100, 102), Order::event_wait, 0, 5);
    ops += 1 + kernels;
    steps.bounds.push_back(ops);
    made.offset += 200 + kernels * 10;
  }
  steps.typical = 4;  // four kernels
  return made;
}

TEST(ProgramStep, of_steps_with_different_numbers_of_kernels_has_the_spread_of_all_and_knows_what_corresponds) {
  Steps steps;
  const MadeRecording made = ragged_steps(steps);
  const ProgramStep step = program_step(made.recording, steps);
  EXPECT_EQ(letters_of(step), "ikkkkw");
  EXPECT_EQ(step.repeats, 10u);
  EXPECT_LT(step.time.low, step.time.value);
  EXPECT_GT(step.time.high, step.time.value);
  EXPECT_TRUE(step.ops[0].same_address);
  EXPECT_TRUE(step.ops[0].same_content);
}

TEST(ProgramStep, that_waits_for_the_last_kernel_of_a_longer_step_before_waits_for_its_last_one) {
  MadeRecording made;
  Steps steps = equal_steps(1, 0, 0);
  std::size_t ops = 0;
  for (unsigned number = 0; number < 9; ++number) {
    made.order(made.call("cudaEventSynchronize", 0, 2), Order::event_wait, 0, 5);
    const unsigned kernels = 2 + number % 3;
    for (unsigned k = 0; k < kernels; ++k) made.launch(10 + k * 10, 15 + k * 10, 24 + k * 10, 2);
    made.order(made.call("cudaEventRecord", 90, 91), Order::record, 2, 5);
    made.order(made.call("cudaStreamWaitEvent", 92, 93), Order::stream_wait, 3, 5);
    made.launch(95, 100, 110, 3, "last");
    ops += kernels + 1;
    steps.bounds.push_back(ops);
    made.offset += 200;
  }
  steps.typical = 3;  // two kernels after a step with four
  const ProgramStep step = program_step(made.recording, steps);
  ASSERT_EQ(letters_of(step), "kkkw");
  EXPECT_EQ(step.ops[3].after, (Afters{{1, 0}}));
  EXPECT_EQ(step.repeats, 9u);
}

TEST(ProgramStep, that_is_done_once_is_from_its_first_call_to_the_end_of_its_work_and_of_its_pages) {
  MadeRecording made;
  made.call("cudaMalloc", 0, 50);
  made.launch(100, 110, 400);
  made.order(made.call("cudaDeviceSynchronize", 105, 405), Order::device_wait, 0);
  made.migration(150, 160, 4096, true);
  made.migration(500, 505, 8192, false);
  const ProgramStep step = program_step(made.recording, *whole_program(made.recording));
  EXPECT_TRUE(step.once);
  EXPECT_EQ(step.repeats, 1u);
  EXPECT_MICROSECONDS(step.time.value, 505 - 100);
  EXPECT_MICROSECONDS(step.time.high, 505 - 100);
  EXPECT_MICROSECONDS(step.host_after, 505 - 405);
  EXPECT_EQ(step.ops[0].host_before, Seconds{0});
  EXPECT_EQ(step.migrations.to_device, Bytes{4096});
  EXPECT_EQ(step.migrations.to_host, Bytes{8192});
}

TEST(ProgramStep, is_without_the_time_in_which_a_first_launch_loads_its_module) {
  MadeRecording made;
  for (unsigned number = 0; number < 2; ++number) {
    const double loading = number == 0 ? 1500 : 0;
    made.kernel(made.call("cudaLaunchKernel", 0, 5 + loading), 10 + loading, 50 + loading);
    made.offset += 100 + loading;
  }
  const ProgramStep step = program_step(made.recording, *whole_program(made.recording));
  EXPECT_MICROSECONDS(step.time.value, 100 + 50);
  EXPECT_MICROSECONDS(step.ops[0].call, 5);
}

TEST(ProgramStep, leaves_steps_with_further_ops_out_of_its_time) {
  MadeRecording made;
  for (unsigned number = 0; number < 5; ++number) {
    made.launch(0, 10, 20);
    if (number == 1) made.launch(3, 20, 500);
    made.offset += number == 1 ? 700 : 100;
  }
  Steps steps = equal_steps(1, 5, 3);
  steps.bounds = {0, 1, 3, 4, 5, 6};
  const ProgramStep step = program_step(made.recording, steps);
  EXPECT_EQ(step.repeats, 4u);
  EXPECT_MICROSECONDS(step.time.value, 100);
  EXPECT_MICROSECONDS(step.time.high, 100);
  EXPECT_MICROSECONDS(step.total, 300);
}

TEST(ProgramStep, takes_a_copy_of_no_bytes_for_an_op_without_memory_and_numbers_its_gpus_from_0) {
  MadeRecording made;
  for (int step = 0; step < 4; ++step) {
    RecordedCopy& copy =
        made.copy(made.call("cudaMemcpyAsync", 100 * step, 100 * step + 2), 100 * step, 100 * step + 3);
    copy.size = Bytes{0};
    copy.gpu = 3;
  }
  const ProgramStep step = program_step(made.recording, equal_steps(1, 4, 1));
  ASSERT_EQ(step.ops.size(), 1u);
  EXPECT_EQ(step.ops[0].kind, StepOp::Kind::kernel);
  EXPECT_EQ(step.ops[0].gpu, 0u);
}

}  // namespace
}  // namespace shiplap
