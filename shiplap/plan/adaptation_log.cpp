#include "shiplap/plan/adaptation_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "shiplap/core/error.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/quantity_json.hpp"

namespace shiplap {
namespace {

BatchSeen batch_from(const JsonReader& json, std::size_t choices) {
  json.only_keys({"batch", "choice", "span", "kernels"});
  BatchSeen seen{.batch = json.at("batch").unsigned_integer(),
                 .choice = static_cast<std::uint32_t>(json.at("choice").unsigned_integer()),
                 .span = seconds_from_json(json.at("span"))};
  if (!(seen.span > Seconds{0})) json.at("span").fail("a time longer than 0");
  if (seen.choice >= choices) json.at("choice").fail("the number of one of the choices");
  if (const auto kernels = json.find("kernels")) seen.kernels = all_seconds_from_json(*kernels);
  return seen;
}

Decision decision_from(const JsonReader& json, std::size_t choices) {
  json.only_keys({"after", "reason", "kernel", "link", "from", "to", "period_from", "period_to"});
  Decision d{.after = json.at("after").unsigned_integer(),
             .reason = json.at("reason").string(),
             .kernel = json.at("kernel").positive(),
             .link = json.at("link").positive(),
             .from = static_cast<std::uint32_t>(json.at("from").unsigned_integer()),
             .to = static_cast<std::uint32_t>(json.at("to").unsigned_integer()),
             .period_from = seconds_from_json(json.at("period_from")),
             .period_to = seconds_from_json(json.at("period_to"))};
  if (std::max(d.from, d.to) >= choices) json.fail("numbers of choices in from and to");
  return d;
}

std::string difference_of(const Replay& r) {
  const auto text = [&](const std::vector<Decision>& decisions, std::size_t i) {
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
  return json_text({{"schema", formats::adaptation.schema},
                    {"version", formats::adaptation.version},
                    {"job", job},
                    {"profile_hash", profile_hash},
                    {"tolerance", options.tolerance},
                    {"least_gain", options.least_gain},
                    {"observe_every", options.observe_every},
                    {"explore", options.explore},
                    {"latency_limit", exact_json(options.latency_limit)},
                    {"table", to_json(table)}});
}

std::string log_line_of(const BatchSeen& seen) {
  Json json{{"batch", seen.batch}, {"choice", seen.choice}, {"span", exact_json(seen.span)}};
  std::vector<double> kernels;
  for (const Seconds kernel : seen.kernels) kernels.push_back(kernel.count());
  if (!kernels.empty()) json["kernels"] = quantities_json(kernels, "s");
  return json.dump();
}

std::string log_line_of(const Decision& d) {
  return Json{{"after", d.after},
              {"reason", d.reason},
              {"kernel", d.kernel},
              {"link", d.link},
              {"from", d.from},
              {"to", d.to},
              {"period_from", exact_json(d.period_from)},
              {"period_to", exact_json(d.period_to)}}
      .dump();
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
      require_schema(json, formats::adaptation);
      json.only_keys({"schema", "version", "job", "profile_hash", "tolerance", "least_gain", "observe_every", "explore",
                      "latency_limit", "table"});
      result.job = json.at("job").string();
      result.profile_hash = json.at("profile_hash").string();
      result.table = steady_table_from_json(json.at("table"));
      const std::uint64_t every = json.at("observe_every").unsigned_integer();
      if (every == 0 || every > 1'000'000) json.at("observe_every").fail("a number from 1 to 1000000");
      adaptation.emplace(result.table, AdaptationOptions{.tolerance = json.at("tolerance").positive(),
                                                         .least_gain = json.at("least_gain").non_negative(),
                                                         .observe_every = static_cast<std::uint32_t>(every),
                                                         .explore = json.at("explore").non_negative(),
                                                         .latency_limit = seconds_from_json(json.at("latency_limit"))});
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
