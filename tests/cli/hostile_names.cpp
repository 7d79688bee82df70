#include "tests/cli/hostile_names.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include "shiplap/core/printable.hpp"

namespace shiplap::testing {
namespace {

/// Calls `visit(place, text)` for every text and key of a document.
void walk(Json& json, const std::string& path,
          const std::function<void(const PlaceOfText&, Json&, std::string)>& visit) {
  if (json.is_array())
    for (Json& element : json) walk(element, path + "[]", visit);
  if (json.is_object()) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : json.items()) keys.push_back(key);
    for (const std::string& key : keys) {
      walk(json[key], path + "." + key, visit);
      visit({path + "." + key, true}, json, key);
    }
  }
  if (json.is_string()) visit({path, false}, json, {});
}

std::string line_that_begins(const std::string& text, std::string_view begin) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.substr(std::min(line.size(), line.find_first_not_of(" \t"))).starts_with(begin)) return line;
  return {};
}

std::string around(const std::string& text, std::size_t at) {
  return printable(text.substr(at < 60 ? 0 : at - 60, 160));
}

}  // namespace

std::string hostile() {
  return "=cmd|x\x1b[31m\x1b]0;title\x07\r\n" + std::string(forged) +
         "\t\"'</script><i>planted</i>\" onload=\"planted() $(touch planted)`touch planted`;|&\\ "
         "\u202e\u009b2J\u2028%s{}";
}

std::vector<PlaceOfText> places_of_texts(const std::vector<Json>& documents) {
  std::set<PlaceOfText> places;
  std::set<std::string> objects;
  for (Json document : documents)
    walk(document, "", [&](const PlaceOfText& place, Json&, const std::string&) {
      const std::string object = place.path.substr(0, place.path.rfind('.'));
      if (!place.is_key || objects.insert(object).second) places.insert(place);
    });
  return {places.begin(), places.end()};
}

std::vector<Json> planted(const std::vector<Json>& documents, const std::vector<PlaceOfText>& places, bool behind) {
  std::vector<Json> result = documents;
  std::set<PlaceOfText> open(places.begin(), places.end());
  for (Json& document : result)
    walk(document, "", [&](const PlaceOfText& place, Json& json, const std::string& key) {
      if (open.erase(place) == 0) return;
      if (!place.is_key) {
        json = (behind ? json.get<std::string>() : "") + hostile();
        return;
      }
      Json value = json.at(key);
      json.erase(key);
      json[(behind ? key : "") + hostile()] = std::move(value);
    });
  return result;
}

std::string problem_on_terminal(const std::string& text) {
  if (const std::string safe = printable_lines(text); safe != text) {
    const auto differ = std::ranges::mismatch(text, safe);
    return "a character that a terminal obeys: " + around(text, static_cast<std::size_t>(differ.in1 - text.begin()));
  }
  if (const std::string line = line_that_begins(text, forged); !line.empty()) return "a forged line: " + line;
  return {};
}

std::string problem_in_page(const std::string& html) {
  for (const std::string& bad : {std::string("<i>planted"), std::string("</script><i>")})
    if (const auto at = html.find(bad); at != html.npos) return "an element: " + around(html, at);
  for (auto at = html.find("\" onload="); at != html.npos; at = html.find("\" onload=", at + 1))
    if (at == 0 || html[at - 1] != '\\') return "an attribute: " + around(html, at);
  return {};
}

std::string problem_in_csv(const std::string& csv) {
  for (const char* bad : {",=cmd", "\n=cmd", "\"=cmd"})
    if (const auto at = csv.find(bad); at != csv.npos) return "a formula: " + around(csv, at);
  return problem_on_terminal(csv);
}

std::string problem_in_program(const std::string& program) {
  if (const std::string line = line_that_begins(program, forged); !line.empty()) return "a line of code: " + line;
  return {};
}

}  // namespace shiplap::testing
