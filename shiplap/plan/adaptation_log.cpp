#include "shiplap/plan/adaptation_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/core/record.hpp"
#include "shiplap/plan/ranking_json.hpp"

namespace shiplap {
namespace {

/// Times in seconds with all digits.
struct ExactTimes {
  static Json write(const std::vector<Seconds>& times) {
    std::vector<double> seconds;
    for (const Seconds time : times) seconds.push_back(time.count());
    return quantities_json(seconds, "s");
  }
  static std::vector<Seconds> read(const JsonReader& json) { return all_seconds_from_json(json); }
  static Json schema() { return detail::quantities_schema("s"); }
};

/// The first line of a log.
struct LogHeader {
  std::string job;
  std::string profile_hash;
  AdaptationOptions options;
  SteadyTable table;
};

/// A decision with its times in milliseconds.
struct ShownDecision : BatchDecision {};

}  // namespace

template <class V, Like<LogHeader> R>
void describe(V& v, R& header) {
  v.header(formats::adaptation);
  v.field("job", header.job, "name of the job over one batch");
  v.field("profile_hash", header.profile_hash, "hash of the profile's parameters, with which the table was simulated");
  v.field("tolerance", header.options.tolerance, "largest relative residual that is noise", Positive{});
  v.field("least_gain", header.options.least_gain,
          "least predicted gain for which a choice is left, as a fraction of the time of a batch", NonNegative{});
  v.field("observe_every", header.options.observe_every,
          "number of batches of which one has its kernels observed while nothing changes",
          Form<std::uint32_t>{.least = 1, .most = 1'000'000});
  v.field("explore", header.options.explore,
          "largest fraction by which a choice that is tried may be predicted to be slower; 0: no choice is tried",
          NonNegative{});
  v.field("latency_limit", header.options.latency_limit, "longest wanted span of a batch; 0: no limit", ExactSeconds{});
  v.field("table", header.table, "simulated times of the choices");
}
template <class V, Like<BatchObservation> R>
void describe(V& v, R& seen) {
  v.field("batch", seen.batch, "number of the batch, from 0 on");
  v.field("choice", seen.choice, "index of the choice in the table");
  v.field("span", seen.span, "from when its first stream got to it until its end", ExactSeconds{});
  v.only_if(!seen.kernels.empty(), "kernels", seen.kernels,
            "time that the kernel of each chunk adds to the time in which any of them runs", ExactTimes{});
}
template <class V, class R, class Time>
void describe_decision(V& v, R& decision, const Time& time) {
  v.field("after", decision.after, "number of the batch whose observation led to the decision");
  v.field("reason", decision.reason, "one sentence");
  v.field("kernel", decision.kernel, "estimated time of the kernel, as a factor of the planned time", Positive{});
  v.field("link", decision.link, "estimated time of copies, as a factor of the planned time", Positive{});
  v.field("from", decision.from, "index of the old choice");
  v.field("to", decision.to, "index of the choice for the batches that are submitted from now on");
  v.field("period_from", decision.period_from, "time of a batch with the old choice, predicted with the new factors",
          time);
  v.field("period_to", decision.period_to, "time of a batch with the new choice, predicted with the new factors", time);
}
template <class V, Like<BatchDecision> R>
void describe(V& v, R& decision) {
  describe_decision(v, decision, ExactSeconds{});
}
template <class V, Like<ShownDecision> R>
void describe(V& v, R& decision) {
  describe_decision(v, decision, Form<Seconds>{});
}
template <class V, Like<Replay> R>
void describe(V& v, R& replay) {
  v.header(formats::adaptation_replay);
  v.field("job", replay.job, "name of the job over one batch");
  v.field("profile_hash", replay.profile_hash, "hash of the profile's parameters, with which the table was simulated");
  v.derived("batches", "number of batches in the log", [&] { return replay.seen.size(); });
  v.derived("as_logged", "whether the decisions are those of the log", [&] { return replay.difference.empty(); });
  v.field("difference", replay.difference, "the first difference; empty: there is none");
  v.field("choices", replay.table.choices, "the choices for a batch");
  v.field("decisions", replay.again, "the decisions that were made again");
}

namespace {

BatchObservation batch_from(const JsonReader& json, std::size_t choices) {
  BatchObservation seen;
  read_whole_record(json, seen);
  if (!(seen.span > Seconds{0})) json.at("span").fail("a time longer than 0");
  if (seen.choice >= choices) json.at("choice").fail("the number of one of the choices");
  return seen;
}

BatchDecision decision_from(const JsonReader& json, std::size_t choices) {
  BatchDecision decision;
  read_whole_record(json, decision);
  if (std::max(decision.from, decision.to) >= choices) json.fail("numbers of choices in from and to");
  return decision;
}

std::string difference_of(const Replay& r) {
  const auto text = [&](const std::vector<BatchDecision>& decisions, std::size_t i) {
    return i < decisions.size() ? log_line_of(decisions[i]) : std::string("none");
  };
  // A log may be cut off between a batch and the decision after it.
  const bool cut_off = r.again.size() == r.logged.size() + 1 && r.again.back().after + 1 == r.seen.size();
  for (std::size_t i = 0; i < (cut_off ? r.logged.size() : std::max(r.logged.size(), r.again.size())); ++i)
    if (text(r.logged, i) != text(r.again, i))
      return fmt::format("decision {}: logged {}, now {}", i, text(r.logged, i), text(r.again, i));
  return {};
}

}  // namespace

std::string header_line(const std::string& job, const std::string& profile_hash, const SteadyTable& table,
                        const AdaptationOptions& options) {
  return json_text(write_record(LogHeader{job, profile_hash, options, table}));
}

std::string log_line_of(const BatchObservation& seen) { return write_record(seen).dump(); }
std::string log_line_of(const BatchDecision& decision) { return write_record(decision).dump(); }

Json to_json(const BatchDecision& decision) { return write_record(ShownDecision{decision}); }
void from_json(const JsonReader& json, BatchDecision& decision) {
  ShownDecision shown;
  read_record(json, shown);
  decision = std::move(shown);
}
Json json_schema(const BatchDecision&) { return schema_of<ShownDecision>(); }

Json to_json(const Replay& replay) { return write_record(replay); }
Json json_schema(const Replay&) {
  return document_schema<Replay>("shiplap adaptation replay", "What `shiplap replay --json` prints.");
}

Json adaptation_log_schema() {
  Json schema = document_schema<LogHeader>(
      "shiplap adaptation log",
      "The log that `shiplap run --adaptive --log` writes, with one JSON value on each line. The first line has this "
      "schema. Every other line is an observed batch ($defs/batch) or a decision ($defs/decision). Times are exact, so "
      "that `shiplap replay` calculates with the same values.");
  schema["$defs"]["batch"] = schema_of<BatchObservation>();
  schema["$defs"]["decision"] = schema_of<BatchDecision>();
  return schema;
}

bool LogLength::takes(std::string_view line) {
  const std::uint64_t with_newline = line.size() + 1;
  has_ended_ = has_ended_ || bytes_ + with_newline > most_;
  if (!has_ended_) bytes_ += with_newline;
  return !has_ended_;
}

Replay replay(std::string_view log, const std::string& source) {
  Replay result;
  std::optional<Adaptation> adaptation;
  std::size_t number = 0;
  while (!log.empty()) {
    const std::size_t end = log.find('\n');
    if (end == std::string_view::npos && number > 0) break;  // a line that was cut off
    const std::string_view line = log.substr(0, end);
    log.remove_prefix(end == std::string_view::npos ? log.size() : end + 1);
    ++number;
    if (line.empty()) continue;
    const std::string where = fmt::format("{}:{}", source, number);
    const Json value = parse_json(line, where);
    const JsonReader json(value, where);
    if (!adaptation) {
      LogHeader header;
      read_whole_record(json, header);
      result.job = std::move(header.job);
      result.profile_hash = std::move(header.profile_hash);
      result.table = std::move(header.table);
      adaptation.emplace(result.table, header.options);
    } else if (json.find("after")) {
      result.logged.push_back(decision_from(json, result.table.choices.size()));
    } else {
      result.seen.push_back(batch_from(json, result.table.choices.size()));
      if (auto decision = adaptation->observe(result.seen.back())) result.again.push_back(std::move(*decision));
    }
  }
  if (!adaptation)
    throw Error(fmt::format("{}: it is empty; a log of an adaptation begins with a line that says so", source));
  result.difference = difference_of(result);
  return result;
}

}  // namespace shiplap
