#include "shiplap/schedule/validate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "shiplap/core/error.hpp"
#include "tests/schedule/builder.hpp"

namespace shiplap {
namespace {

using namespace testing_schedules;

// Three chunks of 64 B through rings of two slots: streams in, compute and out, tied by dependencies.
struct RingPipeline : Builder {
  static constexpr std::uint64_t chunks = 3;
  static constexpr std::uint64_t slots = 2;
  RingPipeline() {
    const BufferId x = host("x", 192_B);
    const BufferId y = host("y", 192_B);
    const BufferId dx = device("dx", 128_B);
    const BufferId dy = device("dy", 128_B);
    schedule.add_kernel("saxpy");
    const StreamId in = schedule.add_stream("in");
    const StreamId compute = schedule.add_stream("compute");
    const StreamId out = schedule.add_stream("out");
    std::vector<OpId> kernels;
    std::vector<OpId> copies_out;
    for (std::uint32_t c = 0; c < chunks; ++c) {
      const Bytes piece{64ull * c};
      const Bytes slot{64ull * (c % slots)};
      std::vector<OpId> slot_read;
      if (c >= slots) slot_read = {kernels[c - slots]};
      const OpId arrived = copy(in, {x, piece, 64_B}, {dx, slot, 64_B}, slot_read, c);
      std::vector<OpId> ready{arrived};
      if (c >= slots) ready.push_back(copies_out[c - slots]);
      kernels.push_back(kernel(compute, {read({dx, slot, 64_B}), write({dy, slot, 64_B})}, ready, c));
      copies_out.push_back(copy(out, {dy, slot, 64_B}, {y, piece, 64_B}, {kernels.back()}, c));
    }
  }
};

TEST(Validate, accepts_a_three_stream_pipeline_with_rings) {
  const RingPipeline p;
  EXPECT_EQ(joined(problems(p.schedule)), "");
  EXPECT_NO_THROW(validate(p.schedule));
}

TEST(Validate, refuses_the_pipeline_without_any_single_one_of_its_dependencies_and_names_both_ops) {
  const RingPipeline p;
  int edges = 0;
  for (std::uint32_t i = 0; i < p.schedule.ops.size(); ++i)
    for (std::size_t j = 0; j < p.schedule.ops[i].after.size(); ++j) {
      Schedule cut = p.schedule;
      const OpId dependency = cut.ops[i].after[j];
      cut.ops[i].after.erase(cut.ops[i].after.begin() + static_cast<std::ptrdiff_t>(j));
      const std::string text = joined(problems(cut));
      EXPECT_NE(text.find(describe(cut, OpId{i})), std::string::npos) << text;
      EXPECT_NE(text.find(describe(cut, dependency)), std::string::npos) << text;
      EXPECT_THROW(validate(cut), Error);
      ++edges;
    }
  EXPECT_EQ(edges, 3 + 3 + 1 + 1);  // copy in → kernel, kernel → copy out, and both rings once
}

TEST(Validate, the_sentence_about_a_race_names_ops_accesses_bytes_and_buffer) {
  RingPipeline p;
  p.schedule.ops[8].after.clear();  // copy out of chunk 2 no longer waits for its kernel
  EXPECT_EQ(joined(problems(p.schedule)),
            "copy D2H of chunk 2 (op 8) reads bytes [0, 64) of buffer dy, which kernel saxpy of chunk 2 (op 7) writes, "
            "and nothing orders the two; let op 8 wait for op 7 or for an op after it\n");
}

TEST(Validate, operands_of_one_kernel_may_share_bytes_only_to_read_or_in_place) {
  Builder b;
  const BufferId d = b.device("d", 16_B);
  b.schedule.add_kernel("k");
  const StreamId q = b.schedule.add_stream("q");
  b.kernel(q, {read({d, 0_B, 8_B}), read({d, 4_B, 8_B})});
  b.kernel(q, {read({d, 0_B, 8_B}), write({d, 0_B, 8_B})});
  b.kernel(q, {read({d, 0_B, 8_B}), write({d, 8_B, 8_B})});
  EXPECT_EQ(joined(problems(b.schedule)), "");
  b.kernel(q, {read({d, 0_B, 8_B}), write({d, 4_B, 8_B})});
  EXPECT_REFUSED(b.schedule, "operands 0 and 1 of kernel k of chunk 0 (op 3) overlap in buffer d");
}

TEST(Validate, kept_arrays_are_in_as_much_memory_of_the_host_as_of_a_gpu) {
  Schedule schedule;
  const BufferId host = schedule.add_buffer({.name = "table", .place = Place::host(), .size = 4_KiB});
  const BufferId gpu = schedule.add_buffer(
      {.name = "table on the GPU", .place = Place::gpu(), .memory = MemoryKind::device, .size = 4_KiB});
  const BufferId small =
      schedule.add_buffer({.name = "small", .place = Place::gpu(), .memory = MemoryKind::device, .size = 1_KiB});
  schedule.kept = {{host, gpu}};
  EXPECT_TRUE(problems(schedule).empty());
  for (const KeptArray& unsound :
       {KeptArray{host, host}, KeptArray{gpu, gpu}, KeptArray{host, small}, KeptArray{host, BufferId{9}}}) {
    schedule.kept = {unsound};
    EXPECT_EQ(problems(schedule).size(), 1u);
  }
}

TEST(Validate, an_operand_without_bytes_overlaps_nothing) {
  Builder b;
  const BufferId d = b.device("d", 16_B);
  b.schedule.add_kernel("k");
  b.kernel(b.schedule.add_stream("q"), {write({d, 0_B, 8_B}), read({d, 4_B, 0_B}), write({d, 6_B, 0_B})});
  EXPECT_EQ(joined(problems(b.schedule)), "");
}

TEST(Validate, an_operand_without_bytes_begins_inside_its_buffer) {
  Builder b;
  const BufferId d = b.device("d", 16_B);
  b.schedule.add_kernel("k");
  const StreamId q = b.schedule.add_stream("q");
  b.kernel(q, {read({d, 16_B, 0_B})});
  EXPECT_EQ(joined(problems(b.schedule)), "");
  b.kernel(q, {read({d, Bytes{~0ull}, 0_B})});
  EXPECT_REFUSED(b.schedule, "has an operand at offset 18446744073709551615 of buffer d, which has only 16 B");
}

// A host buffer x and a device buffer d of 8 B, one stream, one kernel, no op.
struct Bare : Builder {
  BufferId x = host("x", 8_B);
  BufferId d = device("d", 8_B);
  StreamId q = schedule.add_stream("q");
  Region on_host{x, 0_B, 8_B};
  Region on_device{d, 0_B, 8_B};
  Bare() { schedule.add_kernel("k"); }
};

TEST(Validate, refuses_ids_out_of_range) {
  Bare b;
  const Schedule none = b.schedule;
  b.copy({3}, b.on_host, b.on_device);
  EXPECT_REFUSED(b.schedule, "copy H2D of chunk 0 (op 0) is on stream 3, but the schedule has 1 streams");
  b.schedule = none;
  b.copy(b.q, {{7}, 0_B, 8_B}, b.on_device);
  EXPECT_REFUSED(b.schedule, "copy of chunk 0 (op 0) refers to buffer 7, but the schedule has 2 buffers");
  b.schedule = none;
  b.copy(b.q, b.on_host, {{}, 0_B, 8_B});
  EXPECT_REFUSED(b.schedule, "refers to buffer 4294967295");
  b.schedule = none;
  b.kernel(b.q, {read({{9}, 0_B, 8_B})});
  EXPECT_REFUSED(b.schedule, "kernel k of chunk 0 (op 0) refers to buffer 9");
  b.schedule = none;
  b.kernel(b.q, {});
  std::get<Kernel>(b.schedule.ops[0].what).kernel = {4};
  EXPECT_REFUSED(b.schedule, "runs kernel 4, but the schedule has 1 kernels");
  b.schedule = none;
  b.kernel(b.q, {});
  std::get<Kernel>(b.schedule.ops[0].what).flows = {{.buffer = {8}, .mode = AccessMode::read, .bytes = 8_B}};
  EXPECT_REFUSED(b.schedule, "refers to buffer 8");
  b.schedule = none;
  b.kernel(b.q, {});
  b.schedule.ops[0].agent = {2};
  EXPECT_REFUSED(b.schedule, "is submitted by agent 2, but the schedule has 1 agents");
  b.schedule = none;
  b.kernel(b.q, {}, {{5}});
  EXPECT_REFUSED(b.schedule, "kernel k of chunk 0 (op 0) waits for op 5, but the schedule has 1 ops");
}

TEST(Validate, refuses_regions_that_leave_their_buffer) {
  Bare b;
  const Schedule none = b.schedule;
  b.copy(b.q, {b.x, 4_B, 5_B}, {b.d, 0_B, 5_B});
  EXPECT_REFUSED(b.schedule, "accesses 5 B at offset 4 of buffer x, which has only 8 B");
  b.schedule = none;
  // The sum of offset and length is 4 beyond 64 bits.
  b.copy(b.q, {b.x, Bytes{~0ull - 3}, 8_B}, b.on_device);
  EXPECT_REFUSED(b.schedule, "of buffer x, which has only 8 B");
  b.schedule = none;
  b.kernel(b.q, {write({b.d, 8_B, 1_B})});
  EXPECT_REFUSED(b.schedule, "accesses 1 B at offset 8 of buffer d");
}

TEST(Validate, refuses_copies_of_unequal_or_no_length) {
  Bare b;
  const Schedule none = b.schedule;
  b.copy(b.q, {b.x, 0_B, 8_B}, {b.d, 0_B, 4_B});
  EXPECT_REFUSED(b.schedule, "reads 8 B and writes 4 B; both lengths must be equal");
  b.schedule = none;
  b.copy(b.q, {b.x, 0_B, 0_B}, {b.d, 0_B, 0_B});
  EXPECT_REFUSED(b.schedule, "accesses a region of no bytes in buffer x");
  b.schedule = none;
  b.kernel(b.q, {read({b.d, 0_B, 0_B})});  // an operand keeps its position, also without bytes
  EXPECT_TRUE(problems(b.schedule).empty());
}

TEST(Validate, refuses_copies_between_places_that_their_kind_cannot_join) {
  Bare b;
  const BufferId y = b.host("y", 8_B);
  const BufferId other = b.schedule.add_buffer(buffer("other", Place::gpu(1), MemoryKind::device, 8_B));
  const Schedule none = b.schedule;
  b.copy(b.q, b.on_device, {other, 0_B, 8_B});
  EXPECT_EQ(joined(problems(b.schedule)), "");
  b.schedule = none;
  b.copy(b.q, b.on_host, {y, 0_B, 8_B});
  EXPECT_REFUSED(b.schedule, "joins two host places, which no copy engine can; use a host copy");
  b.schedule = none;
  b.host_copy({0}, b.on_host, b.on_device);
  EXPECT_REFUSED(b.schedule, "host copy of chunk 0 (op 0) accesses memory on a GPU");
  b.schedule = none;
  b.host_copy({0}, {b.x, 0_B, 4_B}, {b.x, 2_B, 4_B});
  EXPECT_REFUSED(b.schedule, "reads and writes overlapping bytes of buffer x");
}

TEST(Validate, refuses_device_ops_without_a_stream_and_host_copies_with_one) {
  Bare b;
  const BufferId y = b.host("y", 8_B);
  const Schedule none = b.schedule;
  b.copy({}, b.on_host, b.on_device);
  EXPECT_REFUSED(b.schedule, "copy H2D of chunk 0 (op 0) has no stream");
  b.schedule = none;
  b.kernel({}, {{b.on_device, AccessMode::read}});
  EXPECT_REFUSED(b.schedule, "kernel k of chunk 0 (op 0) has no stream, so it runs on the host, and accesses buffer");
  b.schedule = none;
  b.kernel({}, {{b.on_host, AccessMode::write}});
  EXPECT_TRUE(problems(b.schedule).empty()) << "a part of the host";
  b.schedule = none;
  b.host_copy({0}, b.on_host, {y, 0_B, 8_B});
  b.schedule.ops[0].stream = b.q;
  EXPECT_REFUSED(b.schedule, "host copy of chunk 0 (op 0) has a stream");
}

TEST(Validate, only_managed_memory_is_prefetched) {
  Bare b;
  const BufferId m = b.schedule.add_buffer(buffer("m", Place::host(), MemoryKind::managed, 8_B));
  b.add(Prefetch{.region = {m, 0_B, 8_B}, .to = Place::gpu()}, b.q, {}, 0);
  EXPECT_TRUE(problems(b.schedule).empty());
  b.add(Prefetch{.region = b.on_host, .to = Place::gpu()}, b.q, {}, 0);
  EXPECT_REFUSED(b.schedule, "prefetch to gpu 0 of chunk 0 (op 1) moves buffer x, which is pinned memory");
}

TEST(Validate, refuses_a_dependency_on_itself_or_on_a_later_op) {
  Bare b;
  b.kernel(b.q, {}, {{0}});
  EXPECT_REFUSED(b.schedule, "kernel k of chunk 0 (op 0) waits for itself");
  Bare c;
  c.schedule.agents = {{"main"}, {"worker"}};
  c.kernel(c.q, {}, {{1}});
  c.kernel(c.schedule.add_stream("r"), {});
  c.schedule.ops[1].agent = {1};
  // Two agents and two streams: no cycle, and refused nevertheless.
  EXPECT_EQ(joined(problems(c.schedule)),
            "kernel k of chunk 0 (op 0) waits for kernel k of chunk 0 (op 1), which is "
            "submitted later; an op may only wait for earlier ones\n");
}

TEST(Validate, refuses_a_stream_that_belongs_to_no_gpu) {
  Bare b;
  b.schedule.streams[0].place = Place::host(5);
  EXPECT_REFUSED(b.schedule, "stream 0 (q) is at host 5, where no stream is; give the place of a GPU");
}

TEST(Validate, refuses_times_that_are_negative_or_not_finite) {
  const double infinite = std::numeric_limits<double>::infinity();
  for (const double odd : {-1e-9, infinite, -infinite, std::nan("")}) {
    for (Seconds Kernel::*time : {&Kernel::work, &Kernel::call}) {
      Bare b;
      b.kernel(b.q, {});
      std::get<Kernel>(b.schedule.ops[0].what).*time = Seconds{odd};
      EXPECT_REFUSED(b.schedule, " s; use a finite time of at least 0 s");
    }
    for (Seconds MeasuredFlow::*time : {&MeasuredFlow::alone, &MeasuredFlow::beside_copies}) {
      Bare b;
      b.kernel(b.q, {});
      auto& measured = std::get<Kernel>(b.schedule.ops[0].what).measured;
      measured = MeasuredFlow{};
      (*measured).*time = Seconds{odd};
      EXPECT_REFUSED(b.schedule, " s; use a finite time of at least 0 s");
    }
    Bare b;
    b.copy(b.q, b.on_host, b.on_device);
    std::get<Copy>(b.schedule.ops[0].what).measured = Seconds{odd};
    EXPECT_REFUSED(b.schedule, "copy H2D of chunk 0 (op 0) has a measured time of ");
    b.schedule.ops.clear();
    b.add(HostCall{.kind = HostCall::Kind::wait, .work = Seconds{odd}}, {}, {}, 0);
    EXPECT_REFUSED(b.schedule, "wait of the host of chunk 0 (op 0) has a time of other work of ");
  }
}

TEST(Validate, refuses_factors_of_a_kernel_outside_of_their_range) {
  for (const double odd : {-0.1, 1.1, std::nan("")}) {
    Bare b;
    b.kernel(b.q, {});
    std::get<Kernel>(b.schedule.ops[0].what).memory_bound = odd;
    EXPECT_REFUSED(b.schedule, "use 0 to 1");
  }
  for (const double odd : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    Bare b;
    b.kernel(b.q, {});
    std::get<Kernel>(b.schedule.ops[0].what).measured = MeasuredFlow{.copies_beside = odd};
    EXPECT_REFUSED(b.schedule, "use a finite factor above 0");
  }
}

TEST(Validate, names_the_ops_of_a_cycle_of_dependencies) {
  Bare b;
  b.schedule.agents = {{"a"}, {"b"}, {"c"}};
  for (std::uint32_t i = 0; i < 3; ++i) {
    b.kernel(b.schedule.add_stream("q"), {}, {{(i + 1) % 3}}, i);
    b.schedule.ops[i].agent = {i};
  }
  const std::string text = joined(problems(b.schedule));
  EXPECT_NE(text.find("cycle"), std::string::npos);
  EXPECT_NE(text.find("kernel k of chunk 0 (op 0) waits for kernel k of chunk 1 (op 1)"), std::string::npos) << text;
  EXPECT_NE(text.find("which waits for kernel k of chunk 2 (op 2)"), std::string::npos) << text;
  EXPECT_NE(text.find("which waits for kernel k of chunk 0 (op 0)"), std::string::npos) << text;
}

TEST(Validate, a_cycle_through_a_stream_or_an_agent_is_named_as_such) {
  Bare b;
  b.schedule.agents = {{"main"}, {"worker"}};
  b.kernel(b.q, {}, {{1}});
  b.kernel(b.q, {});
  b.schedule.ops[1].agent = {1};
  EXPECT_REFUSED(b.schedule, "kernel k of chunk 0 (op 1), which comes in stream q after kernel k of chunk 0 (op 0)");
  b.schedule.ops[1].agent = {0};
  b.schedule.ops[1].stream = b.schedule.add_stream("r");
  EXPECT_REFUSED(b.schedule, "kernel k of chunk 0 (op 1), which is submitted by main after kernel k of chunk 0 (op 0)");
}

TEST(Validate, a_long_chain_with_a_cycle_is_searched_without_deep_recursion) {
  Bare b;
  for (std::uint32_t i = 0; i < 100'000; ++i) b.kernel(b.q, {}, {}, i);
  b.schedule.ops[0].after = {{99'999}};
  const std::vector<std::string> found = problems(b.schedule);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NE(found[0].find("and so on over 100000 ops"), std::string::npos) << found[0];
}

TEST(Validate, at_most_limit_problems_are_returned) {
  Builder b;
  const BufferId d = b.device("d", 8_B);
  b.schedule.add_kernel("k");
  for (int i = 0; i < 30; ++i) b.kernel(b.schedule.add_stream("q"), {write({d, 0_B, 8_B})});
  EXPECT_EQ(problems(b.schedule).size(), 8u);
  EXPECT_EQ(problems(b.schedule, 3).size(), 3u);
  for (Op& op : b.schedule.ops) op.stream = {};
  EXPECT_EQ(problems(b.schedule).size(), 8u);
  for (Op& op : b.schedule.ops) op.stream = {0}, op.after = {{1000}, {2000}};
  EXPECT_EQ(problems(b.schedule, 5).size(), 5u);
}

TEST(Validate, an_empty_schedule_is_sound) { EXPECT_TRUE(problems(Schedule{}).empty()); }

TEST(Validate, throws_an_error_that_holds_the_problems) {
  RingPipeline p;
  p.schedule.ops[8].after.clear();
  try {
    validate(p.schedule);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("the schedule is not sound: copy D2H of chunk 2 (op 8) reads"), 0u);
    EXPECT_EQ(error.code(), ExitCode::failure);
  }
}

}  // namespace
}  // namespace shiplap
