// Kernels that access host memory, on a link whose figures are round.
#include <gtest/gtest.h>

#include "shiplap/core/error.hpp"
#include "shiplap/sim/simulate.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

// Copies at 1 GB/s; kernels read at 0.5 and write at 0.8 GB/s alone. Concurrent with a copy each has 0.25, and the copy
// 0.4.
Profile mapped_profile() {
  Profile p =
      paper_profile({.h2d = {Seconds{0}, PerByte{1e-9}, Seconds{0}}, .d2h = {Seconds{0}, PerByte{1e-9}, Seconds{0}}});
  const auto rate = [](double gb) { return Interval<Bandwidth>::exact(gigabytes_per_second(gb)); };
  const std::vector<ZeroCopyBeside> beside{{4_KiB, rate(0.25), rate(0.4)}};
  p.links[0].zero_copy = ZeroCopyModel{.read = {{4_KiB, rate(0.5)}},
                                       .write = {{4_KiB, rate(0.8)}},
                                       .both = {{4_KiB, rate(0.4)}},
                                       .read_beside_d2h = beside,
                                       .write_beside_h2d = beside};
  return p;
}

struct Bench {
  Schedule s;
  Bytes size{1'000'000};
  BufferId host = s.add_buffer({"host", Place::host(), MemoryKind::pinned, size * 10});
  BufferId gpu = s.add_buffer({"gpu", Place::gpu(), MemoryKind::device, size * 10});
  KernelId k = s.add_kernel("k");

  OpId kernel(StreamId stream, Seconds work, bool reads, bool writes) {
    Kernel kernel{.kernel = k, .items = 1, .work = work, .operands = {}, .flows = {}};
    if (reads) kernel.flows.push_back({.buffer = host, .mode = AccessMode::read, .bytes = size, .in_flight = 4_KiB});
    if (writes) kernel.flows.push_back({.buffer = host, .mode = AccessMode::write, .bytes = size, .in_flight = 4_KiB});
    return s.add({.what = kernel, .stream = stream, .after = {}});
  }
  OpId copy(StreamId stream, std::uint64_t times) {
    return s.add({.what = Copy{{host, size, size * times}, {gpu, size, size * times}}, .stream = stream, .after = {}});
  }
  double end_us(OpId op) const {
    return in_microseconds(simulate(s, mapped_profile(), {.held = true}).timeline.spans[op.index()].end);
  }
};

TEST(ZeroCopy, takes_its_bytes_over_the_rate_of_its_accesses) {
  Bench read;
  EXPECT_NEAR(read.end_us(read.kernel(read.s.add_stream("q"), Seconds{0}, true, false)), 2000, 1e-6);
  Bench write;
  EXPECT_NEAR(write.end_us(write.kernel(write.s.add_stream("q"), Seconds{0}, false, true)), 1250, 1e-6);
  Bench both;
  EXPECT_NEAR(both.end_us(both.kernel(both.s.add_stream("q"), Seconds{0}, true, true)), 2500, 1e-6)
      << "each way at what a kernel reaches that moves as much both ways";
}

TEST(ZeroCopy, moves_more_one_way_than_the_other_no_faster_than_that_way_alone) {
  Bench b;
  const OpId kernel = b.kernel(b.s.add_stream("q"), Seconds{0}, true, true);
  std::get<Kernel>(b.s.ops[kernel.index()].what).flows[0].bytes = b.size * 4;
  EXPECT_NEAR(b.end_us(kernel), 8000, 1e-6);
}

TEST(ZeroCopy, takes_its_work_where_that_is_longer) {
  Bench b;
  EXPECT_NEAR(b.end_us(b.kernel(b.s.add_stream("q"), milliseconds(7), true, true)), 7000, 1e-6);
}

TEST(ZeroCopy, shares_the_link_with_a_copy_while_both_last) {
  Bench b;
  const OpId kernel = b.kernel(b.s.add_stream("k"), Seconds{0}, false, true);
  const OpId copy = b.copy(b.s.add_stream("c"), 1);
  // The copy at 0.4 takes 2.5 ms; the kernel has moved 0.625 MB by then and goes on at 0.8.
  EXPECT_NEAR(b.end_us(copy), 2500, 1e-6);
  EXPECT_NEAR(b.end_us(kernel), 2500 + 375.0 / 0.8, 1e-6);
}

TEST(ZeroCopy, gives_the_link_back_to_the_copy_when_it_ends) {
  Bench b;
  const OpId kernel = b.kernel(b.s.add_stream("k"), Seconds{0}, false, true);
  const OpId copy = b.copy(b.s.add_stream("c"), 4);
  // The kernel at 0.25 takes 4 ms, in which the copy moves 1.6 of 4 MB.
  EXPECT_NEAR(b.end_us(kernel), 4000, 1e-6);
  EXPECT_NEAR(b.end_us(copy), 4000 + 2400, 1e-6);
}

TEST(ZeroCopy, has_half_of_the_link_beside_copies_the_same_way_and_so_have_they) {
  Bench b;
  const OpId kernel = b.kernel(b.s.add_stream("k"), Seconds{0}, true, false);
  const OpId copy = b.copy(b.s.add_stream("c"), 2);
  // Alone the kernel reads 0.5 GB/s, so that both have 0.25: in 4 ms 1 MB each, and the copy goes on at 1.
  EXPECT_NEAR(b.end_us(kernel), 4000, 1e-6);
  EXPECT_NEAR(b.end_us(copy), 5000, 1e-6);
}

TEST(ZeroCopy, lets_kernels_of_several_streams_take_turns) {
  Bench b;
  const OpId first = b.kernel(b.s.add_stream("a"), Seconds{0}, false, true);
  const OpId second = b.kernel(b.s.add_stream("b"), Seconds{0}, false, true);
  EXPECT_NEAR(b.end_us(first), 1250, 1e-6);
  EXPECT_NEAR(b.end_us(second), 2500, 1e-6);
}

TEST(ZeroCopy, that_was_measured_takes_what_was_measured_whatever_the_link_has) {
  Bench alone;
  const OpId by_itself = alone.kernel(alone.s.add_stream("q"), milliseconds(7), true, true);
  std::get<Kernel>(alone.s.ops[by_itself.index()].what).measured =
      MeasuredFlow{.alone = microseconds(300), .beside_copies = microseconds(900), .copies_beside = 3};
  EXPECT_NEAR(alone.end_us(by_itself), 300, 1e-6);

  Bench beside;
  const OpId kernel = beside.kernel(beside.s.add_stream("k"), Seconds{0}, false, true);
  std::get<Kernel>(beside.s.ops[kernel.index()].what).measured =
      MeasuredFlow{.alone = microseconds(300), .beside_copies = microseconds(900), .copies_beside = 3};
  const OpId copy = beside.copy(beside.s.add_stream("c"), 1);
  // For 0.9 ms the copy moves 0.3 MB, a third of what it moves by itself; the rest takes 0.7 ms.
  EXPECT_NEAR(beside.end_us(kernel), 900, 1e-6);
  EXPECT_NEAR(beside.end_us(copy), 900 + 700, 1e-6);
}

TEST(ZeroCopy, needs_figures_of_the_link_unless_it_was_measured) {
  Bench b;
  const OpId kernel = b.kernel(b.s.add_stream("q"), Seconds{0}, true, false);
  EXPECT_THROW(simulate(b.s, paper_profile({})), Unsupported);
  std::get<Kernel>(b.s.ops[kernel.index()].what).measured = MeasuredFlow{.alone = microseconds(300)};
  EXPECT_NO_THROW(simulate(b.s, paper_profile({})));
}

TEST(ZeroCopy, has_no_figures_for_memory_of_two_nodes_in_one_kernel) {
  Bench b;
  const OpId op = b.kernel(b.s.add_stream("q"), Seconds{0}, true, false);
  Profile p = mapped_profile();
  p.links.push_back(p.links.front());
  p.links.back().numa_node = 1;
  EXPECT_NO_THROW(simulate(b.s, p));
  const BufferId far = b.s.add_buffer({"far", Place::host(1), MemoryKind::pinned, b.size});
  std::get<Kernel>(b.s.ops[op.index()].what)
      .flows.push_back({.buffer = far, .mode = AccessMode::write, .bytes = b.size, .in_flight = 4_KiB});
  EXPECT_EQ(message_of<Unsupported>([&] { simulate(b.s, p); }),
            "the simulator has no figures for kernels that access memory of several NUMA nodes");
}

}  // namespace
}  // namespace shiplap
