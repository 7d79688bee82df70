// A ranking as JSON.
#include "shiplap/plan/ranking_json.hpp"

#include "shiplap/core/record.hpp"
#include "shiplap/strategy/names.hpp"
#include "shiplap/strategy/strategy.hpp"

namespace shiplap {
namespace {

constexpr std::array predicted_by_names{std::pair{PredictedBy::simulation, "simulation"sv},
                                        std::pair{PredictedBy::closed_form, "closed form"sv}};

/// The name of one of the strategies.
struct StrategyName : Form<std::string> {
  static std::string read(const JsonReader& json) {
    std::string name = json.string();
    try {
      find_strategy(name);
    } catch (const UsageError& error) {
      json.fail(error.what());
    }
    return name;
  }
};

}  // namespace

EnumNames<PredictedBy> names_of(PredictedBy) { return predicted_by_names; }

template <class V, Like<Mover> R>
void describe(V& v, R& mover) {
  v.field("kind", mover.kind, "what moves the blocks");
  v.null_unless(mover.kind == Mover::Kind::kernel, "grid", mover.grid, "thread blocks of the kernel");
}
template <class V, Like<Ramp> R>
void describe(V& v, R& ramp) {
  v.field("first", ramp.first, "size of the first chunk relative to the largest", Positive{});
  v.field("last", ramp.last, "size of the last chunk relative to the largest", Positive{});
  v.field("growth", ramp.growth, "factor from one chunk to the next", Positive{});
}
template <class V, Like<RelayShare> R>
void describe(V& v, R& through) {
  v.field("gpu", through.gpu, "index of the GPU that relays");
  v.field("share", through.share, "part of the bytes of every copy that goes over its link", Positive{});
}
template <class V, Like<Relay> R>
void describe(V& v, R& relay) {
  v.field("through", relay.through, "the GPUs that relay");
  v.field("piece", relay.piece, "largest size of a piece");
}
template <class V, Like<Choice> R>
void describe(V& v, R& choice) {
  v.field("strategy", choice.strategy, "name of the strategy", StrategyName{});
  v.field("chunks", choice.chunks, "number of chunks on each GPU");
  v.null_unless(!choice.ramp.level(), "ramp", choice.ramp, "sizes of the chunks; null: all have the same size");
  v.field("layout", choice.layout, "distribution of the chunks over streams");
  v.null_unless(choice.layout == Layout::few, "streams", choice.streams, "number of streams of the layout `few`");
  v.field("order", choice.order, "order in which ops are submitted");
  v.or_null("max_grid", choice.max_grid, "most thread blocks of a zero-copy kernel; null: the kernel's own grid");
  v.or_null("threads_each_way", choice.threads, "host threads that copy or touch the data in each direction");
  v.field("graph", choice.graph, "whether all ops are submitted in one call");
  v.field("batched", choice.batched, "whether the copies of a chunk in one direction are submitted in one call");
  v.field("mover_h2d", choice.mover_h2d, "what moves blocks of a pool to the GPU; null: one copy for each block");
  v.field("mover_d2h", choice.mover_d2h, "what moves blocks of a pool back; null: one copy for each block");
  v.field("gpus", choice.gpus, "number of GPUs that share the items");
  v.or_null("ring", choice.ring, "slots of each array's ring on the GPU; null: one for each chunk, or what fits");
  v.only_if(!choice.relay.through.empty(), "relay", choice.relay, "links of other GPUs that copies also go over");
}
template <class V, Like<Distance> R>
void describe(V& v, R& distance) {
  v.field("host", distance.host, "memory is not pinned: host threads, staging by the driver, moving pages",
          SignedSeconds{});
  v.field("submission", distance.submission, "time that the GPU waits because the host cannot submit faster",
          SignedSeconds{});
  v.field("latency", distance.latency, "latencies on the critical path", SignedSeconds{});
  v.field("gap", distance.gap, "gaps of copies, as long as they are without duplex load", SignedSeconds{});
  v.field("duplex_gap", distance.duplex_gap, "the part of the gaps that is added under duplex load", SignedSeconds{});
  v.field("fill_and_drain", distance.fill_and_drain, "waiting for the first chunk and after the last one",
          SignedSeconds{});
  v.field("total", distance.total, "predicted time minus that of ideal overlap", SignedSeconds{});
}
template <class V, Like<Candidate> R>
void describe(V& v, R& candidate) {
  describe(v, candidate.choice);
  v.field("predicted", candidate.predicted, "90 % prediction interval of the makespan");
  v.added("predicted_by", candidate.predicted_by, "the model that gave the prediction");
  v.or_null("why_not_simulated", candidate.why_not_simulated, "the figure that the simulation lacks");
  v.field("closed_form", candidate.closed_form, "time by the papers' equation, where it covers the job");
  v.added("tied_with_fastest", candidate.tied_with_fastest,
          "whether the interval overlaps that of the fastest candidate");
  v.added("distance_to_ideal_overlap", candidate.distance, "causes of the time above ideal overlap");
}
template <class V, Like<Refused> R>
void describe(V& v, R& refused) {
  v.field("strategy", refused.strategy, "name of the strategy");
  v.field("reason", refused.reason, "why it cannot do the job, and what would help");
}
template <class V, Like<Ranking> R>
void describe(V& v, R& plan) {
  v.header(formats::plan);
  v.field("job", plan.job, "name of the job");
  v.field("profile", plan.profile, "name of the profile");
  v.field("profile_hash", plan.profile_hash, "hash of the profile's parameters");
  v.field("assumed_link", plan.assumed_link, "whether the link of the profile is assumed");
  v.field("kernel_cost", plan.kernel_cost_origin, "where the time of the kernel comes from");
  v.field("kernel", plan.kernel, "the kernel alone, where its time is known");
  v.field("bound", plan.bound.time, "the time that no strategy is below");
  v.derived("bound_by", "what sets the bound", [&] { return plan.bound.set_by(); });
  v.field("ideal_overlap", plan.ideal_overlap.time, "the time of the longest stage alone");
  v.derived("ideal_overlap_by", "the longest stage", [&] { return plan.ideal_overlap.set_by(); });
  v.field("first_choice", plan.first_choice, "index of the preferred candidate");
  v.or_null("simpler", plan.simpler, "how the preferred candidate is simpler than the fastest");
  v.field("candidates", plan.candidates, "by predicted time");
  v.field("refused", plan.refused, "strategies that cannot do the job");
  v.field("assumptions", plan.assumptions, "one sentence each");
  v.field("why", plan.why, "why the preferred candidate is preferred");
}

Json to_json(const Mover& mover) { return write_record(mover); }
void from_json(const JsonReader& json, Mover& mover) { read_record(json, mover); }
Json json_schema(const Mover&) { return schema_of<Mover>(); }

Json to_json(const Choice& choice) { return write_record(choice); }
void from_json(const JsonReader& json, Choice& choice) {
  read_record(json, choice);
  try {
    require_valid(choice.ramp);
  } catch (const UsageError& error) {
    json.fail(error.what());
  }
}
Json json_schema(const Choice&) { return schema_of<Choice>(); }

Json to_json(const Candidate& candidate) { return write_record(candidate); }
void from_json(const JsonReader& json, Candidate& candidate) {
  from_json(json, candidate.choice);
  read_record(json, candidate);
}
Json json_schema(const Candidate&) { return schema_of<Candidate>(); }
Json to_json(const Ranking& plan) { return write_record(plan); }
void from_json(const JsonReader& json, Ranking& plan) {
  read_record(json, plan);
  if (plan.first_choice >= plan.candidates.size()) json.at("first_choice").fail("the index of a candidate");
  // Files name the longer part alone.
  for (Seconds* part : {&plan.bound.link, &plan.bound.kernel}) {
    *part = plan.bound.time;
    if (json.at("bound_by").string() == plan.bound.set_by()) break;
    *part = Seconds{0};
  }
  for (Seconds* part : {&plan.ideal_overlap.copies, &plan.ideal_overlap.kernel}) {
    *part = plan.ideal_overlap.time.value;
    if (json.at("ideal_overlap_by").string() == plan.ideal_overlap.set_by()) break;
    *part = Seconds{0};
  }
}
Json json_schema(const Ranking&) { return schema_of<Ranking>(); }

}  // namespace shiplap
