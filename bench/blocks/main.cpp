// block_sets DEVICE PROFILE OUT.json [SETS] [SEED]
// Draws sets of scattered blocks and compares the mover that the profile chooses with the best of a sweep, and
// predictions with observations. Prints a table and writes every time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>

#include "bench/blocks/sets.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/quantity_json.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/core/text_file.hpp"
#include "shiplap/device/open.hpp"

namespace {

using namespace shiplap;
using namespace shiplap::bench;

const char* name_of_neighbour(Beside neighbour) {
  return neighbour == Beside::none ? "none" : neighbour == Beside::compute ? "computes" : "memory-bound";
}

/// The name of a mover, or "none".
std::string name_of(const SetResult& result, std::optional<std::size_t> index) {
  return index ? to_string(result.movers[*index].mover) : "none";
}

Json to_json(const SetResult& result) {
  Json movers = Json::array();
  for (const MoverResult& one : result.movers)
    movers.push_back({{"mover", to_string(one.mover)},
                      {"predicted_us", in_microseconds(one.predicted)},
                      {"observed_us", in_microseconds(one.time)},
                      {"predicted_loss", one.predicted_loss},
                      {"loss", one.loss}});
  const Set& set = result.set;
  return {{"block", set.block.count},
          {"blocks", set.blocks},
          {"direction", set.to_device ? "h2d" : "d2h"},
          {"aligned", set.aligned},
          {"order", set.sorted ? "sorted" : "random"},
          {"neighbour", name_of_neighbour(set.neighbour)},
          {"max_slowdown", set.max_slowdown ? Json(*set.max_slowdown) : Json(nullptr)},
          {"chosen", name_of(result, result.chosen)},
          {"best", name_of(result, result.best)},
          {"regret", result.regret},
          {"movers", std::move(movers)}};
}

void print(const SetResult& result) {
  const Set& set = result.set;
  const auto mover = [&](std::optional<std::size_t> index) {
    const std::string time = index ? fmt::format("{:9.1f} us", in_microseconds(result.movers[*index].time)) : "";
    return fmt::format("{:<22} {:<12}", name_of(result, index), time);
  };
  fmt::print("{:>9} x {:<6} {} {:<6} {:<12} {:<4} {} {} {:6.2f} %", to_string(set.block), set.blocks,
             set.to_device ? "H2D" : "D2H", set.sorted ? "sorted" : "random", name_of_neighbour(set.neighbour),
             set.max_slowdown ? fmt::format("{:.0f}%", *set.max_slowdown * 100) : "-", mover(result.chosen),
             mover(result.best), result.regret * 100);
  if (result.chosen) {
    const MoverResult& chosen = result.movers[*result.chosen];
    fmt::print(" loss {:6.2f} % pred {:+6.1f} %", chosen.loss * 100, (chosen.predicted / chosen.time - 1) * 100);
  }
  fmt::print("\n");
  std::fflush(stdout);
}

double percentile(std::vector<double> values, double fraction) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[static_cast<std::size_t>(fraction * static_cast<double>(values.size() - 1) + 0.5)];
}

void summarise(const std::vector<SetResult>& results) {
  std::vector<double> regrets;
  std::vector<double> regrets_alone;
  std::vector<double> errors;
  std::vector<double> errors_unaligned;
  std::vector<double> errors_beside;
  unsigned limited = 0;
  unsigned kept = 0;
  unsigned refused = 0;
  unsigned refused_rightly = 0;
  for (const SetResult& result : results) {
    if (result.chosen) regrets.push_back(result.regret);
    if (result.set.neighbour == Beside::none) regrets_alone.push_back(result.regret);
    if (result.set.max_slowdown && !result.chosen) {
      ++refused;
      refused_rightly += result.best ? 0 : 1;
    } else if (result.set.max_slowdown) {
      ++limited;
      kept += result.movers[*result.chosen].loss <= *result.set.max_slowdown ? 1 : 0;
    }
    auto& group = result.set.neighbour != Beside::none ? errors_beside : result.set.aligned ? errors : errors_unaligned;
    for (const MoverResult& one : result.movers) group.push_back(std::abs(one.predicted / one.time - 1));
  }
  fmt::print("\n{} sets: chosen over best median {:.2f} %, 95th percentile {:.2f} %, worst {:.2f} %\n", results.size(),
             percentile(regrets, 0.5) * 100, percentile(regrets, 0.95) * 100, percentile(regrets, 1) * 100);
  fmt::print("{} of them alone: median {:.2f} %, 95th percentile {:.2f} %, worst {:.2f} %\n", regrets_alone.size(),
             percentile(regrets_alone, 0.5) * 100, percentile(regrets_alone, 0.95) * 100,
             percentile(regrets_alone, 1) * 100);
  fmt::print("limit kept in {} of {} sets with a limit; {} more refused, {} of them rightly\n", kept, limited, refused,
             refused_rightly);
  for (const auto& [name, of] :
       {std::pair{"alone, multiples of 256 B", errors}, std::pair{"alone, multiples of 16 B", errors_unaligned},
        std::pair{"concurrent with kernels", errors_beside}})
    fmt::print("{} predictions, {}: error median {:.2f} %, 95th percentile {:.2f} %, worst {:.2f} %\n", of.size(), name,
               percentile(of, 0.5) * 100, percentile(of, 0.95) * 100, percentile(of, 1) * 100);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4) {
    fmt::print(stderr, "usage: block_sets DEVICE PROFILE OUT.json [SETS] [SEED]\n");
    return 64;
  }
  const auto device = open(argv[1]);
  const Profile profile = find_profile(argv[2]);
  const unsigned count = argc > 4 ? static_cast<unsigned>(std::stoul(argv[4])) : 60;
  const std::uint64_t seed = argc > 5 ? std::stoull(argv[5]) : 1;
  const std::vector<SetResult> results = run_sets(*device, profile, count, seed, print);
  summarise(results);
  Json sets = Json::array();
  for (const SetResult& result : results) sets.push_back(to_json(result));
  write_file_atomically(argv[3], Json{{"device", device->info().name},
                                      {"profile", profile.name},
                                      {"profile_hash", parameter_hash(profile)},
                                      {"seed", seed},
                                      {"sets", std::move(sets)}}
                                     .dump(1));
} catch (const std::exception& error) {
  fmt::print(stderr, "block_sets: {}\n", error.what());
  return 1;
}
