// The C interface: jobs and steps with functions of C, statuses and messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "shiplap/shiplap.h"

namespace {

using ::testing::HasSubstr;

/// Handles that are given back at the end of a test.
struct Handles {
  shiplap_node* node = nullptr;
  shiplap_job* job = nullptr;
  shiplap_step* step = nullptr;
  shiplap_plan* plan = nullptr;
  shiplap_prepared* prepared = nullptr;

  Handles() { EXPECT_EQ(shiplap_open(&node, "virtual:h200", nullptr), SHIPLAP_SUCCESS) << shiplap_message(); }
  ~Handles() {
    shiplap_prepared_destroy(prepared);
    shiplap_plan_destroy(plan);
    shiplap_step_destroy(step);
    shiplap_job_destroy(job);
    shiplap_close(node);
  }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
};

constexpr std::uint64_t rows = 4096;
constexpr std::uint64_t columns = 64;

#define ASSERT_DONE(call) ASSERT_EQ(call, SHIPLAP_SUCCESS) << shiplap_message()

/// out[i] = in[i - columns] + in[i + columns], with rows outside of the field as 0.
int neighbours(const shiplap_chunk* chunk, void* user) {
  if (user != nullptr) ++*static_cast<int*>(user);
  for (std::uint64_t i = chunk->first * columns; i < (chunk->first + chunk->count) * columns; ++i) {
    const float above = i < columns ? 0 : SHIPLAP_ELEMENT(const float, chunk->arrays[0], i - columns);
    const float below = i + columns >= rows * columns ? 0 : SHIPLAP_ELEMENT(const float, chunk->arrays[0], i + columns);
    SHIPLAP_ELEMENT(float, chunk->arrays[1], i) = above + below;
  }
  return 0;
}
float neighbours_of(const std::vector<float>& in, std::uint64_t i) {
  return (i < columns ? 0 : in[i - columns]) + (i + columns >= in.size() ? 0 : in[i + columns]);
}

std::vector<float> some_values() {
  std::vector<float> values(rows * columns);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 1013);
  return values;
}

void describe(shiplap_job** job, const char* name, const char* from, float* in, const char* to, float* out,
              void* user = nullptr) {
  ASSERT_DONE(shiplap_job_create(job, name, rows));
  ASSERT_DONE(shiplap_job_array(*job, from, SHIPLAP_IN, in, rows * columns, sizeof(float)));
  ASSERT_DONE(shiplap_job_halo(*job, from, 1, 1));
  ASSERT_DONE(shiplap_job_array(*job, to, SHIPLAP_OUT, out, rows * columns, sizeof(float)));
  ASSERT_DONE(shiplap_job_host_kernel(*job, neighbours, user));
}

TEST(CInterface, runs_a_job_with_a_halo) {
  Handles h;
  std::vector<float> in = some_values();
  std::vector<float> out(in.size(), -1);
  int calls = 0;
  describe(&h.job, "neighbours", "in", in.data(), "out", out.data(), &calls);
  shiplap_options options = SHIPLAP_OPTIONS;
  options.may_pin = 0;
  ASSERT_DONE(shiplap_plan_job(&h.plan, h.node, h.job, &options));
  EXPECT_GT(shiplap_predicted(h.plan), 0);
  EXPECT_THAT(shiplap_explain(h.plan), HasSubstr("predicted"));
  ASSERT_DONE(shiplap_prepare(&h.prepared, h.node, h.plan));
  shiplap_job_destroy(h.job);  // plans have what they need
  h.job = nullptr;
  double seconds = 0;
  ASSERT_DONE(shiplap_run(h.prepared, &seconds));
  EXPECT_GT(seconds, 0);
  EXPECT_GE(calls, 1);
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], neighbours_of(in, i)) << i;
}

TEST(CInterface, runs_a_step_whose_arrays_stay_with_a_part_of_the_host) {
  Handles h;
  void* memory = nullptr;
  ASSERT_DONE(shiplap_allocate(h.node, &memory, rows * columns * sizeof(float)));
  auto* const u = static_cast<float*>(memory);
  std::vector<float> expected = some_values();
  std::ranges::copy(expected, u);
  std::vector<float> v(expected.size());
  shiplap_job* there = nullptr;
  shiplap_job* back = nullptr;
  describe(&there, "there", "u", u, "v", v.data());
  describe(&back, "back", "v", v.data(), "u", u);
  ASSERT_DONE(shiplap_step_create(&h.step, "two"));
  ASSERT_DONE(shiplap_step_kernel(h.step, there));
  ASSERT_DONE(shiplap_step_kernel(h.step, back));
  const auto halve = [](void* first_row) {
    for (std::uint64_t i = 0; i < columns; ++i) static_cast<float*>(first_row)[i] *= 0.5f;
    return 0;
  };
  const shiplap_access edge{.data = u, .bytes = columns * sizeof(float), .writes = 1};
  ASSERT_DONE(shiplap_step_host(h.step, "edge", &edge, 1, halve, u, 0));
  ASSERT_DONE(shiplap_step_temporary(h.step, "v"));
  ASSERT_DONE(shiplap_step_stays_on_gpu(h.step, "u"));
  ASSERT_DONE(shiplap_step_repeat(h.step, 2));
  shiplap_job_destroy(there);
  shiplap_job_destroy(back);
  ASSERT_DONE(shiplap_plan_step(&h.plan, h.node, h.step, nullptr));
  ASSERT_DONE(shiplap_prepare(&h.prepared, h.node, h.plan));
  ASSERT_DONE(shiplap_run(h.prepared, nullptr));
  ASSERT_DONE(shiplap_fetch(h.prepared, "u"));
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (int kernel = 0; kernel < 2; ++kernel) {
      const std::vector<float> before = expected;
      for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = neighbours_of(before, i);
    }
    for (std::uint64_t i = 0; i < columns; ++i) expected[i] *= 0.5f;
  }
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(u[i], expected[i]) << i;
  ASSERT_DONE(shiplap_free(h.node, memory));
}

TEST(CInterface, hands_a_kernel_the_elements_of_a_mapping) {
  Handles h;
  constexpr std::uint64_t items = 1024;
  std::vector<std::int64_t> in(2 * items);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::int64_t>(i);
  std::vector<std::int64_t> out(items);
  ASSERT_DONE(shiplap_job_create(&h.job, "pairs", items));
  ASSERT_DONE(shiplap_job_array(h.job, "in", SHIPLAP_IN, in.data(), in.size(), sizeof in[0]));
  ASSERT_DONE(shiplap_job_map(
      h.job, "in",
      [](std::uint64_t first, std::uint64_t count, void*, std::uint64_t* first_element, std::uint64_t* elements) {
        *first_element = 2 * first;
        *elements = 2 * count;
        return 0;
      },
      nullptr));
  ASSERT_DONE(shiplap_job_array(h.job, "out", SHIPLAP_OUT, out.data(), out.size(), sizeof out[0]));
  ASSERT_DONE(shiplap_job_host_kernel(
      h.job,
      [](const shiplap_chunk* chunk, void*) {
        if (chunk->arrays[0].count != 2 * chunk->count) return 1;
        for (std::uint64_t i = chunk->first; i < chunk->first + chunk->count; ++i)
          SHIPLAP_ELEMENT(std::int64_t, chunk->arrays[1], i) =
              SHIPLAP_ELEMENT(std::int64_t, chunk->arrays[0], 2 * i) +
              SHIPLAP_ELEMENT(std::int64_t, chunk->arrays[0], 2 * i + 1);
        return 0;
      },
      nullptr));
  ASSERT_DONE(shiplap_plan_job(&h.plan, h.node, h.job, nullptr));
  ASSERT_DONE(shiplap_prepare(&h.prepared, h.node, h.plan));
  ASSERT_DONE(shiplap_run(h.prepared, nullptr));
  for (std::uint64_t i = 0; i < items; ++i) ASSERT_EQ(out[i], static_cast<std::int64_t>(4 * i + 1));
}

TEST(CInterface, says_why_a_call_failed) {
  Handles h;
  shiplap_node* none = h.node;
  EXPECT_EQ(shiplap_open(&none, "virtual:no-such-gpu", nullptr), SHIPLAP_USAGE);
  EXPECT_THAT(shiplap_message(), HasSubstr("no-such-gpu"));
  EXPECT_EQ(none, nullptr) << "so that it can be given back";
  EXPECT_EQ(shiplap_open(nullptr, "virtual:h200", nullptr), SHIPLAP_USAGE);
  EXPECT_THAT(shiplap_message(), HasSubstr("node"));
  EXPECT_EQ(shiplap_plan_job(&h.plan, h.node, nullptr, nullptr), SHIPLAP_USAGE);
  EXPECT_THAT(shiplap_message(), HasSubstr("job"));
  std::vector<float> in = some_values();
  std::vector<float> out(in.size());
  describe(&h.job, "neighbours", "in", in.data(), "out", out.data());
  EXPECT_EQ(shiplap_job_halo(h.job, "inn", 1, 1), SHIPLAP_USAGE);
  EXPECT_THAT(shiplap_message(), HasSubstr("inn"));
  EXPECT_EQ(shiplap_job_array(h.job, "late", SHIPLAP_IN, in.data(), in.size(), 4), SHIPLAP_USAGE);
  EXPECT_EQ(shiplap_job_keep(h.job, "out"), SHIPLAP_SUCCESS);  // the plan says that such an array cannot be kept
  EXPECT_EQ(shiplap_plan_job(&h.plan, h.node, h.job, nullptr), SHIPLAP_USAGE);
  EXPECT_THAT(shiplap_message(), HasSubstr("out"));
  EXPECT_EQ(h.plan, nullptr);
  shiplap_options old = SHIPLAP_OPTIONS;
  old.size -= 8;
  EXPECT_EQ(shiplap_plan_job(&h.plan, h.node, h.job, &old), SHIPLAP_USAGE);
  EXPECT_THAT(shiplap_message(), HasSubstr("version"));
  int somewhere = 0;
  EXPECT_EQ(shiplap_free(h.node, &somewhere), SHIPLAP_USAGE);
  EXPECT_EQ(shiplap_free(h.node, nullptr), SHIPLAP_SUCCESS);
}

TEST(CInterface, stops_a_run_when_a_function_of_the_caller_says_so) {
  Handles h;
  std::vector<float> in = some_values();
  std::vector<float> out(in.size());
  ASSERT_DONE(shiplap_job_create(&h.job, "refuses", rows));
  ASSERT_DONE(shiplap_job_array(h.job, "in", SHIPLAP_IN, in.data(), in.size(), sizeof(float)));
  ASSERT_DONE(shiplap_job_array(h.job, "out", SHIPLAP_OUT, out.data(), out.size(), sizeof(float)));
  ASSERT_DONE(shiplap_job_host_kernel(
      h.job, [](const shiplap_chunk*, void*) { return 42; }, nullptr));
  ASSERT_DONE(shiplap_plan_job(&h.plan, h.node, h.job, nullptr));
  ASSERT_DONE(shiplap_prepare(&h.prepared, h.node, h.plan));
  EXPECT_EQ(shiplap_run(h.prepared, nullptr), SHIPLAP_FAILURE);
  EXPECT_THAT(shiplap_message(), HasSubstr("42"));
  EXPECT_THAT(shiplap_message(), HasSubstr("refuses"));
}

TEST(CInterface, has_a_message_for_each_thread) {
  shiplap_node* none = nullptr;
  EXPECT_EQ(shiplap_open(&none, "virtual:no-such-gpu", nullptr), SHIPLAP_USAGE);
  std::string of_other = "not asked";
  std::thread([&] { of_other = shiplap_message(); }).join();
  EXPECT_EQ(of_other, "");
  EXPECT_THAT(shiplap_message(), HasSubstr("no-such-gpu"));
}

TEST(CInterface, has_the_version_of_the_header_as_a_text_and_as_numbers) {
  EXPECT_STREQ(shiplap_version(), SHIPLAP_VERSION);
  EXPECT_EQ(std::string(SHIPLAP_VERSION), std::to_string(SHIPLAP_VERSION_MAJOR) + "." +
                                              std::to_string(SHIPLAP_VERSION_MINOR) + "." +
                                              std::to_string(SHIPLAP_VERSION_PATCH));
  static_assert(SHIPLAP_VERSION_NUMBER >= 100);
}

}  // namespace
