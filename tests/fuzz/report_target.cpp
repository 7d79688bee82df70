// Pages made from a file of anybody: its texts are data, whatever markup they hold.
#include <algorithm>
#include <array>
#include <cctype>

#include "shiplap/report/page/page.hpp"
#include "shiplap/report/page/report.hpp"
#include "tests/fuzz/target.hpp"

namespace shiplap::fuzz {
namespace {

constexpr std::array known_tags{"a",       "body",   "dd",    "details", "div",     "dl",       "dt",     "figcaption",
                                "figure",  "footer", "h1",    "h2",      "h3",      "head",     "header", "html",
                                "kbd",     "li",     "main",  "meta",    "nav",     "noscript", "p",      "script",
                                "section", "strong", "style", "summary", "table",   "tbody",    "td",     "th",
                                "thead",   "title",  "tr",    "ul",      "!doctype"};

/// The name of a tag: what follows "<" or "</".
std::string_view name_of_tag(std::string_view after) {
  if (after.starts_with('/')) after.remove_prefix(1);
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '!'; };
  return after.substr(0, static_cast<std::size_t>(std::ranges::find_if_not(after, is_part) - after.begin()));
}

/// Reads a page as a browser does: an element of style or script ends at its end tag, and elsewhere "<" begins a tag.
void require_known_tags(std::string_view page) {
  std::size_t scripts = 0;
  for (std::size_t open = page.find('<'); open != page.npos; open = page.find('<')) {
    page.remove_prefix(open + 1);
    const std::string_view name = name_of_tag(page);
    require(std::ranges::find(known_tags, name) != known_tags.end(), "a page has no tag <" + std::string(name) + ">");
    if (name != "script" && name != "style") continue;
    scripts += name == "script" ? 1 : 0;
    const std::size_t end = page.find("</" + std::string(name));
    require(end != page.npos, "a script ends");
    page.remove_prefix(end + 2);
  }
  require(scripts == 3, "a page has its own three scripts and no other");
}

void make_report(std::string_view bytes) {
  const page::ReportFile file{.name = "file", .text = std::string(bytes)};
  const auto made = read_or_refused([&] { return page::report({&file, 1}, {.map = std::nullopt}); });
  if (!made || !page::has_plots()) return;
  const std::string page = page::html(*made);
  require_known_tags(page);
  require(
      std::ranges::none_of(page, [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t'; }),
      "a page has no control character");
}

}  // namespace

const Target report_target{"report", make_report};

}  // namespace shiplap::fuzz
