// Kernels that access host memory, on a link whose figures are round.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/sim/simulate.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

// Copies at 1 GB/s; kernels read at 0.5 and write at 0.8 GB/s alone. Beside a copy each has 0.25, and the copy 0.4.
Profile mapped_profile() {
  Profile p =
      paper_profile({.h2d = {Seconds{0}, PerByte{1e-9}, Seconds{0}}, .d2h = {Seconds{0}, PerByte{1e-9}, Seconds{0}}});
  const auto rate = [](double gb) { return Interval<Bandwidth>::exact(gigabytes_per_second(gb)); };
  const std::vector<MappedBeside> beside{{1_MiB, 4_KiB, rate(0.25), rate(0.4)}};
  p.links[0].zero_copy = ZeroCopyModel{.read = {{4_KiB, rate(0.5)}},
                                       .write = {{4_KiB, rate(0.8)}},
                                       .both = {{4_KiB, rate(0.4)}},
                                       .read_beside_h2d = beside,
                                       .read_beside_d2h = beside,
                                       .write_beside_h2d = beside,
                                       .write_beside_d2h = beside};
  return p;
}

/// Microseconds of kB each way at 0.5 and 0.8 GB/s alone: xᵖ + yᵖ = 1 with the exponent that gives 0.4 GB/s to both.
double both_ways_us(double read_kb, double write_kb) {
  double p = 1;
  while (std::pow(0.4 / 0.5, p) + std::pow(0.4 / 0.8, p) > 1) p += 1e-6;
  return std::pow(std::pow(read_kb / 0.5, p) + std::pow(write_kb / 0.8, p), 1 / p);
}
/// Microseconds of the first reads and last writes of a kernel, of which a fifth of the shorter is shared.
double ends_us(double read_kb, double write_kb) {
  return read_kb / 0.5 + write_kb / 0.8 - 0.2 * std::min(read_kb / 0.5, write_kb / 0.8);
}
/// kB that a kernel of 1 MB writes with 4 KiB under way has on the link when its work ends.
constexpr double last_writes_kb = 4.096 * (0.2 + 0.8 * 0.004096);

struct Bench {
  Schedule s;
  Bytes size{1'000'000};
  BufferId host = s.add_buffer({"host", Place::host(), MemoryKind::pinned, size * 10});
  BufferId gpu = s.add_buffer({"gpu", Place::gpu(), MemoryKind::device, size * 10});
  KernelId k = s.add_kernel("k");

  OpId kernel(QueueId queue, Seconds work, bool reads, bool writes) {
    Kernel kernel{.kernel = k, .items = 1, .work = work, .operands = {}, .flows = {}};
    if (reads) kernel.flows.push_back({.buffer = host, .mode = AccessMode::read, .bytes = size, .in_flight = 4_KiB});
    if (writes) kernel.flows.push_back({.buffer = host, .mode = AccessMode::write, .bytes = size, .in_flight = 4_KiB});
    return s.add({.what = kernel, .queue = queue, .after = {}});
  }
  OpId copy(QueueId queue, std::uint64_t times) {
    return s.add({.what = Copy{{host, size, size * times}, {gpu, size, size * times}}, .queue = queue, .after = {}});
  }
  double end_us(OpId op) const {
    return in_microseconds(simulate(s, mapped_profile(), {.held = true}).timeline.spans[op.index()].end);
  }
};

TEST(KernelFlow, takes_its_bytes_over_the_rate_of_its_accesses) {
  Bench read;
  EXPECT_NEAR(read.end_us(read.kernel(read.s.add_queue("q"), Seconds{0}, true, false)), 2000, 1e-6);
  Bench write;
  EXPECT_NEAR(write.end_us(write.kernel(write.s.add_queue("q"), Seconds{0}, false, true)), 1250, 1e-6);
  Bench both;
  // The first reads come before anything is written, the last writes when nothing is read any more.
  EXPECT_NEAR(both.end_us(both.kernel(both.s.add_queue("q"), Seconds{0}, true, true)),
              ends_us(4.096, last_writes_kb) + both_ways_us(1000 - 4.096, 1000 - last_writes_kb), 0.01);
}

TEST(KernelFlow, ends_later_beside_copies_to_the_gpu_where_it_writes) {
  Profile p = mapped_profile();
  p.links[0].zero_copy->write_end_beside_h2d = Interval<Seconds>::exact(microseconds(300));
  // Beside a copy of 1 ms a byte a ns, or two of half of it each behind a gap as long; 1 MB is written in 4 ms then.
  const auto ends_us = [&](AccessMode mode, std::uint64_t bytes, double gap_us) {
    for (CopyCost& cost : p.links[0].h2d.costs) cost.gap = Interval<Seconds>::exact(microseconds(gap_us));
    Schedule s;
    const Bytes size{100'000'000};
    const BufferId host = s.add_buffer({"host", Place::host(), MemoryKind::pinned, size});
    const BufferId gpu = s.add_buffer({"gpu", Place::gpu(), MemoryKind::device, size});
    const KernelId k = s.add_kernel("k");
    const QueueId copies = s.add_queue("copies");
    for (int i = 0; i < 40; ++i)
      s.add({.what = Copy{{host, Bytes{0}, Bytes{500'000}}, {gpu, Bytes{0}, Bytes{500'000}}},
             .queue = copies,
             .after = {}});
    const OpId kernel =
        s.add({.what = Kernel{.kernel = k,
                              .items = 1,
                              .operands = {},
                              .flows = {{.buffer = host, .mode = mode, .bytes = Bytes{bytes}, .in_flight = 4_KiB}}},
               .queue = s.add_queue("kernels"),
               .after = {}});
    return in_microseconds(simulate(s, p, {.held = true}).timeline.spans[kernel.index()].end);
  };
  const auto longer_us = [&](AccessMode mode, std::uint64_t bytes, double gap_us) {
    const double with = ends_us(mode, bytes, gap_us);
    const auto end = std::exchange(p.links[0].zero_copy->write_end_beside_h2d, std::nullopt);
    const double without = ends_us(mode, bytes, gap_us);
    p.links[0].zero_copy->write_end_beside_h2d = end;
    return with - without;
  };
  EXPECT_NEAR(longer_us(AccessMode::write, 1'000'000, 0), 300, 1e-6);
  EXPECT_NEAR(longer_us(AccessMode::write, 80'000, 0), 100, 1e-6) << "no more than the bytes take alone, at 0.8 GB/s";
  EXPECT_NEAR(longer_us(AccessMode::read, 1'000'000, 0), 0, 1e-9);
}

/// Copies of 500 kB to the GPU in one queue, and a kernel that writes 1 MB with 4 KiB under way in another.
struct Beside {
  Profile profile = mapped_profile();
  Schedule s;
  OpId kernel;
  Beside() {
    const Bytes size{1'000'000};
    const BufferId host = s.add_buffer({"host", Place::host(), MemoryKind::pinned, size});
    const BufferId gpu = s.add_buffer({"gpu", Place::gpu(), MemoryKind::device, size});
    const KernelId k = s.add_kernel("k");
    const QueueId copies = s.add_queue("copies");
    for (int i = 0; i < 6; ++i)
      s.add({.what = Copy{{host, Bytes{0}, Bytes{500'000}}, {gpu, Bytes{0}, Bytes{500'000}}},
             .queue = copies,
             .after = {}});
    kernel = s.add(
        {.what = Kernel{.kernel = k,
                        .items = 1,
                        .operands = {},
                        .flows = {{.buffer = host, .mode = AccessMode::write, .bytes = size, .in_flight = 4_KiB}}},
         .queue = s.add_queue("kernels"),
         .after = {}});
  }
  std::vector<Span> spans() const { return simulate(s, profile, {.held = true}).timeline.spans; }
};

TEST(KernelFlow, leaves_copies_a_gap_until_it_ends) {
  Beside beside;
  beside.profile.links[0].zero_copy->write_beside_h2d[0].copy_gap = Interval<Seconds>::exact(microseconds(400));
  const std::vector<Span> spans = beside.spans();
  const Seconds end = spans[beside.kernel.index()].end;
  int beside_it = 0;
  for (std::size_t c = 0; c < 5; ++c) {
    const double gap = in_microseconds(spans[c + 1].start - spans[c].end);
    if (spans[c].end + microseconds(400) < end) {
      EXPECT_NEAR(gap, 400, 1e-6) << c;
      ++beside_it;
    } else if (spans[c].end < end) {
      EXPECT_NEAR(in_microseconds(spans[c + 1].start - end), 0, 1e-6) << "nothing of it is under way any more";
    } else {
      EXPECT_LT(gap, 1) << "the link's own";
    }
  }
  EXPECT_GE(beside_it, 1);
}

TEST(KernelFlow, goes_at_its_own_rate_between_copies) {
  Beside beside;
  auto& link = *beside.profile.links[0].zero_copy;
  link.write_beside_h2d[0].copy_gap = Interval<Seconds>::exact(microseconds(300));
  link.write_end_beside_h2d = Interval<Seconds>::exact(microseconds(200));
  const std::vector<Span> spans = beside.spans();
  const Span kernel = spans[beside.kernel.index()];
  // 1 MB takes 1.25 ms alone, 4 ms and the end while a copy moves.
  double done = 0;
  Seconds at = kernel.start;
  for (std::size_t c = 0; c < 6; ++c) {
    const Seconds from = std::clamp(spans[c].start, kernel.start, kernel.end);
    const Seconds to = std::clamp(spans[c].end, kernel.start, kernel.end);
    done += in_microseconds(from - at) / 1250 + in_microseconds(to - from) / 4200;
    at = to;
  }
  done += in_microseconds(kernel.end - at) / 1250;
  EXPECT_NEAR(done, 1, 1e-9);
}

TEST(KernelFlow, reads_where_its_data_are_before_it_has_the_first_of_them) {
  Profile p = mapped_profile();
  p.links[0].zero_copy->read = {{Bytes{1000}, Interval<Bandwidth>::exact(gigabytes_per_second(1))},
                                {Bytes{4000}, Interval<Bandwidth>::exact(gigabytes_per_second(4))},
                                {Bytes{8000}, Interval<Bandwidth>::exact(gigabytes_per_second(4))}};
  const auto end_us = [&](std::uint64_t in_turn) {
    Schedule s;
    const BufferId host = s.add_buffer({"host", Place::host(), MemoryKind::pinned, Bytes{8'000'000}});
    Kernel kernel{.kernel = s.add_kernel("k"), .items = 1, .operands = {}, .flows = {}};
    kernel.accesses_in_turn = in_turn;
    kernel.flows = {{.buffer = host, .bytes = Bytes{8'000'000}, .in_flight = Bytes{4000}}};
    s.add({.what = kernel, .queue = s.add_queue("q"), .after = {}});
    return in_microseconds(simulate(s, p, {.held = true}).timeline.spans[0].end);
  };
  EXPECT_NEAR(end_us(2) - end_us(1), 1, 1e-6) << "1000 bytes at 1 GB/s take as long as one access";
}

TEST(KernelFlow, waits_for_translations_where_kernels_read_more_than_is_kept) {
  // 8 MB in reads of 4 KB at once: 1 µs an access. Beyond 10 MB an access takes 0.25 ns longer for each of its bytes.
  Profile p = mapped_profile();
  const auto rate = [](double gb) { return Interval<Bandwidth>::exact(gigabytes_per_second(gb)); };
  ZeroCopyModel& link = *p.links[0].zero_copy;
  link.read = {{Bytes{1000}, rate(1)}, {Bytes{4000}, rate(4)}, {Bytes{16000}, rate(16)}};
  link.far = FarReads{.beyond = Bytes{10'000'000}, .per_byte = Interval<PerByte>::exact(PerByte{0.25e-9})};
  const auto end_us = [&](std::uint64_t kernels, AccessMode mode, bool again = false) {
    Schedule s;
    BufferId host = s.add_buffer({"host", Place::host(), MemoryKind::pinned, Bytes{8'000'000}});
    const KernelId k = s.add_kernel("k");
    const QueueId queue = s.add_queue("q");
    for (std::uint64_t i = 0; i < kernels; ++i) {
      if (i > 0 && !again) host = s.add_buffer({"other", Place::host(), MemoryKind::pinned, Bytes{8'000'000}});
      s.add({.what =
                 Kernel{.kernel = k,
                        .items = 1,
                        .operands = {},
                        .flows = {{.buffer = host, .mode = mode, .bytes = Bytes{8'000'000}, .in_flight = Bytes{4000}}}},
             .queue = queue,
             .after = {}});
    }
    return in_microseconds(simulate(s, p, {.held = true}).timeline.spans[0].end);
  };
  // Its first bytes' way is as long as an access or as what of it the link is full with.
  const double near = end_us(1, AccessMode::read);
  EXPECT_NEAR(near, 2000, 5);
  EXPECT_NEAR(end_us(2, AccessMode::read) - near, 2000, 5) << "1 µs more an access of 4 KB";
  EXPECT_NEAR(end_us(2, AccessMode::read, true), near, 1e-6) << "the same memory twice";
  EXPECT_NEAR(end_us(2, AccessMode::write), end_us(1, AccessMode::write), 1e-6) << "writes do not wait";
}

// A thread that asks for its next data while it works on those it has, access by access: `rows` rows of `accesses`.
double ahead_us(unsigned rows, unsigned accesses, double latency, double work) {
  double now = 0;
  for (unsigned row = 0; row < rows; ++row) {
    double arrives = now + latency;
    for (unsigned a = 0; a < accesses; ++a) {
      const double begins = std::max(now, arrives);
      arrives = begins + latency;  // the next is asked for first
      now = begins + work;
    }
  }
  return now;
}

TEST(KernelFlow, of_threads_that_ask_ahead_takes_what_access_after_access_takes) {
  // A latency of 2 us however much is under way: 4096 B at 2.048 GB/s, twice as much at twice the rate.
  Profile p = mapped_profile();
  const auto rate = [](double gb) { return Interval<Bandwidth>::exact(gigabytes_per_second(gb)); };
  p.links[0].zero_copy->read = {{1_KiB, rate(0.512)}, {4_KiB, rate(2.048)}, {8_KiB, rate(4.096)}};
  const double latency = 2;
  for (const double work : {0.25, 1.0, 2.0, 5.0})
    for (const unsigned accesses : {1u, 2u, 7u}) {
      const unsigned rows = 5;
      Bench b;
      Kernel kernel{.kernel = b.k,
                    .items = 1,
                    .thread_work = microseconds(work * rows * accesses),
                    .accesses_ahead = accesses,
                    .operands = {},
                    .flows = {}};
      kernel.flows.push_back(
          {.buffer = b.host, .mode = AccessMode::read, .bytes = 4_KiB * (rows * accesses), .in_flight = 4_KiB});
      const OpId op = b.s.add({.what = kernel, .queue = b.s.add_queue("q"), .after = {}});
      const double end = in_microseconds(simulate(b.s, p, {.held = true}).timeline.spans[op.index()].end);
      EXPECT_NEAR(end / ahead_us(rows, accesses, latency, work), 1, 1e-3) << work << " us, " << accesses;
    }
}

TEST(KernelFlow, takes_what_was_measured_both_ways_even_where_one_way_after_the_other_would_be_faster) {
  // 1 MB each way alone take 2 and 1.25 ms; at 0.25 GB/s both take 4 ms.
  Profile p = mapped_profile();
  p.links[0].zero_copy->both.front().rate = Interval<Bandwidth>::exact(gigabytes_per_second(0.25));
  Bench b;
  b.kernel(b.s.add_queue("q"), Seconds{0}, true, true);
  EXPECT_NEAR(in_microseconds(simulate(b.s, p, {.held = true}).timeline.makespan), 4000, 0.01);
}

TEST(KernelFlow, reads_most_of_a_launch_before_it_writes_where_all_of_it_is_under_way_at_once) {
  Bench b;
  Kernel& kernel = std::get<Kernel>(b.s.ops[b.kernel(b.s.add_queue("q"), Seconds{0}, true, true).index()].what);
  for (Flow& flow : kernel.flows) flow.in_flight = b.size;
  EXPECT_NEAR(in_microseconds(simulate(b.s, mapped_profile(), {.held = true}).timeline.makespan), ends_us(1000, 1000),
              1e-6);
}

TEST(KernelFlow, has_the_accesses_of_a_thread_to_several_arrays_under_way_together) {
  // Latency-bound: 4 KiB under way reach 0.5 GB/s and 8 KiB twice that, so that two arrays take no longer than one.
  Profile p = mapped_profile();
  const auto rate = [](double gb) { return Interval<Bandwidth>::exact(gigabytes_per_second(gb)); };
  p.links[0].zero_copy->read = {{4_KiB, rate(0.5)}, {8_KiB, rate(1)}, {1_MiB, rate(128)}};
  Bench b;
  Kernel& kernel = std::get<Kernel>(b.s.ops[b.kernel(b.s.add_queue("q"), Seconds{0}, true, false).index()].what);
  kernel.flows.push_back(kernel.flows.front());
  EXPECT_NEAR(in_microseconds(simulate(b.s, p, {.held = true}).timeline.makespan), 2000, 0.1);
}

TEST(KernelFlow, moves_more_one_way_than_the_other_at_rates_between_both_the_same_and_one_way_alone) {
  Bench b;
  Kernel& kernel = std::get<Kernel>(b.s.ops[b.kernel(b.s.add_queue("q"), Seconds{0}, true, true).index()].what);
  kernel.flows.front().bytes = b.size * 2;
  EXPECT_NEAR(in_microseconds(simulate(b.s, mapped_profile(), {.held = true}).timeline.makespan),
              ends_us(4.096, last_writes_kb) + both_ways_us(2000 - 4.096, 1000 - last_writes_kb), 0.01);
}

TEST(KernelFlow, takes_its_work_where_that_is_longer) {
  // What nothing hides: the first 4 KiB of reads and, of the 4 KiB of writes that it may have under way when its work
  // ends, a fifth and little more, as it has moved 1 MB before.
  Bench b;
  EXPECT_NEAR(b.end_us(b.kernel(b.s.add_queue("q"), milliseconds(7), true, true)),
              7000 + ends_us(4.096, last_writes_kb), 1e-6);
}

TEST(KernelFlow, shares_the_link_with_a_copy_while_both_last) {
  Bench b;
  const OpId kernel = b.kernel(b.s.add_queue("k"), Seconds{0}, false, true);
  const OpId copy = b.copy(b.s.add_queue("c"), 1);
  // The copy at 0.4 takes 2.5 ms; the kernel has moved 0.625 MB by then and goes on at 0.8.
  EXPECT_NEAR(b.end_us(copy), 2500, 1e-6);
  EXPECT_NEAR(b.end_us(kernel), 2500 + 375.0 / 0.8, 1e-6);
}

TEST(KernelFlow, gives_the_link_back_to_the_copy_when_it_ends) {
  Bench b;
  const OpId kernel = b.kernel(b.s.add_queue("k"), Seconds{0}, false, true);
  const OpId copy = b.copy(b.s.add_queue("c"), 4);
  // The kernel at 0.25 takes 4 ms, in which the copy moves 1.6 of 4 MB.
  EXPECT_NEAR(b.end_us(kernel), 4000, 1e-6);
  EXPECT_NEAR(b.end_us(copy), 4000 + 2400, 1e-6);
}

TEST(KernelFlow, leaves_a_copy_alone_when_its_own_work_is_the_limit) {
  Profile p = mapped_profile();
  // Little under way leaves the copy its full rate.
  const auto rate = [](double gb) { return Interval<Bandwidth>::exact(gigabytes_per_second(gb)); };
  p.links[0].zero_copy->write = {{Bytes{512}, rate(0.1)}, {4_KiB, rate(0.8)}};
  p.links[0].zero_copy->write_beside_h2d = {{1_MiB, Bytes{512}, rate(0.1), rate(1)},
                                            {1_MiB, 4_KiB, rate(0.25), rate(0.4)}};
  Bench b;
  b.kernel(b.s.add_queue("k"), milliseconds(100), false, true);  // 0.01 GB/s
  const OpId copy = b.copy(b.s.add_queue("c"), 2);
  const Timeline t = simulate(b.s, p, {.held = true}).timeline;
  EXPECT_NEAR(in_microseconds(t.spans[copy.index()].end), 2000, 1e-6);
}

TEST(KernelFlow, lets_kernels_of_several_queues_take_turns) {
  Bench b;
  const OpId first = b.kernel(b.s.add_queue("a"), Seconds{0}, false, true);
  const OpId second = b.kernel(b.s.add_queue("b"), Seconds{0}, false, true);
  EXPECT_NEAR(b.end_us(first), 1250, 1e-6);
  EXPECT_NEAR(b.end_us(second), 2500, 1e-6);
}

/// A kernel of 1 MB whose threads take `thread_work` for their shares, 5 µs of it for each access to device memory.
double with_threads_us(Profile p, Bytes in_flight, Seconds thread_work) {
  p.gpus[0].memory_latency = Interval<Seconds>::exact(microseconds(5));
  Bench b;
  auto& kernel = std::get<Kernel>(b.s.ops[b.kernel(b.s.add_queue("q"), Seconds{0}, true, false).index()].what);
  kernel.thread_work = thread_work;
  kernel.flows[0].in_flight = in_flight;
  return in_microseconds(simulate(b.s, p, {.held = true}).timeline.makespan);
}

TEST(KernelFlow, lets_threads_wait_for_host_memory_beyond_what_device_memory_makes_them_wait) {
  // 4 KiB under way at 0.5 GB/s: an access takes 8.192 µs. 1 MB are 244.14 accesses.
  EXPECT_NEAR(with_threads_us(mapped_profile(), 4_KiB, milliseconds(3)), 3000 + 1e6 / 4096 * 3.192, 0.5);
}

TEST(KernelFlow, keeps_the_link_busy_while_other_threads_work) {
  // 4 KiB under way are enough for 0.5 GB/s, and of 8 KiB 2 KB are with threads that work for 4 µs.
  Profile p = mapped_profile();
  p.links[0].zero_copy->read.push_back(p.links[0].zero_copy->read.front());
  p.links[0].zero_copy->read.back().in_flight = 64_KiB;
  const double accesses = 1e6 / 8192;
  constexpr double first_way = 8.192;
  EXPECT_NEAR(with_threads_us(p, 8_KiB, microseconds(accesses * (5 + 4))), first_way + 2000, 1e-6);
  // With 20 µs of work the link is not busy, and an access takes what it takes alone.
  EXPECT_NEAR(with_threads_us(p, 8_KiB, microseconds(accesses * (5 + 20))), first_way + accesses * (20 + 8.192), 0.5);
}

TEST(KernelFlow, that_reads_waits_for_its_first_bytes_where_the_link_is_full_and_for_its_launch) {
  // As many reads as are under way, all asked for at once: the first comes back after 2 us, the others at 2 GB/s.
  const auto all_at_once_us = [](double reads) {
    double arrives = 0;
    double link_free = 2;
    for (double r = 0; r < reads; ++r) arrives = link_free += 4.096 / 2;
    return arrives;
  };
  Profile p = mapped_profile();
  const auto rate = [](double gb) { return Interval<Bandwidth>::exact(gigabytes_per_second(gb)); };
  p.links[0].zero_copy->read = {{1_KiB, rate(0.512)}, {4_KiB, rate(2)}, {64_KiB, rate(2)}};
  Bench b;
  Kernel kernel{.kernel = b.k, .items = 1, .operands = {}, .flows = {}};
  kernel.flows.push_back({.buffer = b.host, .mode = AccessMode::read, .bytes = 64_KiB, .in_flight = 64_KiB});
  const OpId op = b.s.add({.what = kernel, .queue = b.s.add_queue("q"), .after = {}});
  const auto end_us = [&] { return in_microseconds(simulate(b.s, p, {.held = true}).timeline.spans[op.index()].end); };
  EXPECT_NEAR(end_us(), all_at_once_us(16), 0.01);
  p.links[0].zero_copy->launch = Interval<Seconds>::exact(microseconds(0.9));
  EXPECT_NEAR(end_us(), all_at_once_us(16) + 0.9, 0.01);
}

TEST(KernelFlow, that_reads_presses_no_harder_when_it_has_a_little_more_work) {
  // The more a kernel has under way, the less it leaves to copies.
  Profile p = mapped_profile();
  const auto rate = [](double gb) { return Interval<Bandwidth>::exact(gigabytes_per_second(gb)); };
  ZeroCopyModel& link = *p.links[0].zero_copy;
  link.read = {{4_KiB, rate(0.5)}, {64_KiB, rate(4)}, {1_MiB, rate(4)}};
  link.read_beside_d2h = {
      {1_MiB, 4_KiB, rate(0.5), rate(1)}, {1_MiB, 64_KiB, rate(3), rate(0.7)}, {1_MiB, 1_MiB, rate(4), rate(0.3)}};
  // 1 MB at 4 GB/s is 250 µs: the work goes across it, and every thread does its part of it.
  double last = 0;
  for (double work_us = 150; work_us <= 400; work_us += 1) {
    Bench b;
    auto& kernel =
        std::get<Kernel>(b.s.ops[b.kernel(b.s.add_queue("k"), microseconds(work_us), true, false).index()].what);
    kernel.thread_work = microseconds(work_us);
    kernel.flows[0].in_flight = 1_MiB;
    kernel.flows[0].busy = 4_KiB;
    const OpId copy = b.s.add(
        {.what = Copy{{b.gpu, Bytes{0}, b.size}, {b.host, b.size, b.size}}, .queue = b.s.add_queue("c"), .after = {}});
    const double now = in_microseconds(simulate(b.s, p, {.held = true}).timeline.spans[copy.index()].end);
    if (last > 0) {
      EXPECT_NEAR(now / last, 1, 0.02) << work_us;
    }
    last = now;
  }
}

TEST(KernelFlow, hides_no_more_of_its_first_reads_than_keeps_the_gpu_busy) {
  Bench b;
  const OpId kernel = b.kernel(b.s.add_queue("q"), milliseconds(3), true, false);
  std::get<Kernel>(b.s.ops[kernel.index()].what).flows[0].busy = 1_KiB;
  EXPECT_NEAR(b.end_us(kernel), 3000 + 1.5 * 1.024 / 0.5, 1e-6);
}

TEST(KernelFlow, needs_figures_of_the_link) {
  Bench b;
  b.kernel(b.s.add_queue("q"), Seconds{0}, true, false);
  EXPECT_THROW(simulate(b.s, paper_profile({})), Unsupported);
}

}  // namespace
}  // namespace shiplap
