// Predicted beside observed over a grid: sizes x kernels x strategies x layouts x chunks, and the automatic choice
// against the bound and against the re-measured winner of the sweep. Everything of one (size, kernel) pair runs
// interleaved.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/device/open.hpp"
#include "shiplap/pipeline/run.hpp"
#include "shiplap/plan/plan.hpp"
#include "shiplap/workload/workload.hpp"

namespace {

using namespace shiplap;

struct Options {
  std::string device = default_device();
  std::string profile;
  std::string output;
  std::vector<std::string> sizes{"64MiB", "256MiB", "1GiB"};
  std::vector<double> weights{0.0, 1.0, 2.0};  // kernel time as a multiple of the time of the copies
  unsigned rounds = 11;
  unsigned duel_rounds = 51;
};

struct Contestant {
  Candidate predicted;
  Pipeline::Prepared prepared;
  std::vector<double> samples_ms;
  bool verified = false;
};

double run_once(Pipeline::Prepared& prepared, bool hold = false) {
  return in_milliseconds(prepared.run({.hold = hold}).timeline.makespan);
}

struct BoundRuns {
  Pipeline::Prepared copies;
  Pipeline::Prepared kernel;
  std::vector<double> samples_ms{};
  void sample() { samples_ms.push_back(std::max(run_once(copies, true), run_once(kernel, true))); }
};

Json estimate_json(const Estimate& e) { return {{"value", e.value}, {"low", e.low}, {"high", e.high}}; }

Json samples_json(const std::vector<double>& samples) {
  Json json = Json::array();
  for (const double s : samples) json.push_back(std::round(s * 1e5) / 1e5);
  return json;
}

Json choice_json(const Choice& c) {
  return {{"strategy", c.strategy},
          {"chunks", c.chunks},
          {"ramp", to_string(c.ramp)},
          {"blocks", c.blocks},
          {"layout", to_string(c.layout, c.queues)},
          {"order", c.order == IssueOrder::depth ? "depth" : "breadth"}};
}

/// What the predictions know of the kernel.
Json cost_json(const KernelCost& cost) {
  Json json{{"points", Json::array()}};
  const auto add = [](std::uint64_t items, const Interval<Seconds>& work) -> Json {
    return {
        {"items", items},
        {"ms", estimate_json({in_milliseconds(work.value), in_milliseconds(work.low), in_milliseconds(work.high)})}};
  };
  for (const KernelCost::Point& point : cost.points) json["points"].push_back(add(point.items, point.work));
  if (cost.limited) {
    json["limited"] = add(cost.limited->items, cost.limited->work);
    json["limited"]["blocks"] = cost.limited->blocks;
  }
  return json;
}

std::string scalar_add_name(const std::string& size, std::uint64_t iterations) {
  return fmt::format("scalar-add:in={},out={},iterations={}", size, size, iterations);
}

// Iterations of scalar-add that make its kernel last `target`, from the kernel's own time at two counts.
std::uint64_t iterations_for(Device& device, const Limits& limits, const std::string& size, Seconds target) {
  const auto time = [&](std::uint64_t iterations) {
    Pipeline pipeline(device, find_workload(scalar_add_name(size, iterations)));
    if (device.info().is_virtual) throw Unsupported("kernels are weighed by measuring them; choose a CUDA device");
    return pipeline.probe_kernel(limits).points.back().work.value;
  };
  const Seconds light = time(1);
  const Seconds heavy = time(1001);
  return 1 + static_cast<std::uint64_t>(std::max(0.0, (target - light) / (heavy - light)) * 1000);
}

// Errors over all points, and over those whose own samples do not spread.
struct Errors {
  static constexpr double much_spread = 0.05;
  std::vector<double> relative;
  std::vector<double> steady;
  void add(const Contestant& c) {
    relative.push_back(in_milliseconds(c.predicted.predicted.value) / median(c.samples_ms) - 1);
    if (relative_spread(c.samples_ms) <= much_spread) steady.push_back(relative.back());
  }
  static Json summary(const std::vector<double>& errors) {
    if (errors.empty()) return {{"points", 0}};
    std::vector<double> absolute;
    for (const double e : errors) absolute.push_back(std::abs(e));
    return {{"points", errors.size()},
            {"median_error", median(absolute)},
            {"p95_error", quantile(absolute, 0.95)},
            {"worst_error", *std::max_element(absolute.begin(), absolute.end())},
            {"median_signed_error", median(errors)}};
  }
  Json json() const {
    Json all = summary(relative);
    all["steady"] = summary(steady);
    all["steady"]["spread_at_most"] = much_spread;
    return all;
  }
};

// Kernels that access host memory: over grids and chunks where the kernel is light, with their own grid and a block for
// each multiprocessor where it is not (with fewer they only take longer).
void add_mapped_choices(std::vector<Choice>& choices, bool any_grid, double weight, Bytes each_way) {
  const std::vector<std::uint64_t> grids = !any_grid     ? std::vector<std::uint64_t>{0}
                                           : weight == 0 ? std::vector<std::uint64_t>{8, 16, 24, 32, 48, 64, 132, 0}
                                                         : std::vector<std::uint64_t>{132, 0};
  // Memory of all choices together is limited.
  const std::vector<std::uint32_t> counts =
      each_way > 512_MiB ? std::vector<std::uint32_t>{64} : std::vector<std::uint32_t>{16, 32, 64};
  for (const std::uint64_t blocks : grids) {
    choices.push_back({.strategy = "implicit", .blocks = blocks});
    for (const std::uint32_t chunks : counts) {
      choices.push_back({.strategy = "hybrid", .chunks = chunks, .blocks = blocks});
      choices.push_back({.strategy = "hybrid-mirror", .chunks = chunks, .blocks = blocks});
    }
  }
}

Json run_pair(Device& device, const Profile& profile, const Options& options, const std::string& size, double weight,
              Errors& errors) {
  Limits limits = limits_of(profile);
  const Seconds copies =
      bound(stated_workload({.in = parse_bytes(size, "size"), .out = parse_bytes(size, "size")}).job, profile).copies;
  const std::uint64_t iterations = weight == 0 ? 1 : iterations_for(device, limits, size, copies * weight);
  Pipeline pipeline(device, find_workload(scalar_add_name(size, iterations)));
  pipeline.set_cost(pipeline.probe_kernel(limits));
  const Job& job = pipeline.workload().job;
  limits.device_memory = limits.device_memory / 2;  // many choices are ready at once

  std::vector<Choice> choices{{.strategy = "explicit"}};
  for (const Layout layout : {Layout::three, Layout::few, Layout::per_chunk})
    for (std::uint32_t chunks = 1; chunks <= 256; chunks *= 2) choices.push_back({.chunks = chunks, .layout = layout});
  add_mapped_choices(choices, job.any_grid, weight, job.arrays.front().size);
  // Predictions first: nothing that is observed below can have gone into them.
  const Plan planned = plan(job, profile);
  // What the plan would take of every other strategy stands beside the sweep.
  const std::size_t swept = choices.size();
  for (const Candidate& candidate : planned.candidates)
    if (candidate.choice.strategy != planned.best().choice.strategy) choices.push_back(candidate.choice);
  std::vector<Contestant> field;
  for (const Choice& choice : choices)
    field.push_back({predict(job, profile, choice), pipeline.prepare(choice, limits), {}});
  Contestant automatic{planned.best(), pipeline.prepare(planned.best().choice, limits), {}};
  BoundRuns bound_runs{pipeline.prepare_duplex(limits), pipeline.prepare_kernel(limits)};

  const auto verify = [&](Contestant& c) {
    pipeline.refill();
    run_once(c.prepared);
    c.verified = pipeline.verify().empty();
    if (!c.verified)
      throw CheckFailed(fmt::format("{}: {}: {}", job.name, to_string(c.predicted.choice), pipeline.verify()));
  };
  for (Contestant& c : field) verify(c);
  verify(automatic);
  for (unsigned round = 0; round < options.rounds; ++round) {
    for (Contestant& c : field) c.samples_ms.push_back(run_once(c.prepared));
    automatic.samples_ms.push_back(run_once(automatic.prepared));
    bound_runs.sample();
  }

  Json points = Json::array();
  Contestant* winner = &field.front();
  for (Contestant& c : field) {
    if (median(c.samples_ms) < median(winner->samples_ms)) winner = &c;
    errors.add(c);
    Json point = choice_json(c.predicted.choice);
    point["predicted_ms"] =
        estimate_json({in_milliseconds(c.predicted.predicted.value), in_milliseconds(c.predicted.predicted.low),
                       in_milliseconds(c.predicted.predicted.high)});
    point["observed_ms"] = estimate_json(median_estimate(c.samples_ms));
    point["error"] = errors.relative.back();
    point["spread"] = relative_spread(c.samples_ms);
    point["verified"] = c.verified;
    point["planned"] = &c - field.data() >= static_cast<std::ptrdiff_t>(swept);
    point["samples_ms"] = samples_json(c.samples_ms);
    points.push_back(point);
  }

  // The winner of the sweep won partly by luck: measure it again, interleaved with the automatic choice and the bound.
  BoundRuns duel_bound{std::move(bound_runs.copies), std::move(bound_runs.kernel)};
  std::vector<double> auto_ms, winner_ms;
  for (unsigned round = 0; round < options.duel_rounds; ++round) {
    auto_ms.push_back(run_once(automatic.prepared));
    winner_ms.push_back(run_once(winner->prepared));
    duel_bound.sample();
  }
  const double auto_median = median(auto_ms);
  const double winner_median = median(winner_ms);
  const double bound_median = median(duel_bound.samples_ms);
  const double error = std::hypot(median_standard_error(auto_ms), median_standard_error(winner_ms));
  const double allowed = std::max({0.01 * winner_median, 0.003, 2 * error});

  Json json{{"workload", job.name}, {"kernel_weight", weight}, {"kernel_ms", in_milliseconds(job.cost.at(job.items))}};
  json["kernel_cost"] = cost_json(job.cost);
  json["bound_ms"] = estimate_json(median_estimate(duel_bound.samples_ms));
  json["predicted_bound_ms"] = in_milliseconds(planned.bound.value);
  json["auto"] = choice_json(planned.best().choice);
  json["auto"]["predicted_ms"] = in_milliseconds(planned.best().predicted.value);
  json["auto"]["observed_ms"] = estimate_json(median_estimate(auto_ms));
  json["auto"]["over_bound"] = auto_median / bound_median - 1;
  json["auto"]["distance"] = to_json(planned.best().distance);
  json["winner"] = choice_json(winner->predicted.choice);
  json["winner"]["observed_ms"] = estimate_json(median_estimate(winner_ms));
  json["winner"]["over_bound"] = winner_median / bound_median - 1;
  json["auto_over_winner"] = auto_median / winner_median - 1;
  json["auto_within_rule"] = auto_median - winner_median <= allowed;
  json["auto_samples_ms"] = samples_json(auto_ms);
  json["winner_samples_ms"] = samples_json(winner_ms);
  json["bound_samples_ms"] = samples_json(duel_bound.samples_ms);
  json["points"] = std::move(points);
  fmt::print(
      "{:>8} x{:.0f}  kernel {:8.3f}  bound {:8.3f}  auto {:8.3f} ({:+.1f} %) {:<46}  winner {:8.3f} ({:+.2f} %) {}\n",
      size, weight, in_milliseconds(job.cost.at(job.items)), bound_median, auto_median,
      100 * (auto_median / bound_median - 1), to_string(planned.best().choice), winner_median,
      100 * (auto_median / winner_median - 1), to_string(winner->predicted.choice));
  std::fflush(stdout);
  return json;
}

int run_grid(const Options& options) {
  auto device = open(options.device);
  const Profile profile = find_profile(options.profile);
  Json json{{"schema", "shiplap/pipeline-grid"}, {"version", 1},
            {"device", device->info().id},       {"device_name", device->info().name},
            {"profile", profile.name},           {"profile_hash", parameter_hash(profile)}};
  for (const auto& [key, value] : device->info().conditions) json["conditions"][key] = value;
  json["clock"] = "device events, from the mark before the first op to the last end mark; medians, interleaved";
  Errors errors;
  json["pairs"] = Json::array();
  for (const std::string& size : options.sizes)
    for (const double weight : options.weights) {
      json["pairs"].push_back(run_pair(*device, profile, options, size, weight, errors));
      json["errors"] = errors.json();
      write_file_atomically(options.output, json.dump(1) + "\n");
    }
  fmt::print("{}\n", errors.json().dump());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Predicted beside observed over a grid of pipelines"};
  Options options;
  app.add_option("--device", options.device, "device to run on");
  app.add_option("--profile", options.profile, "profile that predicts; fixed before anything runs")->required();
  app.add_option("-o,--output", options.output, "JSON file to write")->required();
  app.add_option("--sizes", options.sizes, "bytes each way");
  app.add_option("--weights", options.weights, "kernel time as multiples of the time of the copies");
  app.add_option("--rounds", options.rounds, "interleaved repeats of the sweep");
  app.add_option("--duel-rounds", options.duel_rounds, "interleaved repeats of auto against the sweep's winner");
  CLI11_PARSE(app, argc, argv);
  try {
    return run_grid(options);
  } catch (const Error& error) {
    fmt::print(stderr, "pipeline_grid: {}\n", error.what());
    return static_cast<int>(error.code());
  }
}
