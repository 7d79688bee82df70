// The file of an evaluation. Derived values (errors, estimates, statistics) are written, and calculated again when
// read.
#include "shiplap/core/record.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/evaluate/errors.hpp"
#include "shiplap/evaluate/evaluation.hpp"
#include "shiplap/evaluate/samples.hpp"
#include "shiplap/plan/ranking_json.hpp"
#include "shiplap/schedule/names.hpp"
#include "shiplap/workload/kernel_profile.hpp"

namespace shiplap {
namespace {

/// Samples in ms. They are written with five digits behind the point, and a smaller one would be written as 0.
struct SamplesInMilliseconds {
  static Json write(const std::vector<double>& samples_ms) { return quantities_json(as_in_files(samples_ms), "ms"); }
  static std::vector<double> read(const JsonReader& json) {
    if (json.at("unit").string() != "ms") json.at("unit").fail("\"ms\"");
    std::vector<double> samples = ListOf<double, Positive>{}.read(json.at("values"));
    constexpr double shortest_ms = 1e-5;
    for (std::size_t i = 0; i < samples.size(); ++i)
      if (samples[i] < shortest_ms || samples[i] > in_milliseconds(longest_time))
        json.at("values").at(i).fail("a time from 1e-5 ms to 1e9 s");
    return samples;
  }
  static Json schema() { return detail::quantities_schema("ms"); }
};
constexpr SamplesInMilliseconds samples_in_ms;

/// The median of samples in ms with its interval; null without samples.
struct MedianInMilliseconds {
  static Json write(const std::vector<double>& samples_ms) {
    return samples_ms.empty() ? Json(nullptr) : quantity_json(median_estimate(samples_ms), "ms");
  }
  static Json schema() { return detail::or_null_schema(Form<Interval<Seconds>>::schema()); }
};
constexpr MedianInMilliseconds median_in_ms;

/// The predicted time of each model.
struct TimesByModel {
  static Json write(const std::vector<ModelTime>& models) {
    Json all = Json::object();
    for (const ModelTime& m : models) all[m.model] = quantity_json(m.time);
    return all;
  }
  static std::vector<ModelTime> read(const JsonReader& json) {
    std::vector<ModelTime> models;
    json.for_each_member([&](const std::string& name, const JsonReader& time) {
      models.push_back({name, seconds_from_json(time)});
    });
    return models;
  }
  static Json schema() { return Form<std::map<std::string, Seconds>>::schema(); }
};

/// The memory of arrays. Those of programs may also be in kinds that files do not have.
struct MemoryOfArrays : Form<MemoryKind> {
  static Json write(MemoryKind memory) { return to_string(memory); }
};

/// Whether bytes go to the GPU, as a direction.
constexpr TwoNames direction_name{"h2d", "d2h"};

/// A number of bytes.
struct ByteCount {
  static Json write(std::uint64_t bytes) { return quantity_json(Bytes{bytes}); }
  static std::uint64_t read(const JsonReader& json) { return bytes_from_json(json).count; }
  static Json schema() { return Form<Bytes>::schema(); }
};

/// What `errors.hpp` calculates from an evaluation.
struct Statistics {
  std::vector<ModelErrors> models;
  std::vector<ModelErrors> by_strategy;
  std::vector<ModelRegret> regret;
  std::vector<TransferErrors> transfers;
};

}  // namespace

template <class V, Like<EvaluatedPoint> R>
void describe(V& v, R& point) {
  using Number = std::optional<double>;
  const bool ran = !point.samples_ms.empty();
  v.field("choice", point.choice, "the choice");
  v.field("planned", point.planned, "whether the plan would make this choice for a strategy; else it is of the grid");
  v.field("predicted", point.predicted, "simulated time with its prediction interval");
  v.field("models", point.models, "predictions of all models, the simulation first", TimesByModel{});
  v.field("busiest", point.busiest, "engine that is busy longest in the predicted timeline");
  v.field("busy", point.busy, "fraction of the predicted time that this engine is busy");
  v.field("group", point.group, "index of the group in which the choice ran");
  v.derived(
      "observed", "median of the samples", [&] { return point.samples_ms; }, median_in_ms);
  v.derived("error", "predicted over observed time, minus 1", [&] {
    return ran ? Number(in_milliseconds(point.predicted.value) / median(point.samples_ms) - 1) : Number();
  });
  v.derived("spread", "relative spread of the samples",
            [&] { return ran ? Number(relative_spread(point.samples_ms)) : Number(); });
  v.field("verified", point.verified, "whether the result was right");
  v.null_unless(!point.verified, "difference", point.difference, "first difference from the host reference");
  v.field("samples", point.samples_ms, "makespans", samples_in_ms);
}
template <class V, Like<SkippedChoice> R>
void describe(V& v, R& skipped) {
  v.field("choice", skipped.choice, "the choice");
  v.field("reason", skipped.reason, "why it did not run");
}
template <class V, Like<EvaluatedGroup> R>
void describe(V& v, R& group) {
  v.field("choices", group.choices, "number of choices that ran in turn");
  v.derived(
      "automatic", "the automatic choice", [&] { return group.automatic_ms; }, median_in_ms);
  v.derived(
      "ideal_overlap", "ideal overlap", [&] { return group.ideal_overlap_ms; }, median_in_ms);
  v.field("automatic_samples", group.automatic_ms, "of the automatic choice", samples_in_ms);
  v.added("ideal_overlap_samples", group.ideal_overlap_ms, "of ideal overlap", samples_in_ms);
}
template <class V, Like<Duel> R>
void describe(V& v, R& duel) {
  v.field("automatic_choice", duel.automatic, "the choice of the plan");
  v.field("winner_choice", duel.winner, "the fastest of all other points");
  v.derived(
      "automatic", "time of the automatic choice", [&] { return duel.automatic_ms; }, median_in_ms);
  v.derived(
      "winner", "time of the winner", [&] { return duel.winner_ms; }, median_in_ms);
  v.derived(
      "ideal_overlap", "time of ideal overlap", [&] { return duel.ideal_overlap_ms; }, median_in_ms);
  v.derived("over_winner", "automatic over winner, minus 1", [&] { return duel.over_winner(); });
  v.derived("over_ideal_overlap", "automatic over ideal overlap, minus 1", [&] {
    return duel.ideal_overlap_ms.empty() ? std::optional<double>() : std::optional(duel.over_ideal_overlap());
  });
  v.derived("within_rule", "whether the automatic choice is slower by at most 1 %, 3 µs or two standard errors",
            [&] { return duel.within_rule(); });
  v.field("automatic_samples", duel.automatic_ms, "of the automatic choice", samples_in_ms);
  v.field("winner_samples", duel.winner_ms, "of the winner", samples_in_ms);
  v.field("ideal_overlap_samples", duel.ideal_overlap_ms, "of ideal overlap", samples_in_ms);
}
template <class V, Like<EvaluatedWorkload> R>
void describe(V& v, R& workload) {
  v.field("workload", workload.name, "name of the workload");
  v.field("memory", workload.memory, "memory of its arrays", MemoryOfArrays{});
  v.or_null("not_run", workload.not_run, "reason why no choice of the workload was run");
  v.field("kernel", workload.kernel, "time of the kernel");
  v.added("kernel_cost", workload.cost, "cost of the kernel, on which the predictions are based");
  v.added("bound", workload.bound, "the predicted time that no strategy is below");
  v.field("predicted_ideal_overlap", workload.ideal_overlap, "the predicted time of the longest stage alone");
  v.field("points", workload.points, "choices that ran");
  v.field("skipped", workload.skipped, "choices that did not run");
  v.field("groups", workload.groups,
          "groups of choices that ran in turn, each with the automatic choice and ideal overlap");
  v.field("duel", workload.duel, "the automatic choice against the winner, measured again");
}
template <class V, Like<EvaluatedTransfer> R>
void describe(V& v, R& transfer) {
  v.field("direction", transfer.to_device, "direction of the copies", direction_name);
  v.field("size", transfer.total, "bytes of all copies");
  v.field("copies", transfer.copies, "number of equal copies in one stream", one_or_more<std::uint32_t>);
  v.field("simulation", transfer.simulation, "simulated time");
  v.field("loggp", transfer.loggp, "time by LogGP");
  v.derived(
      "observed", "median of the samples", [&] { return transfer.samples_ms; }, median_in_ms);
  v.field("wrong", transfer.wrong_bytes, "bytes that arrived wrong", ByteCount{});
  v.field("samples", transfer.samples_ms, "makespans", samples_in_ms);
}

template <class V, Like<ErrorSummary> R>
void describe(V& v, R& s) {
  const bool any = s.points > 0;
  v.field("points", s.points, "number of points");
  v.only_if(any, "median", s.median, "median of the absolute errors", NonNegative{});
  v.only_if(any, "p95", s.p95, "95th percentile of the absolute errors", NonNegative{});
  v.only_if(any, "worst", s.worst, "largest absolute error", NonNegative{});
  v.only_if(any, "median_signed", s.median_signed, "median of the errors");
  v.only_if(any, "over", s.over, "largest positive error", NonNegative{});
  v.only_if(any, "under", s.under, "largest negative error");
}
template <class V, Like<Coverage> R>
void describe(V& v, R& coverage) {
  v.field("covered", coverage.covered, "fraction of points whose observed median is in the prediction interval");
  v.field("median_width", coverage.median_width, "median width of the intervals over the predicted times");
}
template <class V, Like<WorstPoint> R>
void describe(V& v, R& worst) {
  v.field("workload", worst.workload, "name of the workload");
  v.field("choice", worst.choice, "the choice");
  v.field("error", worst.error, "its error");
  v.field("busiest", worst.busiest, "busiest engine in the simulated timeline");
  v.field("busy", worst.busy, "fraction of the time that this engine is busy");
}
template <class V, Like<ModelErrors> R>
void describe(V& v, R& errors) {
  v.field("name", errors.name, "name of the model, or of a group of points");
  v.field("all", errors.all, "all points");
  v.field("steady", errors.steady, "points whose samples agree");
  v.field("unsteady", errors.unsteady, "the other points");
  v.derived(
      "unsteady_fraction", "fraction of unsteady points", [&] { return errors.unsteady_fraction(); }, NonNegative{});
  v.field("coverage", errors.coverage, "coverage over the steady points, for the simulation only");
  v.field("worst_at", errors.worst, "the point with the largest error");
}
template <class V, Like<Regret> R>
void describe(V& v, R& regret) {
  const bool any = regret.cases > 0;
  v.field("cases", regret.cases, "number of cases");
  v.only_if(any, "median", regret.median, "observed time of the model's choice over the best, minus 1");
  v.only_if(any, "worst", regret.worst, "the largest of these");
  v.only_if(any, "worst_case", regret.worst_case, "where that is");
}
template <class V, Like<ModelRegret> R>
void describe(V& v, R& regret) {
  v.field("model", regret.model, "name of the model");
  v.field("strategy", regret.strategy, "cases are choices of a strategy");
  v.field("chunks", regret.chunks, "cases are choices of a number of chunks");
}
template <class V, Like<TransferErrors> R>
void describe(V& v, R& errors) {
  v.field("direction", errors.to_device, "direction of the copies", direction_name);
  v.field("simulation", errors.simulation, "errors of the simulation");
  v.field("loggp", errors.loggp, "errors of LogGP");
  v.derived("published_over", "largest positive error that van Werkhoven et al. 2014 report",
            [&] { return published_transfer_errors(errors.to_device).over; });
  v.derived("published_under", "largest negative error that van Werkhoven et al. 2014 report",
            [&] { return published_transfer_errors(errors.to_device).under; });
}
template <class V, Like<Statistics> R>
void describe(V& v, R& statistics) {
  v.derived("steady_spread_at_most", "largest relative spread of a steady point", [] { return steady_spread; });
  v.field("models", statistics.models, "errors of each model");
  v.field("simulation_by_strategy", statistics.by_strategy, "errors of the simulation for each strategy and layout");
  v.field("regret", statistics.regret, "cost of following the choices of each model");
  v.field("transfers", statistics.transfers, "errors for copies without kernels");
}

template <class V, Like<Evaluation> R>
void describe(V& v, R& evaluation) {
  v.header(formats::evaluation);
  v.field("device", evaluation.device, "id of the device");
  v.field("device_name", evaluation.device_name, "name of the GPU");
  v.field("simulated", evaluation.simulated, "whether the device is virtual, so that all times are simulated");
  v.field("conditions", evaluation.conditions, "conditions of the node");
  v.field("profile", evaluation.profile, "name of the profile");
  v.field("profile_hash", evaluation.profile_hash,
          "hash of the profile's parameters, which were fixed before anything ran unless predicted_again is true");
  v.added("predicted_again", evaluation.predicted_again,
          "whether the predictions were made after the observations, from a recorded evaluation");
  v.derived("clock", "how times were taken", [] {
    return std::string("device events, from the mark before the first op to the last end mark; medians, interleaved");
  });
  v.derived("statistics", "accuracy of each model. An error is predicted over observed time, minus 1", [&] {
    return Statistics{errors_by_model(evaluation.workloads), errors_by_strategy(evaluation.workloads),
                      regrets(evaluation.workloads), transfer_errors(evaluation.transfers)};
  });
  v.field("workloads", evaluation.workloads, "what ran");
  v.field("transfers", evaluation.transfers, "copies without kernels");
  v.only_if(!evaluation.command.empty(), "command", evaluation.command,
            "command line that says what is evaluated, without options for files and the budget");
}

Json to_json(const Evaluation& evaluation) { return write_record(evaluation); }
Json json_schema(const Evaluation&) {
  return document_schema<Evaluation>(
      "shiplap evaluation",
      "What `shiplap evaluate` observed over a grid of choices, with the predictions of every model. An error is "
      "predicted over observed time, minus 1.");
}

void from_json(const JsonReader& json, Evaluation& evaluation) { read_record(json, evaluation); }

}  // namespace shiplap
