#include "shiplap/advise/steps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace shiplap {
namespace {

/// Writes a recording of one thread, op by op.
class Program {
 public:
  void op(unsigned kind, std::uint64_t pause = 0) {
    now_ += pause;
    recording_.records.emplace_back(RecordedCall{++call_, 0, {now_, now_ + 3000}, "launchAsync"});
    const Nanoseconds work{now_ + 5000, now_ + 9000};
    if (kind % 3 == 0)
      recording_.records.emplace_back(
          RecordedCopy{.call = call_, .stream = 7, .time = work, .size = Bytes{1000 + kind}});
    else if (kind % 3 == 1)
      recording_.records.emplace_back(RecordedKernel{call_, 7, work, "kernel " + std::to_string(kind)});
    else
      recording_.records.emplace_back(RecordedFill{call_, 7, work, Bytes{kind}});
    now_ += 10'000;
  }
  void copy(std::uint64_t bytes, bool to_device = true) {
    RecordedCopy copy{.call = 0, .stream = 7, .time = {}, .size = Bytes{bytes}};
    if (!to_device) std::swap(copy.from, copy.to);
    add(copy);
  }
  void kernel(const std::string& name, std::uint64_t blocks = 1) { add(RecordedKernel{0, 7, {}, name, blocks}); }
  void wait() {
    recording_.records.emplace_back(RecordedCall{++call_, 0, {now_, now_ + 3000}, "cudaStreamSynchronize"});
    recording_.records.emplace_back(RecordedOrder{call_, RecordedOrder::Kind::host_wait, 7});
    now_ += 10'000;
  }
  void range(const std::string& name, std::uint64_t start) {
    recording_.records.emplace_back(RecordedRange{0, {start, now_ - 1}, name});
  }
  std::uint64_t now() const { return now_; }
  const Recording& recording() const { return recording_; }
  Recording& recording() { return recording_; }

 private:
  template <class Work>
  void add(Work work) {
    recording_.records.emplace_back(RecordedCall{++call_, 0, {now_, now_ + 3000}, "launchAsync"});
    work.call = call_;
    work.time = {now_ + 5000, now_ + 9000};
    recording_.records.emplace_back(work);
    now_ += 10'000;
  }

  Recording recording_;
  std::uint64_t now_ = 1'000'000;
  std::uint64_t call_ = 0;
};

TEST(Steps, are_found_with_their_period_between_a_warm_up_and_an_end_and_though_some_steps_differ) {
  std::mt19937_64 random(7);
  for (unsigned trial = 0; trial < 200; ++trial) {
    const std::size_t period = 2 + random() % 30;
    const std::size_t steps = 20 + random() % 60;
    std::vector<unsigned> step;
    for (std::size_t i = 0; i < period; ++i) step.push_back(static_cast<unsigned>(random() % 12));
    step[random() % period] = 100;  // without it the step might repeat within itself
    Program program;
    for (std::size_t i = 0; i < random() % 20; ++i) program.op(static_cast<unsigned>(200 + i));
    for (std::size_t s = 0; s < steps; ++s) {
      for (const unsigned kind : step) program.op(kind);
      if (s % 17 == 9) program.op(300);  // every seventeenth step has one op more
    }
    for (unsigned i = 0; i < 5; ++i) program.op(400 + i);
    const auto found = find_steps(program.recording());
    ASSERT_TRUE(found) << trial;
    EXPECT_EQ(found->ops, period) << trial;
    const auto all = static_cast<double>(submitted_order(program.recording()).size());
    EXPECT_GE(found->coverage, static_cast<double>((steps - 1) * period) / all - 1e-9) << trial;
    EXPECT_LE(found->coverage, static_cast<double>(steps * (period + 1)) / all) << trial;
    EXPECT_LE(found->bounds.size(), steps + 1) << trial;
    EXPECT_GE(found->bounds.size() + 2, steps) << trial;
    const std::size_t typical = found->typical;
    EXPECT_EQ(found->bounds[typical + 1] - found->bounds[typical], period) << trial;
  }
}

TEST(Steps, do_not_repeat_within_themselves) {
  // The copy comes twice in a step at equal distances, and the kernels differ.
  Program program;
  for (unsigned s = 0; s < 30; ++s)
    for (const unsigned kind : {0u, 1u, 0u, 4u}) program.op(kind);
  const auto found = find_steps(program.recording());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->ops, 4u);
}

TEST(Steps, are_found_where_sizes_and_grids_differ_in_each_of_them) {
  std::mt19937_64 random(9);
  for (const unsigned sizes : {8u, 100u, 100'000u}) {
    Program program;
    for (unsigned s = 0; s < 60; ++s) {
      const std::uint64_t size = 1 + random() % sizes;
      program.copy(4096 * size);
      program.kernel("work", size);
      program.copy(4096 * size, false);
      program.wait();
    }
    const auto found = find_steps(program.recording());
    ASSERT_TRUE(found) << sizes;
    EXPECT_EQ(found->ops, 3u) << sizes;
    EXPECT_GE(found->bounds.size(), 60u) << sizes;
    EXPECT_EQ(found->bounds.front() % 3, 0u) << sizes << ": a step begins after the wait for results";
  }
}

TEST(Steps, are_found_where_their_numbers_of_kernels_differ) {
  Program program;
  for (unsigned s = 0; s < 60; ++s) {
    program.copy(4096);
    for (unsigned i = 0; i < 3 + s * 7 % 4; ++i) {
      program.kernel("multiply");
      program.kernel("add");
    }
    program.copy(4096, false);
    program.wait();
  }
  const auto found = find_steps(program.recording());
  ASSERT_TRUE(found);
  EXPECT_GE(found->bounds.size(), 60u);
  EXPECT_FALSE(found->once);
  EXPECT_GT(found->coverage, 0.97);
}

TEST(Steps, are_found_where_a_program_makes_its_streams_anew_in_each_of_them) {
  std::mt19937_64 random(5);
  Recording recording;
  std::uint64_t now = 1'000'000, call = 0;
  std::uint32_t stream = 7;
  const auto submit = [&](auto work) {
    recording.records.emplace_back(RecordedCall{++call, 0, {now, now + 3000}, "launchAsync"});
    work.call = call;
    work.stream = stream;
    work.time = {now + 5000, now + 9000};
    recording.records.emplace_back(work);
    now += 10'000;
  };
  for (unsigned s = 0; s < 40; ++s) {
    stream += 1 + static_cast<std::uint32_t>(random() % 3);
    submit(RecordedCopy{.call = 0, .stream = 0, .time = {}, .size = Bytes{4096}});
    submit(RecordedKernel{0, 0, {}, "forward", 4});
    ++stream;
    submit(RecordedKernel{0, 0, {}, "backward", 4});
  }
  const auto found = find_steps(recording);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->ops, 3u);
  EXPECT_EQ(found->bounds.size(), 41u);
}

TEST(Steps, of_which_some_have_no_calls_have_a_typical_one_with_calls) {
  Program program;
  for (unsigned s = 0; s < 20; ++s)
    for (const unsigned kind : {0u, 1u, 4u}) program.op(kind, s == 17 ? 1'000'000 : 0);  // a step unlike the others
  Recording recording = program.recording();
  const std::size_t kept = recording.records.size() * 17 / 20;
  for (std::size_t i = 0; i < kept; i += 2) ASSERT_TRUE(std::holds_alternative<RecordedCall>(recording.records[i]));
  std::size_t index = 0;
  std::erase_if(recording.records,
                [&](const Record& record) { return index++ < kept && std::holds_alternative<RecordedCall>(record); });
  const auto found = find_steps(recording);
  ASSERT_TRUE(found);
  EXPECT_GE(found->typical, 16u);
}

TEST(Steps, cover_the_time_on_the_gpu_that_is_in_them_and_not_the_number_of_ops) {
  Recording recording;
  std::uint64_t now = 1'000'000, call = 0;
  const auto submit = [&](auto work, std::uint64_t time) {
    recording.records.emplace_back(RecordedCall{++call, 0, {now, now + 3000}, "launchAsync"});
    work.call = call;
    work.time = {now + 5000, now + 5000 + time};
    recording.records.emplace_back(work);
    now += 10'000 + time;
  };
  submit(RecordedCopy{.call = 0, .stream = 7, .time = {}, .size = 64_MiB}, 3'000'000);
  for (unsigned s = 0; s < 50; ++s) {
    submit(RecordedKernel{0, 7, {}, "one", 4}, 10'000);
    submit(RecordedKernel{0, 7, {}, "other", 4}, 10'000);
  }
  const auto found = find_steps(recording);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->coverage, 0.25, 1e-9);
  EXPECT_NEAR(found->of_ops, 100.0 / 101, 1e-9);
}

TEST(Steps, of_several_sizes_in_turn_are_one_where_these_repeat_exactly) {
  Program program;
  for (unsigned s = 0; s < 40; ++s)
    for (unsigned size = 1; size <= 4; ++size) {
      program.copy(size);
      program.kernel("work", size);
    }
  const auto found = find_steps(program.recording());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->ops, 8u);
}

TEST(Steps, that_nest_are_shown_and_those_that_exchange_something_with_the_host_are_chosen) {
  Program program;
  for (unsigned epoch = 0; epoch < 5; ++epoch) {
    for (unsigned batch = 0; batch < 40; ++batch) {
      program.copy(4096);
      for (unsigned layer = 0; layer < 30; ++layer)
        for (const char* name : {"multiply", "add", "normalise"}) program.kernel(name);
    }
    for (const char* name : {"validate", "compare", "sum"}) program.kernel(name);
  }
  const auto found = find_steps(program.recording());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->ops, 91u);
  const std::vector<StepLevel> levels{{5, 40 * 91 + 3, false}, {200, 91, true}, {6000, 3, false}};
  EXPECT_EQ(found->levels, levels);
}

TEST(Steps, are_the_whole_program_where_it_runs_once) {
  Program program;
  for (unsigned i = 0; i < 5; ++i) program.op(3 * i + 1);
  const auto found = whole_program(program.recording());
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->once);
  EXPECT_EQ(found->bounds, (std::vector<std::size_t>{0, 5}));
  EXPECT_EQ(found->ops, 5u);
  EXPECT_EQ(found->coverage, 1);
  EXPECT_FALSE(whole_program(Recording{}));
}

TEST(Steps, are_one_where_a_named_range_occurs_once) {
  Program program;
  program.op(1);
  const std::uint64_t start = program.now();
  program.op(4);
  program.op(7);
  program.range("solve", start);
  program.op(10);
  const auto found = find_steps(program.recording(), "solve");
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->once);
  EXPECT_EQ(found->bounds, (std::vector<std::size_t>{1, 3}));
}

TEST(StepsOfUsualSize, are_those_of_the_commonest_one_or_else_those_near_the_median) {
  using Bools = std::vector<bool>;
  EXPECT_EQ(of_usual_size({4, 4, 5, 4, 40}), (Bools{true, true, false, true, false}));
  EXPECT_EQ(of_usual_size({4, 5, 6, 3, 2, 9, 40}), (Bools{true, true, true, true, false, true, false}));
  EXPECT_EQ(of_usual_size({7}), (Bools{true}));
}

TEST(Steps, are_not_found_where_nothing_repeats) {
  std::mt19937_64 random(8);
  Program program;
  for (unsigned i = 0; i < 500; ++i) program.op(i);
  EXPECT_FALSE(find_steps(program.recording()));
  EXPECT_FALSE(find_steps(Recording{}));
}

TEST(Steps, are_the_ranges_of_a_name_when_one_is_given) {
  Program program;
  for (unsigned s = 0; s < 10; ++s) {
    program.op(90 + s);
    const std::uint64_t start = program.now();
    for (unsigned i = 0; i < 3; ++i) program.op(10 * s + i);
    program.range("batch", start);
  }
  const auto found = find_steps(program.recording(), "batch");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->ops, 3u);
  EXPECT_EQ(found->bounds.size(), 11u);
  EXPECT_EQ(found->bounds.front(), 1u);
  EXPECT_FALSE(find_steps(program.recording(), "epoch"));
}

TEST(Steps, have_the_step_of_median_time_as_the_typical_one) {
  Program program;
  for (unsigned s = 0; s < 21; ++s)
    for (const unsigned kind : {0u, 1u, 2u}) program.op(kind, kind == 1 ? 1000 * ((s * 8) % 21) : 0);
  const auto found = find_steps(program.recording());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->typical * 8 % 21, 10u);
}

TEST(SubmittedOrder, is_that_of_the_calls_and_not_of_the_work) {
  Program program;
  program.op(0);
  program.op(1);
  std::reverse(program.recording().records.begin(), program.recording().records.end());
  const std::vector<std::size_t> order = submitted_order(program.recording());
  ASSERT_EQ(order.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<RecordedCopy>(program.recording().records[order[0]]));
}

TEST(Steps, of_a_recording_with_very_many_kinds_are_looked_for_in_time_proportional_to_its_length) {
  std::vector<unsigned> kinds;
  for (unsigned i = 0; i < 300'000; ++i) kinds.push_back(i / 3);
  std::mt19937 random(7);
  std::shuffle(kinds.begin(), kinds.end(), random);
  Program program;
  for (const unsigned kind : kinds) program.op(kind);
  const std::clock_t start = std::clock();
  find_steps(program.recording());
  // Without a limit of the periods that are tried it takes minutes.
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 40);
}

}  // namespace
}  // namespace shiplap
