#include "tests/support/planted_profile.hpp"

#include <algorithm>
#include <tuple>

#include "tests/support/intervals.hpp"
#include "tests/support/planted_blocks.hpp"

namespace shiplap {
namespace {

Interval<PerByte> more_per_byte(double nanoseconds) { return Interval<PerByte>::exact(PerByte{nanoseconds * 1e-9}); }
CopyCost cost(Bytes size, double latency_overhead_us, double gap_us) {
  return {.size = size, .latency_overhead = us(latency_overhead_us), .gap = us(gap_us)};
}

HandoverModel handovers() {
  return {
      .h2d_same_stream = us(2.7), .h2d_other_stream = us(4.1), .d2h_same_stream = us(3.2), .d2h_other_stream = us(4.2)};
}
HandoverModel no_handovers() {
  return {.h2d_same_stream = us(0), .h2d_other_stream = us(0), .d2h_same_stream = us(0), .d2h_other_stream = us(0)};
}

ZeroCopyModel zero_copy() {
  ZeroCopyModel model;
  const auto blocks = [](std::uint64_t count) { return Bytes{count * 256 * 16}; };
  model.read = {{blocks(1), gbs(3.1)}, {blocks(4), gbs(12)}, {blocks(16), gbs(45)}, {blocks(32), gbs(51)}};
  model.write = {{blocks(1), gbs(20)}, {blocks(4), gbs(50)}, {blocks(16), gbs(52)}};
  model.both = {{blocks(1), gbs(2.9)}, {blocks(16), gbs(37)}, {blocks(132), gbs(42)}};
  const auto beside = [&](std::initializer_list<std::tuple<std::uint64_t, double, double>> rows) {
    std::vector<ZeroCopyBeside> table;
    for (const auto& [count, kernel, copy] : rows) table.push_back({blocks(count), gbs(kernel), gbs(copy)});
    return table;
  };
  model.read_beside_d2h = beside({{1, 2.4, 53}, {32, 44, 43}, {1056, 48, 5}});
  model.write_beside_h2d = beside({{1, 19, 53}, {16, 46, 46}, {1056, 49, 6}});
  return model;
}

DirectionModel same_for_all_sizes(const PaperDirection& direction) {
  return {.per_byte = Interval<PerByte>::exact(direction.per_byte),
          .costs = {{.size = 1_B,
                     .latency_overhead = Interval<Seconds>::exact(direction.latency_overhead),
                     .gap = Interval<Seconds>::exact(direction.gap)}},
          .duplex = std::nullopt};
}

PageableModel pageable() {
  return {.h2d = {{4_KiB, us(3.3)}, {1_MiB, us(80)}, {64_MiB, us(6000)}},
          .d2h = {{4_KiB, us(8)}, {1_MiB, us(100)}, {64_MiB, us(4000)}},
          .both = {{4_KiB, us(17)}, {64_MiB, us(8500)}}};
}

ManagedModel managed() {
  return {.prefetch_h2d = {{64_KiB, us(71)}, {32_MiB, us(760)}},
          .prefetch_d2h = {{64_KiB, us(82)}, {32_MiB, us(1900)}},
          .demand_h2d = {{64_KiB, us(44)}, {32_MiB, us(3000)}},
          .demand_d2h = {{1, gbs(4)}, {4, gbs(9)}}};
}

HostModel host() {
  const auto row = [](unsigned threads, Bytes rings, double gb_per_second) {
    return RateThroughRings{.threads = threads, .rings = rings, .rate = gbs(gb_per_second)};
  };
  HostModel model{.copy = {{1, gbs(10)}, {8, gbs(34)}},
                  .staging = {row(1, 8_MiB, 11), row(2, 16_MiB, 20), row(4, 8_MiB, 36), row(4, 128_MiB, 30),
                              row(16, 32_MiB, 60), row(16, 512_MiB, 40)},
                  .written = {{64_KiB, us(4)}, {256_KiB, us(14)}, {1_MiB, us(20)}},
                  .calls = {}};
  model.calls["pin"] = {{64_KiB, us(50)}, {64_MiB, us(2000)}};
  model.calls["unpin"] = {{64_KiB, us(30)}, {64_MiB, us(900)}};
  model.calls["flush"] = {{64_KiB, us(9)}, {64_MiB, us(9000)}};
  for (const char* kind : {"pageable", "pinned", "driver-pinned", "managed", "device"}) {
    model.calls[std::string("allocate ") + kind] = {{64_KiB, us(60)}, {64_MiB, us(7000)}};
    model.calls[std::string("release ") + kind] = {{64_KiB, us(20)}, {64_MiB, us(1000)}};
  }
  model.calls["create stream"] = {{1_B, us(14)}};
  model.calls["destroy stream"] = {{1_B, us(6)}};
  return model;
}

}  // namespace

Profile planted_profile() {
  Profile profile;
  profile.name = "planted";
  profile.origin = Origin::planted;
  profile.source = "invented for tests; like an H200 in size, measured nowhere";
  profile.conditions = {{"host.cpu", "invented"}};
  profile.gpus = {{.name = "planted GPU",
                   .memory = 141_GiB,
                   .sm_count = 132,
                   .copy_engines = 2,
                   .engine_order = EngineOrder::readiness,
                   .stream_groups = 4,
                   .implicit_sync = ImplicitSync::none,
                   .concurrent_kernels = true,
                   .launch_latency = us(2.3),
                   .kernel_gap = us(1.1),
                   .handovers = handovers(),
                   .resident_threads = Estimate::exact(132 * 2048),
                   .memory_bandwidth = gbs(4300),
                   .copy_bandwidth = gbs(2100),
                   .flop_rate = Estimate::exact(60e12)}};
  profile.links = {{.numa_node = 0,
                    .gpu = 0,
                    .h2d = {.per_byte = per_byte_at(55),
                            .costs = {cost(1_B, 4.6, 2.6), cost(64_KiB, 4.8, 2.65), cost(1_MiB, 5.1, 2.75),
                                      cost(16_MiB, 5.5, 2.9), cost(256_MiB, 5.8, 3.1), cost(1_GiB, 6.0, 3.2)},
                            .duplex = DuplexModel{.per_byte = per_byte_at(50.8),
                                                  .gaps = {{.size = 1_MiB, .gap = us(3.1)},
                                                           {.size = 4_MiB, .gap = us(4.4)},
                                                           {.size = 256_MiB, .gap = us(4.6)}}},
                            .batched = {{.size = 64_KiB, .gap = us(0.2)}, {.size = 4_MiB, .gap = us(0.3)}}},
                    .d2h = {.per_byte = per_byte_at(54),
                            .costs = {cost(1_B, 4.65, 2.62), cost(64_KiB, 4.85, 2.7), cost(1_MiB, 5.2, 2.8),
                                      cost(16_MiB, 5.4, 2.95), cost(256_MiB, 5.7, 3.05), cost(1_GiB, 5.9, 3.15)},
                            .duplex = DuplexModel{.per_byte = per_byte_at(50.5),
                                                  .gaps = {{.size = 1_MiB, .gap = us(3.15)},
                                                           {.size = 4_MiB, .gap = us(4.45)},
                                                           {.size = 256_MiB, .gap = us(4.65)}}},
                            .batched = {{.size = 64_KiB, .gap = us(0.25)}, {.size = 4_MiB, .gap = us(0.35)}}},
                    .waiting_streams = WaitingStreams{.h2d = {us(1.9), more_per_byte(0.0006)},
                                                      .d2h = {us(1.2), more_per_byte(0.0003)},
                                                      .duplex = {us(1.6), more_per_byte(0.0008)}},
                    .zero_copy = zero_copy(),
                    .pageable = pageable(),
                    .managed = managed(),
                    .blocks = planted_blocks()}};
  profile.host = host();
  profile.submission = {.copy = us(1.9),
                        .launch = us(2.1),
                        .event_record = us(0.35),
                        .event_wait = us(0.4),
                        .batched_copy = us(0.15),
                        .graph_launch = us(4.3),
                        .graph_op = us(0.45)};
  return profile;
}

Profile paper_profile(const PaperOptions& options) {
  Profile profile;
  profile.name = "paper";
  profile.origin = Origin::planted;
  profile.source = "the papers' idea of a GPU, for tests";
  profile.gpus = {{.name = "paper GPU",
                   .memory = 64_GiB,
                   .sm_count = 14,
                   .copy_engines = options.copy_engines,
                   .engine_order = options.engine_order,
                   .implicit_sync = options.implicit_sync,
                   .concurrent_kernels = false,
                   .launch_latency = us(0),
                   .kernel_gap = us(0),
                   .handovers = no_handovers(),
                   .resident_threads = Estimate::exact(14 * 2048),
                   .memory_bandwidth = gbs(230),
                   .copy_bandwidth = std::nullopt,
                   .flop_rate = Estimate::exact(4e12)}};
  profile.links = {
      {.numa_node = 0, .gpu = 0, .h2d = same_for_all_sizes(options.h2d), .d2h = same_for_all_sizes(options.d2h)}};
  profile.submission = {.copy = us(0), .launch = us(0), .event_record = us(0), .event_wait = us(0)};
  const std::string reason = "the papers' equations know one rate for each direction";
  profile.missing = {
      {"links[0].h2d.duplex", reason},     {"links[0].d2h.duplex", reason},     {"links[0].waiting_streams", reason},
      {"links[0].zero_copy", reason},      {"links[0].pageable", reason},       {"links[0].managed", reason},
      {"links[0].blocks", reason},         {"gpus[0].copy_bandwidth", reason},  {"host", reason},
      {"gpus[0].stream_groups", reason},   {"links[0].h2d.batched", reason},    {"links[0].d2h.batched", reason},
      {"submission.batched_copy", reason}, {"submission.graph_launch", reason}, {"submission.graph_op", reason}};
  return profile;
}

}  // namespace shiplap
