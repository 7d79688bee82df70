#include "experiments/gomezluna2012/stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "experiments/gomezluna2012/unstreamed_probe.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/pipeline/adaptive.hpp"

namespace shiplap::experiments::gomez_luna {

StreamRates stream_rates(const Bench& bench, const Workload& first, const Workload& second, const KernelCost& cost,
                         Layout layout, std::span<const std::uint32_t> counts, Seconds per_stream,
                         std::uint64_t chunks) {
  std::vector<Choice> choices{{.strategy = "streams", .chunks = 1, .layout = layout, .order = IssueOrder::breadth}};
  std::vector<std::uint32_t> numbers{1};
  for (const std::uint32_t count : counts) {
    choices.push_back(streams(layout, count));
    numbers.push_back(count);
  }
  Job batch = first.job;
  batch.cost = cost;
  Adaptive stream({.device = shared_device(bench.device),
                   .profile = std::make_shared<const Profile>(bench.profile),
                   .limits = bench.limits},
                  std::move(batch), {.in_flight = 1, .slots = 2, .choices = choices});
  first.fill(stream.arrays(0));
  second.fill(stream.arrays(1));
  const auto rate = [&](Policy& policy) {
    // Clears the histograms, which each run must compute again.
    for (const std::size_t slot : {0u, 1u}) std::ranges::fill(stream.arrays(slot).back(), std::byte{0xff});
    const AdaptiveReport report = stream.run(policy, [chunks](Batch& one) {
      one.slot = one.number < chunks / 2 ? 0 : 1;
      return one.number < chunks;
    });
    for (const auto& [workload, slot] : {std::pair{&first, 0}, {&second, 1}})
      if (const std::string difference = workload->verify(stream.arrays(slot)); !difference.empty())
        throw CheckFailed(fmt::format("{}: {}", workload->job.name, difference));
    return report;
  };
  std::vector<double> alone;
  std::vector<double> protocol;
  std::vector<double> ours;
  StreamRates rates;
  for (int round = 0; round < (bench.quick ? 5 : 11); ++round) {
    Fixed unstreamed(0);
    alone.push_back(rate(unstreamed).rate());
    UnstreamedProbe probe(numbers, {.architecture = architecture_of(layout), .per_stream = per_stream});
    protocol.push_back(rate(probe).rate());
    rates.probes = probe.probes();
    Adaptation adaptation(stream.table());
    const AdaptiveReport report = rate(adaptation);
    ours.push_back(report.rate());
    rates.changes = report.changes;
  }
  rates.unstreamed = median(alone);
  rates.protocol = median(protocol);
  rates.adaptive = median(ours);
  return rates;
}

}  // namespace shiplap::experiments::gomez_luna
