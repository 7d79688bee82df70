#include "shiplap/advise/recorded_link.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "shiplap/advise/advice.hpp"
#include "shiplap/advise/advice_view.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/profile/derived.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;

/// A recording of copies that reach this rate, in GB/s.
class Copies {
 public:
  explicit Copies(std::string gpu) { recording_.gpu = std::move(gpu); }
  Copies& add(MemoryKind host, bool to_gpu, Bytes size, double rate, Seconds latency = Seconds{0},
              std::uint32_t gpu = 0) {
    const auto time =
        static_cast<std::uint64_t>(in_bytes(size) / rate + latency.count() * 1e9);  // bytes over GB/s are ns
    recording_.records.emplace_back(RecordedCopy{.call = ++call_,
                                                 .stream = 0,
                                                 .time = {now_, now_ + time},
                                                 .size = size,
                                                 .from = to_gpu ? host : MemoryKind::device,
                                                 .to = to_gpu ? MemoryKind::device : host,
                                                 .gpu = gpu});
    now_ += time + 1000;
    return *this;
  }
  /// Copies in both directions that run at the same time.
  Copies& add_both(Bytes size, double rate) {
    const std::uint64_t begin = now_;
    add(MemoryKind::pinned, true, size, rate);
    now_ = begin;
    return add(MemoryKind::pinned, false, size, rate);
  }
  const Recording& recording() const { return recording_; }

 private:
  Recording recording_;
  std::uint64_t now_ = 0;
  std::uint64_t call_ = 0;
};

double rate_of(const DirectionModel& direction) { return bandwidth(direction.per_byte.value).bytes_per_second * 1e-9; }
double rate_of(const std::vector<TimeAt>& rows, Bytes size) {
  return in_bytes(size) / time_at(rows, size).count() * 1e-9;
}

TEST(RecordedLink, of_pinned_copies_is_that_of_the_fastest_since_other_work_only_adds_time) {
  Copies copies("Tesla T4");
  for (const double rate : {12.3, 12.3, 12.2, 6.0, 5.0}) copies.add(MemoryKind::pinned, true, 64_MiB, rate);
  const RecordedLink found = profile_of_recording(copies.recording());
  const LinkModel& link = found.profile.links.at(0);
  EXPECT_NEAR(rate_of(link.h2d), 12.3, 0.15);
  EXPECT_NEAR(rate_of(link.d2h) / rate_of(link.h2d), 1, 0.1) << "the other direction is like it";
  EXPECT_LT(link.h2d.per_byte.low, link.h2d.per_byte.value);
  EXPECT_GT(link.d2h.per_byte.high.seconds / link.d2h.per_byte.value.seconds, 1.4);
  EXPECT_EQ(found.note.rates, "12.20 GB/s to the GPU from pinned memory");
  EXPECT_EQ(found.note.assumed, "");
}

TEST(RecordedLink, of_pageable_copies_leaves_the_link_of_pinned_memory_assumed) {
  Copies copies("Tesla T4");
  for (int i = 0; i < 5; ++i) {
    copies.add(MemoryKind::pageable, true, 64_MiB, 3.5);
    copies.add(MemoryKind::pageable, false, 64_MiB, 2.5);
  }
  const RecordedLink found = profile_of_recording(copies.recording());
  const LinkModel& link = found.profile.links.at(0);
  EXPECT_NEAR(rate_of(link.pageable->h2d, 64_MiB), 3.5, 0.05);
  EXPECT_NEAR(rate_of(link.pageable->d2h, 64_MiB), 2.5, 0.05);
  EXPECT_GT(rate_of(link.h2d), 10);
  EXPECT_EQ(found.note.assumed, "an assumed link (8.0 GT/s PCIe x16)");
  EXPECT_EQ(found.note.rates,
            "3.500 GB/s to the GPU from pageable memory, 2.500 GB/s to the host into pageable memory");
}

// A rate above that of the assumed link: it must be another link.
TEST(RecordedLink, of_pinned_memory_is_no_slower_than_copies_of_pageable_memory) {
  Copies copies("Tesla T4");
  copies.add(MemoryKind::pageable, true, 64_MiB, 20);
  EXPECT_GE(rate_of(profile_of_recording(copies.recording()).profile.links.at(0).h2d), 19.9);
}

// A copy of 1 MiB takes its latency and its bytes. Only the bytes say how fast the link is.
TEST(RecordedLink, of_small_copies_has_the_time_of_their_bytes_alone) {
  Copies copies("NVIDIA H200");
  const Profile h200 = find_profile("h200");
  const DirectionModel& own = h200.links.at(0).h2d;
  for (int i = 0; i < 5; ++i) copies.add(MemoryKind::pinned, true, 1_MiB, 25, cost_at(own, 1_MiB).latency_overhead);
  EXPECT_NEAR(rate_of(profile_of_recording(copies.recording()).profile.links.at(0).h2d), 25, 0.3);
}

// Copies that never run alone do not tell what one direction reaches alone.
TEST(RecordedLink, of_copies_in_both_directions_at_once_is_that_of_both_alone) {
  Copies copies("NVIDIA H200");
  for (int i = 0; i < 5; ++i) copies.add_both(64_MiB, 20);
  const RecordedLink found = profile_of_recording(copies.recording());
  const LinkModel& link = found.profile.links.at(0);
  EXPECT_NEAR(rate_of(link.h2d), rate_of(find_profile("h200").links.at(0).h2d), 1e-9);
  EXPECT_NEAR(1e-9 / link.h2d.duplex->per_byte.value.seconds, 20, 0.3);
  EXPECT_EQ(found.note.assumed, "the link of profile h200");
  copies.add(MemoryKind::pinned, true, 64_MiB, 30);
  EXPECT_NEAR(rate_of(profile_of_recording(copies.recording()).profile.links.at(0).h2d), 30, 0.3) << "one ran alone";
}

TEST(RecordedLink, is_that_of_the_first_gpu_and_others_are_like_it) {
  Copies copies("Tesla T4");
  copies.add(MemoryKind::pinned, true, 64_MiB, 6).add(MemoryKind::pinned, true, 64_MiB, 24, Seconds{0}, 1);
  const Profile profile = profile_of_recording(copies.recording()).profile;
  EXPECT_EQ(profile.gpus.size(), 2u);
  EXPECT_NEAR(rate_of(profile.links.at(0).h2d), 6, 0.1);
}

// What a paper did not publish is assumed, so that its machines fare no worse than those that nobody knows.
TEST(RecordedLink, of_a_published_machine_is_completed) {
  Copies copies("NVIDIA GeForce GTX 680");
  copies.add(MemoryKind::pinned, true, 64_MiB, 11);
  const Profile profile = profile_of_recording(copies.recording()).profile;
  EXPECT_NEAR(rate_of(profile.links.at(0).h2d), 11, 0.1);
  EXPECT_TRUE(profile.links.at(0).pageable);
  EXPECT_EQ(profile.gpus.at(0).memory, find_profile("gtx-680-2014").gpus.at(0).memory);
}

TEST(RecordedLink, of_a_measured_profile_stays_without_large_copies) {
  Copies copies("NVIDIA H200");
  copies.add(MemoryKind::pinned, true, 4_KiB, 0.1);
  const RecordedLink found = profile_of_recording(copies.recording());
  EXPECT_EQ(parameter_hash(found.profile), parameter_hash(find_profile("h200")));
  EXPECT_EQ(found.note.assumed, "the link of profile h200");
}

TEST(RecordedLink, of_an_unknown_gpu_is_assumed_until_copies_tell_it) {
  Copies copies("NVIDIA Orin");
  EXPECT_EQ(profile_of_recording(copies.recording()).note.assumed, "an assumed link (16.0 GT/s PCIe x16)");
  copies.add(MemoryKind::pinned, true, 64_MiB, 20);
  EXPECT_NEAR(rate_of(profile_of_recording(copies.recording()).profile.links.at(0).h2d), 20, 0.2);
}

/// A program on a T4 that copies pageable memory to the GPU and waits, step after step.
Recording pageable_steps() {
  Recording recording;
  recording.gpu = "Tesla T4";
  recording.complete = true;
  std::uint64_t call = 0;
  for (std::uint64_t step = 0; step < 20; ++step) {
    const std::uint64_t begin = step * 20'000'000;
    recording.records.emplace_back(
        RecordedCall{.call = ++call, .thread = 0, .time = {begin, begin + 15'000'000}, .function = "cudaMemcpy"});
    recording.records.emplace_back(RecordedCopy{.call = call,
                                                .stream = 0,
                                                .time = {begin + 10'000, begin + 14'990'000},
                                                .size = 48_MiB,
                                                .from = MemoryKind::pageable,
                                                .to = MemoryKind::device});
    recording.records.emplace_back(RecordedCall{
        .call = ++call, .thread = 0, .time = {begin + 15'010'000, begin + 15'015'000}, .function = "cudaLaunchKernel"});
    recording.records.emplace_back(
        RecordedKernel{.call = call, .stream = 0, .time = {begin + 15'020'000, begin + 19'000'000}, .name = "work"});
    recording.records.emplace_back(RecordedCall{.call = ++call,
                                                .thread = 0,
                                                .time = {begin + 15'030'000, begin + 19'010'000},
                                                .function = "cudaDeviceSynchronize"});
    recording.records.emplace_back(RecordedOrder{.call = call, .kind = RecordedOrder::Kind::device_wait, .gpu = 0});
  }
  return recording;
}

// 48 MiB over PCIe 3.0 x16 at 12.02 to 12.62 GB/s (van Werkhoven et al. 2014, Table I) take 4.0 to 4.2 ms.
TEST(RecordedLink, that_is_assumed_is_in_the_interval_of_advice_and_said_with_it) {
  const Recording recording = pageable_steps();
  const RecordedLink node = profile_of_recording(recording);
  const Advised advised = advise(recording, node.profile, {.only = {"pin"}, .link = node.note});
  ASSERT_EQ(advised.advice.size(), 1u) << advised.refused;
  const Interval<Seconds>& step = advised.advice[0].step;
  const Seconds kernel = milliseconds(4);
  EXPECT_LT(step.low, kernel + milliseconds(4.0));
  EXPECT_GT(step.high, kernel + milliseconds(4.2));
  EXPECT_GT((step.high - step.low) / step.value, 0.3) << "wider than with a known link";
  EXPECT_EQ(advice_view(advised).assumed_link, "an assumed link (8.0 GT/s PCIe x16)");
}

std::vector<std::string> rules_for(const Recording& recording) {
  const RecordedLink node = profile_of_recording(recording);
  std::vector<std::string> names;
  for (const Advice& advice : advise(recording, node.profile, {.link = node.note}).advice) names.push_back(advice.rule);
  return names;
}

/// A program that runs once: a copy in, a kernel, a copy out.
Recording one_pass() {
  Recording recording;
  recording.gpu = "NVIDIA H200";
  recording.complete = true;
  const auto call = [&](std::uint64_t number, std::uint64_t from, std::uint64_t to, const char* function) {
    recording.records.emplace_back(
        RecordedCall{.call = number, .thread = 0, .time = {from * 1000, to * 1000}, .function = function});
  };
  const auto copy = [&](std::uint64_t number, std::uint64_t from, std::uint64_t to, bool to_gpu) {
    recording.records.emplace_back(RecordedCopy{.call = number,
                                                .stream = 0,
                                                .time = {from * 1000, to * 1000},
                                                .size = 256_MiB,
                                                .from = to_gpu ? MemoryKind::pageable : MemoryKind::device,
                                                .to = to_gpu ? MemoryKind::device : MemoryKind::pageable});
  };
  call(1, 0, 30'000, "cudaMemcpy");
  copy(1, 10, 29'990, true);
  call(2, 30'010, 30'015, "cudaLaunchKernel");
  recording.records.emplace_back(
      RecordedKernel{.call = 2, .stream = 0, .time = {30'020'000, 50'000'000}, .name = "work", .blocks = 100'000});
  call(3, 30'030, 80'000, "cudaMemcpy");
  copy(3, 50'010, 79'990, false);
  return recording;
}

// Its copies are cut into chunks by advice. No array of the program comes back to the GPU.
TEST(AdviceRules, look_for_returning_arrays_in_the_recording_and_not_among_the_chunks_of_other_advice) {
  const std::vector<std::string> rules = rules_for(one_pass());
  EXPECT_THAT(rules, ::testing::Contains("chunks on streams"));
  EXPECT_THAT(rules, ::testing::Not(::testing::Contains("keep results on the GPU")));
}

// Prefetches move pages that nobody copies, so that no copy can be saved.
TEST(AdviceRules, offer_zero_copy_for_copies_of_the_recording_alone) {
  Recording recording;
  recording.gpu = "NVIDIA H200";
  recording.complete = true;
  recording.records.emplace_back(
      RecordedCall{.call = 1, .thread = 0, .time = {0, 5'000}, .function = "cudaLaunchKernel"});
  recording.records.emplace_back(
      RecordedKernel{.call = 1, .stream = 0, .time = {10'000, 200'000'000}, .name = "work", .blocks = 100'000});
  recording.records.emplace_back(RecordedMigration{.time = {20'000, 150'000'000}, .size = 512_MiB});
  recording.records.emplace_back(
      RecordedCall{.call = 2, .thread = 0, .time = {10'000, 200'010'000}, .function = "cudaDeviceSynchronize"});
  recording.records.emplace_back(RecordedOrder{.call = 2, .kind = RecordedOrder::Kind::device_wait, .gpu = 0});
  EXPECT_THAT(rules_for(recording), ::testing::ElementsAre("prefetch managed memory"));
}

}  // namespace
}  // namespace shiplap
