// Compares Adaptive with every fixed choice, with an oracle that knows the cost of each batch, and with the protocol of
// Gómez-Luna et al. 2012 (§4.4), on histograms of frames whose cost changes over time. Also runs a million frames.
//   adaptive DEVICE OUT.json [--quick | --logs FOLDER]
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "experiments/gomezluna2012/unstreamed_probe.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/quantity_json.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/core/text_file.hpp"
#include "shiplap/pipeline/adaptive.hpp"
#include "shiplap/plan/adaptation_log.hpp"
#include "shiplap/shiplap.hpp"

namespace {

using namespace shiplap;

constexpr std::uint64_t pixels = 176 * 144;
constexpr std::uint64_t bins = 256;
constexpr unsigned block = 256;

/// Frames in a batch, and the numbers of passes of the kernel over a frame. The first pixel of a frame selects the
/// number, so it is unknown in advance.
struct Input {
  std::uint64_t frames = 0;
  std::vector<std::uint8_t> passes;  // passes by level

  std::size_t levels() const { return passes.size(); }
};
/// Returns the level of the frames of a batch.
using Level = std::function<std::size_t(std::uint64_t batch)>;

#ifdef __CUDACC__
/// Each block counts one frame.
__global__ void count(Chunk chunk, View<const std::uint8_t> frames, View<std::uint32_t> histograms) {
  __shared__ std::uint32_t votes[bins];
  const std::uint64_t frame = chunk.first + blockIdx.x;
  const unsigned passes = max(1u, unsigned{frames[frame * pixels]});
  for (unsigned pass = 0; pass < passes; ++pass) {
    votes[threadIdx.x] = 0;
    __syncthreads();
    for (std::uint64_t p = threadIdx.x; p < pixels; p += block) atomicAdd(&votes[frames[frame * pixels + p]], 1u);
    __syncthreads();
  }
  histograms[frame * bins + threadIdx.x] = votes[threadIdx.x];
}
#endif

Job histograms(const Input& input) {
  Job job = Job{input.frames, "histograms in passes"}
                .shaped<const std::uint8_t>("frames", Role::in, input.frames * pixels)
                .shaped<std::uint32_t>("histograms", Role::out, input.frames * bins)
                .with_blocks(1, block)
#ifdef __CUDACC__
                .kernel([](cudaStream_t stream, Chunk chunk, auto frames, auto histograms) {
                  count<<<static_cast<unsigned>(chunk.count), block, 0, stream>>>(chunk, frames, histograms);
                })
#endif
                .host_kernel([](Chunk chunk, auto frames, auto histograms) {
                  for (std::uint64_t f = chunk.first; f < chunk.end(); ++f) {
                    std::uint32_t votes[bins] = {};
                    for (std::uint64_t p = 0; p < pixels; ++p) ++votes[frames[f * pixels + p]];
                    for (std::uint64_t b = 0; b < bins; ++b) histograms[f * bins + b] = votes[b];
                  }
                });
  // A simulated GPU takes 13 ns for a pass over a frame, on every profile.
  job.binding.duration = [](const Launch& launch) {
    const auto passes =
        static_cast<double>(std::max<std::uint8_t>(1, *reinterpret_cast<std::uint8_t*>(launch.operands[0])));
    return microseconds(0.013 * passes * static_cast<double>(launch.items));
  };
  return job;
}

/// Different frames and their expected histograms. The first pixel of each frame is 0.
struct Frames {
  std::vector<std::byte> pixels_of_all;
  std::vector<std::uint32_t> expected;

  explicit Frames(std::uint64_t count) : pixels_of_all(count * pixels), expected(count * bins) {
    std::uint64_t state = 1;
    for (std::uint64_t i = 0; i < pixels_of_all.size(); ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      pixels_of_all[i] = i % pixels == 0 ? std::byte{0} : static_cast<std::byte>(state >> 56);
      ++expected[i / pixels * bins + std::to_integer<std::size_t>(pixels_of_all[i])];
    }
  }
};

/// Prepared batches of every level in host memory, so that only their way through the GPU is timed.
class Rig {
 public:
  Rig(const Node& node, Input input, std::uint32_t in_flight)
      : input_(std::move(input)),
        frames_(input_.frames),
        adaptive_(node, histograms(input_),
                  {.in_flight = in_flight,
                   .slots = in_flight * static_cast<std::uint32_t>(input_.levels()),
                   .sample = [this](auto arrays) { fill(arrays, input_.levels() / 2); }}),
        in_flight_(in_flight) {
    for (std::size_t slot = 0; slot < adaptive_.slots(); ++slot) fill(adaptive_.arrays(slot), slot / in_flight);
  }

  const Input& input() const { return input_; }
  const SteadyTable& table() const { return adaptive_.table(); }

  /// Runs `batches` batches under a policy. Throws when a result is wrong.
  AdaptiveReport run(Policy& policy, const Level& level, std::uint64_t batches, const Adaptive::Watch& watch = {}) {
    for (std::size_t slot = 0; slot < adaptive_.slots(); ++slot)
      std::ranges::fill(adaptive_.arrays(slot)[1], std::byte{0xee});
    std::vector<bool> used(adaptive_.slots(), false);
    const AdaptiveReport report = adaptive_.run(
        policy,
        [&](Batch& batch) {
          if (batch.number == batches) return false;
          batch.slot = level(batch.number) * in_flight_ + batch.number % in_flight_;
          used[batch.slot] = true;
          return true;
        },
        {}, watch);
    for (std::size_t slot = 0; slot < adaptive_.slots(); ++slot)
      if (used[slot] && !is_right(slot)) throw CheckFailed("a histogram of slot " + std::to_string(slot) + " is wrong");
    return report;
  }

 private:
  void fill(std::span<const std::span<std::byte>> arrays, std::size_t level) const {
    std::ranges::copy(frames_.pixels_of_all, arrays[0].begin());
    for (std::uint64_t f = 0; f < input_.frames; ++f) arrays[0][f * pixels] = std::byte{input_.passes[level]};
  }
  bool is_right(std::size_t slot) const {
    const std::size_t first_pixel = input_.passes[slot / in_flight_];
    const auto* const votes = reinterpret_cast<const std::uint32_t*>(adaptive_.arrays(slot)[1].data());
    std::vector<std::uint32_t> expected(bins);
    for (std::uint64_t f = 0; f < input_.frames; ++f) {
      std::copy_n(&frames_.expected[f * bins], bins, expected.begin());
      --expected[0];
      ++expected[first_pixel];
      if (std::memcmp(votes + f * bins, expected.data(), bins * sizeof(std::uint32_t)) != 0) return false;
    }
    return true;
  }

  Input input_;
  Frames frames_;
  Adaptive adaptive_;
  std::uint32_t in_flight_;
};

/// Input whose kernels drift from a quarter to twice the time of the copies. On an H200 the copies in of a batch take
/// 1.9 ms and a pass takes 55 µs.
const Input drifting_frames{.frames = 4096, .passes = {8, 10, 13, 17, 22, 29, 38, 49, 64}};
/// An input with few frames per batch, as from a camera.
const Input few_frames{.frames = 128, .passes = {1, 2, 3, 4, 6, 8, 12, 16, 24}};

struct Effort {
  Input input = drifting_frames;
  std::uint64_t batches = 300;     // batches of a run, which goes once through the drift
  std::uint64_t calibration = 12;  // batches for each level and choice in the calibration
  int rounds = 7;
  std::uint64_t endurance = 1'000'000 / few_frames.frames;
  std::string logs{};  // folder for a log of each compared adaptation; empty for none

  std::size_t drifting(std::uint64_t batch) const {
    const double turn = 2 * 3.14159265358979 * static_cast<double>(batch) / static_cast<double>(batches);
    return static_cast<std::size_t>(std::lround((static_cast<double>(input.levels()) - 1) / 2 * (1 - std::cos(turn))));
  }
};
/// One in five batches, in groups of twelve, has the highest level.
std::size_t with_shocks(const Input& input, std::uint64_t batch) {
  return batch % 60 < 48 ? input.levels() / 3 : input.levels() - 1;
}

/// The best choice for each level, found by running each choice alone.
std::vector<std::uint32_t> calibrated(Rig& rig, const Effort& effort) {
  std::vector<std::uint32_t> best(rig.input().levels());
  for (std::size_t level = 0; level < best.size(); ++level) {
    std::vector<double> rates;
    for (std::uint32_t c = 0; c < rig.table().choices.size(); ++c) {
      Fixed fixed(c);
      rates.push_back(rig.run(
                             fixed, [&](std::uint64_t) { return level; }, effort.calibration)
                          .rate());
    }
    best[level] = static_cast<std::uint32_t>(std::ranges::max_element(rates) - rates.begin());
  }
  return best;
}

/// The paper's t_sc: time that each further stream adds to a batch, by the predictions for the fewest and the most
/// streams.
Seconds cost_of_a_stream(const SteadyTable& table) {
  std::vector<std::pair<std::uint32_t, Seconds>> spans;
  for (std::size_t c = 0; c < table.choices.size(); ++c)
    if (table.choices[c].layout == Layout::three && table.choices[c].chunks > 1)
      spans.emplace_back(table.choices[c].chunks, table.at(c, 1).span);
  return (spans.back().second - spans.front().second) / static_cast<double>(spans.back().first - spans.front().first);
}

/// Cost of events around kernels: batches of one chunk with and without events, alternately.
Json cost_of_observing(Rig& rig, std::uint32_t in_flight, const Effort& effort) {
  const Level lowest = [](std::uint64_t) { return std::size_t{0}; };
  std::vector<double> plain, observed;
  for (int round = 0; round < effort.rounds; ++round) {
    Fixed fixed(0);
    plain.push_back(rig.run(fixed, lowest, effort.batches).rate());
    Fixed with_kernels(0, TraceLevel::kernels);
    observed.push_back(rig.run(with_kernels, lowest, effort.batches).rate());
  }
  std::cout << "batches of " << rig.input().frames << ", " << in_flight << " in flight: " << median(plain)
            << " frames/s, with kernels observed " << median(observed) << std::endl;
  return {
      {"in_flight", in_flight},
      {"frames_of_batch", rig.input().frames},
      {"rate", {{"plain", quantities_json(plain, "frames/s")}, {"observed", quantities_json(observed, "frames/s")}}}};
}

/// Rates of all policies, measured alternately so that drifts affect all equally. The two best choices of a sweep are
/// measured again with the others.
Json compared(Rig& rig, const std::string& name, const Level& input, std::uint32_t in_flight,
              const std::vector<std::uint32_t>& best, const Effort& effort) {
  const auto choices = static_cast<std::uint32_t>(rig.table().choices.size());
  std::vector<double> swept;
  std::vector<std::uint32_t> finalists;
  for (std::uint32_t c = 0; c < choices; ++c) {
    Fixed fixed(c);
    swept.push_back(rig.run(fixed, input, effort.batches / 2).rate());
    finalists.push_back(c);
  }
  std::ranges::sort(finalists, std::greater{}, [&](std::uint32_t c) { return swept[c]; });
  finalists.resize(std::min<std::size_t>(finalists.size(), 2));

  std::vector<std::uint32_t> known;
  for (std::uint64_t b = 0; b < effort.batches; ++b) known.push_back(best[input(b)]);
  std::vector<std::uint32_t> streams;
  for (const Choice& choice : rig.table().choices) streams.push_back(choice.chunks);
  std::vector<double> adaptive, oracle, probing, alone;
  std::vector<std::vector<double>> fixed_rates(finalists.size());
  std::uint64_t probes = 0;
  AdaptiveReport last;
  // The adaptation continues from round to round, as with an endless input.
  Adaptation adaptation(rig.table());
  std::vector<std::pair<BatchObservation, std::optional<BatchDecision>>>
      seen;  // entries of the log, written after the timed part
  for (int round = 0; round < effort.rounds; ++round) {
    last = rig.run(adaptation, input, effort.batches, [&](const Adaptive::Progress& progress) {
      if (effort.logs.empty()) return;
      seen.emplace_back(progress.seen, std::nullopt);
      if (progress.decision != nullptr) seen.back().second = *progress.decision;
    });
    adaptive.push_back(last.rate());
    for (std::size_t f = 0; f < finalists.size(); ++f) {
      Fixed fixed(finalists[f]);
      fixed_rates[f].push_back(rig.run(fixed, input, effort.batches).rate());
    }
    Fixed all_known(known);
    oracle.push_back(rig.run(all_known, input, effort.batches).rate());
    if (in_flight == 1) {  // the protocol waits for each batch
      experiments::gomez_luna::UnstreamedProbe probe(streams, {.per_stream = cost_of_a_stream(rig.table())});
      probing.push_back(rig.run(probe, input, effort.batches).rate());
      probes = probe.probes();
    }
    Fixed unstreamed(0);
    alone.push_back(rig.run(unstreamed, input, effort.batches).rate());
  }
  if (!effort.logs.empty()) {
    const std::string title = name + "-" + std::to_string(in_flight);
    std::string log = header_line(title, "", rig.table(), adaptation.options()) + "\n";
    for (const auto& [batch, decision] : seen) {
      log += log_line_of(batch) + "\n";
      if (decision) log += log_line_of(*decision) + "\n";
    }
    write_file_atomically(effort.logs + "/" + title + ".jsonl", log);
  }
  const auto winner = static_cast<std::size_t>(
      std::ranges::max_element(fixed_rates, {}, [](const auto& rates) { return median(rates); }) - fixed_rates.begin());
  const std::vector<double>& fixed_best = fixed_rates[winner];
  Json json{{"input", name},
            {"in_flight", in_flight},
            {"batches", effort.batches},
            {"best_fixed", to_string(rig.table().choices[finalists[winner]])},
            {"changes", last.changes},
            {"probes", probes}};
  const std::pair<const char*, const std::vector<double>*> of_all[] = {{"adaptive", &adaptive},
                                                                       {"fixed", &fixed_best},
                                                                       {"oracle", &oracle},
                                                                       {"unstreamed_probe", &probing},
                                                                       {"unstreamed", &alone}};
  for (const auto& [who, rates] : of_all)
    if (!rates->empty())
      json["rate"][who] = {{"median", quantity_json(median(*rates), "frames/s")},
                           {"samples", quantities_json(*rates, "frames/s")}};
  for (std::uint32_t c = 0; c < choices; ++c)
    json["swept"].push_back(
        {{"choice", to_string(rig.table().choices[c])}, {"rate", quantity_json(swept[c], "frames/s")}});
  const auto over = [&](const std::vector<double>& other) { return median(adaptive) / median(other); };
  std::cout << name << ", " << in_flight << " in flight: " << median(adaptive) << " frames/s; to the oracle "
            << over(oracle) << ", to the best fixed choice " << over(fixed_best) << ", to the unstreamed probe "
            << (probing.empty() ? 0 : over(probing)) << ", to no streams " << over(alone) << "; " << last.changes
            << " changes" << std::endl;
  return json;
}

std::uint64_t resident_kilobytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  file >> size >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) / 1024;
}

/// Runs a million frames. Throws CheckFailed when the rate has fallen or memory has grown.
Json endured(Device& device, Rig& rig, const Effort& effort) {
  Adaptation adaptation(rig.table());
  std::vector<double> rates;  // rates of each tenth of the input
  Seconds before{0};
  std::uint64_t seen = 0;
  const Bytes free_before = device.info().free_memory;
  std::uint64_t resident_before = 0;
  const AdaptiveReport report = rig.run(
      adaptation, [&](std::uint64_t batch) { return with_shocks(rig.input(), batch); }, effort.endurance,
      [&](const Adaptive::Progress& p) {
        if (++seen % (effort.endurance / 10) != 0) return;
        rates.push_back(static_cast<double>(effort.endurance / 10 * rig.input().frames) / (p.ended - before).count());
        before = p.ended;
        if (rates.size() == 1) resident_before = resident_kilobytes();
      });
  const std::uint64_t resident_after = resident_kilobytes();
  std::cout << report.items << " frames: " << report.rate() << " a second, first tenth " << rates.front()
            << ", last tenth " << rates.back() << "; resident memory behind the first tenth " << resident_before
            << " KiB, at the end " << resident_after << "; " << report.changes << " changes" << std::endl;
  // The number of shocks differs between tenths, so the tolerance is large.
  if (rates.back() < 0.8 * rates.front()) throw CheckFailed("the last tenth is slower than the first");
  if (resident_after > resident_before + 65536) throw CheckFailed("memory has grown by more than 64 MiB");
  return {{"frames", report.items},
          {"rate", quantity_json(report.rate(), "frames/s")},
          {"rate_of_tenths", quantities_json(rates, "frames/s")},
          {"changes", report.changes},
          {"resident_behind_the_first_tenth", quantity_json(static_cast<double>(resident_before), "KiB")},
          {"resident_at_the_end", quantity_json(static_cast<double>(resident_after), "KiB")},
          {"device_memory_free_before", quantity_json(free_before)},
          {"device_memory_free_after", quantity_json(device.info().free_memory)}};
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::cerr << "usage: adaptive DEVICE OUT.json [--quick | --logs FOLDER]\n";
    return 64;
  }
  Effort effort;
  if (argc > 3 && std::string(argv[3]) == "--logs") {
    if (argc < 5) {
      std::cerr << "adaptive: --logs wants a folder\n";
      return 64;
    }
    effort.logs = argv[4];
  }
  if (argc > 3 && std::string(argv[3]) == "--quick")
    effort = {.input = few_frames,
              .batches = 60,
              .calibration = 2,
              .rounds = 1,
              .endurance = 100'000 / few_frames.frames,
              .logs = {}};
  const auto gpu = open(argv[1]);
  const Node node = load_or_measure(*gpu);
  const DeviceInfo info = gpu->info();
  Json json{{"schema", "shiplap/adaptive-benchmark"},
            {"version", 2},
            {"device", info.id},
            {"device_name", info.name},
            {"simulated", info.is_virtual},
            {"profile_hash", parameter_hash(*node.profile)},
            {"conditions", info.conditions},
            {"frame", "176x144"},
            {"frames_of_batch", effort.input.frames},
            {"passes", effort.input.passes}};
  for (const std::uint32_t in_flight : {1u, 3u}) {
    Rig rig(node, effort.input, in_flight);
    const std::vector<std::uint32_t> best = calibrated(rig, effort);
    Json of_levels = Json::array();
    for (const std::uint32_t choice : best) of_levels.push_back(to_string(rig.table().choices[choice]));
    json["best_of_level"].push_back({{"in_flight", in_flight}, {"choices", of_levels}});
    const Level drift = [&](std::uint64_t batch) { return effort.drifting(batch); };
    json["compared"].push_back(compared(rig, "drift", drift, in_flight, best, effort));
    // With several batches in flight, large chunks are best for any kernel time, so one case is enough.
    if (in_flight > 1) continue;
    const Level shocks = [&](std::uint64_t batch) { return with_shocks(rig.input(), batch); };
    json["compared"].push_back(compared(rig, "shocks", shocks, in_flight, best, effort));
  }
  for (const std::uint32_t in_flight : {1u, 3u}) {
    Rig rig(node, few_frames, in_flight);
    json["cost_of_observing"].push_back(cost_of_observing(rig, in_flight, effort));
    if (in_flight > 1) json["endurance"] = endured(*gpu, rig, effort);
  }
  write_file_atomically(argv[2], json.dump(1) + "\n");
  return 0;
} catch (const std::exception& error) {
  std::cerr << "adaptive: " << error.what() << '\n';
  return 1;
}
