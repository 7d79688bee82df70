// Readers of JSON documents that need nothing but their text.
#include <nlohmann/json.hpp>

#include "shiplap/core/json.hpp"
#include "shiplap/core/record.hpp"
#include "shiplap/document/text.hpp"
#include "shiplap/evaluate/evaluation.hpp"
#include "shiplap/fleet/history.hpp"
#include "shiplap/fleet/judge.hpp"
#include "shiplap/fleet/rank_message.hpp"
#include "shiplap/measure/node_result.hpp"
#include "shiplap/pipeline/race.hpp"
#include "shiplap/plan/adaptation_log.hpp"
#include "shiplap/report/sections.hpp"
#include "tests/fuzz/target.hpp"

namespace shiplap::fuzz {
namespace {

const std::string document_name = "input";

std::optional<Json> document_of(std::string_view bytes) {
  return read_or_refused([&] { return parse_json(bytes, document_name); });
}

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// A number may lose digits when it is written first, so the text that is written first is compared with the next.
void read_any_json(std::string_view bytes) {
  const auto json = document_of(bytes);
  if (!json) return;
  const std::string once = text_of(*json);
  require(text_of(parse_json(once, document_name)) == once, "JSON that was read is written and read as the same");
}

void read_evaluation(std::string_view bytes) {
  const auto json = document_of(bytes);
  if (!json) return;
  const auto evaluation = read_or_refused([&] { return Form<Evaluation>::read(JsonReader(*json, document_name)); });
  if (!evaluation) return;
  const std::string once = text_of(to_json(*evaluation));
  const auto again = read_or_refused(
      [&] { return Form<Evaluation>::read(JsonReader(parse_json(once, document_name), document_name)); });
  require(again && text_of(to_json(*again)) == once, "an evaluation that was read is written and read as the same");
  document::text(document::evaluation_section(*evaluation));
}

void read_history_or_check(std::string_view bytes) {
  const auto json = document_of(bytes);
  if (!json) return;
  const JsonReader reader(*json, document_name);
  if (const auto history = read_or_refused([&] { return History::from_json(reader); })) {
    const std::string once = text_of(history->to_json());
    const Json again = parse_json(once, document_name);
    require(text_of(History::from_json(JsonReader(again, document_name)).to_json()) == once,
            "a history that was read is written and read as the same");
  }
  if (const auto result = read_or_refused([&] { return Form<NodeResult>::read(reader); })) {
    History history;
    history.add(*result);
    const Json again = parse_json(text_of(history.to_json()), document_name);
    History::from_json(JsonReader(again, document_name));
  }
  read_or_refused([&] { return Form<RaceResult>::read(reader); });
  if (const auto fleet = read_or_refused([&] { return Form<JudgedFleet>::read(reader); }))
    document::text(document::fleet_section(*fleet), {}, document::Detail::all);
}

void read_rank_message(std::string_view bytes) {
  read_or_refused([&] { return report_from_text(bytes, document_name); });
  if (const auto order = read_or_refused([&] { return order_from_text(bytes, document_name); }))
    order_from_text(to_text(*order), document_name);
}

void read_adaptation(std::string_view bytes) {
  const auto replayed = read_or_refused([&] { return replay(bytes, document_name); });
  if (!replayed) return;
  text_of(to_json(*replayed));
  document::text(document::adaptation_section(*replayed));
}

}  // namespace

const Target json_target{"json", read_any_json};
const Target evaluation_target{"evaluation", read_evaluation};
const Target history_target{"history", read_history_or_check};
const Target rank_message_target{"rank_message", read_rank_message};
const Target adaptation_target{"adaptation", read_adaptation};

}  // namespace shiplap::fuzz
