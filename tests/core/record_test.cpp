#include "shiplap/core/record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/support/json_schema.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using std::string_view_literals::operator""sv;

enum class Weather : std::uint8_t { fair, foul, unnamed };
constexpr std::array weather_names{std::pair{Weather::fair, "fair"sv}, std::pair{Weather::foul, "foul"sv}};
constexpr EnumNames<Weather> names_of(Weather) { return weather_names; }

struct Leg {
  std::uint32_t miles = 0;
  Seconds took{0};
};
template <class V, Like<Leg> R>
void describe(V& v, R& leg) {
  v.field("miles", leg.miles, "length", one_or_more<std::uint32_t>);
  v.field("took", leg.took, "time");
}

/// A record with a member of every form.
struct Voyage {
  std::string ship{"Fram"};
  Weather weather = Weather::fair;
  double draught = 4.5;
  Bytes log{0};
  Interval<Seconds> predicted = Interval<Seconds>::exact(Seconds{1});
  std::optional<double> wind{};
  std::vector<Leg> legs{};
  std::map<std::string, bool> seen{};
  std::string lost{};
  std::uint64_t crew = 13;
  std::string note{};
};
template <class V, Like<Voyage> R>
void describe(V& v, R& voyage) {
  v.header(formats::run);
  v.field("ship", voyage.ship, "name");
  v.field("weather", voyage.weather, "weather");
  v.field("draught", voyage.draught, "in metres", Positive{});
  v.field("log", voyage.log, "size of the log");
  v.field("predicted", voyage.predicted, "time");
  v.field("wind", voyage.wind, "speed", OrNull<double, InUnit>{{"m/s"}});
  v.field("legs", voyage.legs, "by date", AscendingBy<&Leg::miles, Leg>{{}, "miles"});
  v.field("seen", voyage.seen, "animals");
  v.or_null("lost", voyage.lost, "what was lost");
  v.added("crew", voyage.crew, "number of people");
  v.only_if(!voyage.note.empty(), "note", voyage.note, "words");
  v.derived("miles", "the longest leg", [&] { return voyage.legs.empty() ? 0u : voyage.legs.back().miles; });
  v.constant("flag", "no");
}

/// A record with several records of one kind.
struct PolarTrip {
  Leg out{};
  Leg back{};
  std::vector<Leg> others{};
};
template <class V, Like<PolarTrip> R>
void describe(V& v, R& trip) {
  v.field("out", trip.out, "to the pole");
  v.field("back", trip.back, "home");
  v.field("others", trip.others, "detours");
}

Voyage voyage_from(const Json& json) {
  Voyage voyage;
  read_whole_record(JsonReader(json, "log.json"), voyage);
  return voyage;
}

Voyage full_voyage() {
  return {.ship = "Gjøa",
          .weather = Weather::foul,
          .draught = 3,
          .log = 2_KiB,
          .predicted = {Seconds{2}, Seconds{1}, Seconds{3}},
          .wind = 9.5,
          .legs = {{10, Seconds{5}}, {20, Seconds{6}}},
          .seen = {{"bear", true}, {"whale", false}},
          .lost = "an anchor",
          .crew = 6,
          .note = "cold"};
}

TEST(Record, is_written_in_the_order_of_its_description) {
  EXPECT_EQ(json_text(write_record(Voyage{})),
            R"({"schema":"shiplap/run","version":4,"ship":"Fram","weather":"fair","draught":4.5,)"
            R"("log":{"value":0,"unit":"B"},"predicted":{"value":1000.0,"low":1000.0,"high":1000.0,"unit":"ms"},)"
            R"("wind":null,"legs":[],"seen":{},"lost":null,"crew":13,"miles":0,"flag":"no"})");
}

TEST(Record, is_the_same_when_it_is_read_again) {
  for (const Voyage& voyage : {Voyage{}, full_voyage()}) {
    const Json json = write_record(voyage);
    EXPECT_EQ(write_record(voyage_from(json)), json);
  }
  EXPECT_EQ(voyage_from(write_record(full_voyage())).wind, 9.5);
}

TEST(Record, names_the_key_of_what_is_missing_or_wrong) {
  struct Case {
    const char* key;
    Json value;
    const char* said;
  };
  for (const auto& [key, value, said] :
       {Case{"weather", "windy", "weather: expected one of fair, foul"}, Case{"draught", 0, "draught"},
        Case{"wind", {{"value", 3}, {"unit", "kn"}}, "wind.unit: expected \"m/s\""},
        Case{"legs",
             {{{"miles", 0}, {"took", {{"value", 1}, {"unit", "s"}}}}},
             "legs[0].miles: expected a whole number from 1"},
        Case{"flag", "yes", "flag: expected \"no\""}, Case{"version", 2, "version"}, Case{"sails", 3, "sails"}}) {
    Json json = write_record(full_voyage());
    json[key] = value;
    EXPECT_THAT(message_of([&] { voyage_from(json); }), HasSubstr(said)) << key;
  }
  Json unordered = write_record(full_voyage());
  std::swap(unordered["legs"][0], unordered["legs"][1]);
  EXPECT_THAT(message_of([&] { voyage_from(unordered); }), HasSubstr("legs[1].miles"));
  Json without = write_record(full_voyage());
  without.erase("ship");
  EXPECT_THAT(message_of([&] { voyage_from(without); }), HasSubstr("ship"));
}

TEST(Record, keeps_the_default_of_what_older_files_lack) {
  Json json = write_record(full_voyage());
  for (const char* key : {"crew", "note", "lost", "wind"}) json.erase(key);
  const Voyage voyage = voyage_from(json);
  EXPECT_EQ(voyage.crew, 13u);
  EXPECT_EQ(voyage.note + voyage.lost, "");
  EXPECT_FALSE(voyage.wind);
}

TEST(Record, fits_its_schema_and_other_values_do_not) {
  const JsonSchema schema(schema_of<Voyage>());
  for (const Voyage& voyage : {Voyage{}, full_voyage()}) EXPECT_THAT(schema.problems(write_record(voyage)), IsEmpty());
  for (const char* key : {"ship", "weather", "legs", "flag"}) {
    Json json = write_record(full_voyage());
    json[key] = 7;
    EXPECT_EQ(schema.problems(json).size(), 1u) << key;
    json.erase(key);
    EXPECT_EQ(schema.problems(json).size(), 1u) << key;
  }
}

TEST(Record, has_each_repeated_part_of_its_schema_once) {
  const Json document = document_schema<PolarTrip>("a trip", "there and back");
  ASSERT_EQ(document.at("$defs").size(), 1u) << document;
  EXPECT_EQ(document.at("properties").at("back").at("description"), "home");
  const JsonSchema schema(document);
  PolarTrip trip{.out = {1, Seconds{2}}, .back = {3, Seconds{4}}, .others = {{5, Seconds{6}}}};
  EXPECT_THAT(schema.problems(write_record(trip)), IsEmpty());
  Json wrong = write_record(trip);
  wrong["back"]["miles"] = "far";
  wrong["others"][0].erase("took");
  EXPECT_EQ(schema.problems(wrong).size(), 2u);
}

TEST(EnumNames, refuse_a_value_without_a_name) {
  EXPECT_EQ(enum_name(Weather::foul), "foul");
  EXPECT_EQ(value_of<Weather>("fair"), Weather::fair);
  EXPECT_FALSE(value_of<Weather>("unnamed"));
  EXPECT_EQ(all_names<Weather>(), "fair, foul");
  EXPECT_THAT(message_of([] { enum_name(Weather::unnamed); }), HasSubstr("has no name"));
}

TEST(RecordForms, refuse_what_their_schemas_refuse) {
  const auto read = [](const auto& form, const Json& json) {
    return message_of([&] { form.read(JsonReader(json, "log.json")); });
  };
  const ListOf<double> one_or_two{.least = 1, .most = 2};
  EXPECT_THAT(read(one_or_two, Json::array()), HasSubstr("an array of 1 or more"));
  EXPECT_THAT(read(one_or_two, {1, 2, 3}), HasSubstr("at most 2"));
  EXPECT_THAT(JsonSchema(one_or_two.schema()).problems(Json::array()), Not(IsEmpty()));
  EXPECT_THAT(read(NonEmptyText{}, ""), HasSubstr("a text that is not empty"));
  EXPECT_THAT(JsonSchema(NonEmptyText::schema()).problems(""), Not(IsEmpty()));
  const TwoNames side{"port", "starboard"};
  EXPECT_THAT(read(side, "aft"), HasSubstr("port or starboard"));
  EXPECT_THAT(JsonSchema(side.schema()).problems("aft"), Not(IsEmpty()));
  EXPECT_EQ(side.write(side.read(JsonReader("starboard", "log.json"))), "starboard");
}

}  // namespace
}  // namespace shiplap
