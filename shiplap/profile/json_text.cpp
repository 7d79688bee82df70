#include "shiplap/profile/json_text.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "shiplap/core/json.hpp"

namespace shiplap {
namespace {

void write_text(const Json& json, const std::string& indent, std::string& out) {
  constexpr std::size_t line_width = 110;
  const bool numbers =
      json.is_array() && std::all_of(json.begin(), json.end(), [](const Json& item) { return item.is_number(); });
  const std::string compact = json_text(json);
  if (!json.is_structured() || json.empty() || numbers || indent.size() + compact.size() <= line_width) {
    out += compact;
    return;
  }
  const std::string deeper = indent + "  ";
  const char* separator = "\n";
  out += json.is_object() ? '{' : '[';
  for (const auto& member : json.items()) {
    out += separator + deeper;
    if (json.is_object()) out += json_text(Json(member.key())) + ": ";
    write_text(member.value(), deeper, out);
    separator = ",\n";
  }
  out += '\n' + indent + (json.is_object() ? '}' : ']');
}

}  // namespace

std::string readable_text(const Json& json) {
  std::string text;
  write_text(json, "", text);
  return text + '\n';
}

}  // namespace shiplap
