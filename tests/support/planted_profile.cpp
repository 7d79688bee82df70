#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

Interval<Seconds> us(double value) { return Interval<Seconds>::exact(microseconds(value)); }
Interval<PerByte> rate(double gb_per_second) {
  return Interval<PerByte>::exact(per_byte(gigabytes_per_second(gb_per_second)));
}
CopyCost cost(Bytes size, double latency_overhead_us, double gap_us) {
  return {.size = size, .latency_overhead = us(latency_overhead_us), .gap = us(gap_us)};
}

HandoverModel handovers() {
  return {.h2d_same_queue = {us(2.7), us(3.1)},
          .h2d_other_queue = {us(4.1), us(4.7)},
          .d2h_same_queue = {us(3.2), us(4.3)},
          .d2h_other_queue = {us(4.2), us(7.4)},
          .kernels = {us(0.4), us(3.2)}};
}
HandoverModel no_handovers() {
  HandoverModel model;
  for (const auto& [name, member] : handover_names) model.*member = {us(0), us(0)};
  return model;
}

DirectionModel same_for_all_sizes(const PaperDirection& direction) {
  return {.per_byte = Interval<PerByte>::exact(direction.per_byte),
          .costs = {{.size = 1_B,
                     .latency_overhead = Interval<Seconds>::exact(direction.latency_overhead),
                     .gap = Interval<Seconds>::exact(direction.gap)}},
          .duplex = std::nullopt};
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
                   .multiprocessors = 132,
                   .copy_engines = 2,
                   .engine_order = EngineOrder::readiness,
                   .implicit_sync = ImplicitSync::none,
                   .concurrent_kernels = true,
                   .launch_latency = us(2.3),
                   .kernel_gap = us(1.1),
                   .handovers = handovers(),
                   .resident_threads = Estimate::exact(132 * 2048),
                   .memory_bandwidth = Interval<Bandwidth>::exact(gigabytes_per_second(4300)),
                   .flop_rate = Estimate::exact(60e12)}};
  profile.links = {{.numa_node = 0,
                    .gpu = 0,
                    .h2d = {.per_byte = rate(55),
                            .costs = {cost(1_B, 4.6, 2.6), cost(64_KiB, 4.8, 2.65), cost(1_MiB, 5.1, 2.75),
                                      cost(16_MiB, 5.5, 2.9), cost(256_MiB, 5.8, 3.1), cost(1_GiB, 6.0, 3.2)},
                            .duplex = DuplexModel{.per_byte = rate(50.8),
                                                  .gaps = {{.size = 1_MiB, .gap = us(3.1)},
                                                           {.size = 4_MiB, .gap = us(4.4)},
                                                           {.size = 256_MiB, .gap = us(4.6)}}}},
                    .d2h = {.per_byte = rate(54),
                            .costs = {cost(1_B, 4.65, 2.62), cost(64_KiB, 4.85, 2.7), cost(1_MiB, 5.2, 2.8),
                                      cost(16_MiB, 5.4, 2.95), cost(256_MiB, 5.7, 3.05), cost(1_GiB, 5.9, 3.15)},
                            .duplex = DuplexModel{.per_byte = rate(50.5),
                                                  .gaps = {{.size = 1_MiB, .gap = us(3.15)},
                                                           {.size = 4_MiB, .gap = us(4.45)},
                                                           {.size = 256_MiB, .gap = us(4.65)}}}},
                    .waiting_queues = WaitingQueues{.h2d = Estimate::exact(1.03),
                                                    .h2d_duplex = Estimate::exact(1.04),
                                                    .d2h = Estimate::exact(1.01),
                                                    .d2h_duplex = Estimate::exact(1.02)}}};
  profile.submission = {.copy = us(1.9), .launch = us(2.1), .event_record = us(0.35), .event_wait = us(0.4)};
  return profile;
}

Profile paper_profile(const PaperOptions& options) {
  Profile profile;
  profile.name = "paper";
  profile.origin = Origin::planted;
  profile.source = "the papers' idea of a GPU, for tests";
  profile.gpus = {{.name = "paper GPU",
                   .memory = 64_GiB,
                   .multiprocessors = 14,
                   .copy_engines = options.copy_engines,
                   .engine_order = options.engine_order,
                   .implicit_sync = options.implicit_sync,
                   .concurrent_kernels = false,
                   .launch_latency = us(0),
                   .kernel_gap = us(0),
                   .handovers = no_handovers(),
                   .resident_threads = Estimate::exact(14 * 2048),
                   .memory_bandwidth = Interval<Bandwidth>::exact(gigabytes_per_second(230)),
                   .flop_rate = Estimate::exact(4e12)}};
  profile.links = {
      {.numa_node = 0, .gpu = 0, .h2d = same_for_all_sizes(options.h2d), .d2h = same_for_all_sizes(options.d2h)}};
  profile.submission = {.copy = us(0), .launch = us(0), .event_record = us(0), .event_wait = us(0)};
  const std::string reason = "the papers' equations know one rate for each direction";
  profile.missing = {
      {"links[0].h2d.duplex", reason}, {"links[0].d2h.duplex", reason}, {"links[0].waiting_queues", reason}};
  return profile;
}

}  // namespace shiplap
