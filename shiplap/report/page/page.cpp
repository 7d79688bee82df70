#include "shiplap/report/page/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "shiplap/core/error.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/document/colours.hpp"
#include "shiplap/document/figure_json.hpp"
#include "shiplap/report/page/assets.hpp"
#include "shiplap/report/svg_parts.hpp"

namespace shiplap::page {
namespace {

constexpr std::size_t longest_table = 2000;
constexpr std::size_t longest_open_table = 20;
constexpr std::size_t longest_sentence = 3000;

/// Text of a file as it may stand in HTML.
std::string safe_html(std::string_view text) { return xml_escape(printable(text, document::longest_text)); }

/// JSON that may stand in a script element: nothing in it can end the element.
std::string in_script(const Json& json) {
  std::string out;
  for (const char c : json.dump()) out += c == '<' ? "\\u003c" : std::string(1, c);
  return out;
}

/// A word that nobody can know before the page is written. Only scripts and styles that carry it are obeyed.
std::string random_nonce() {
  std::random_device random;
  std::string nonce;
  for (int i = 0; i < 4; ++i) nonce += fmt::format("{:08x}", random());
  return nonce;
}

std::string sentence_html(std::string_view text) { return xml_escape(printable(text, longest_sentence)); }

std::string paragraph(std::string_view text) {
  return text.empty() ? "" : fmt::format("<p>{}</p>\n", sentence_html(text));
}

std::string class_of(Judgement judgement) {
  return judgement == Judgement::good   ? "good"
         : judgement == Judgement::warn ? "warn"
         : judgement == Judgement::bad  ? "bad"
                                        : "";
}

/// The sentence with its verdict in colour.
std::string headline_html(const document::Headline& headline) {
  const std::string verdict = headline.verdict.empty()
                                  ? ""
                                  : fmt::format("<strong class=\"{}\">{}</strong>", class_of(headline.judgement),
                                                sentence_html(headline.verdict));
  return fmt::format("<p class=\"headline\">{}{}</p>\n", verdict,
                     sentence_html(headline.sentence.substr(headline.verdict.size())));
}

/// What stands on top of the page for a section: the verdict of its worst headline, and the numbers of all.
std::string result_of(const Section& section, std::size_t number) {
  const document::Headline& worst = *std::ranges::max_element(section.headlines, {}, &document::Headline::judgement);
  std::string numbers;
  for (const document::Headline& headline : section.headlines)
    for (const document::KeyNumber& one : headline.numbers)
      numbers += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", safe_html(one.label), safe_html(one.value));
  if (!numbers.empty()) numbers = fmt::format("<dl class=\"numbers\">\n{}</dl>\n", numbers);
  return fmt::format(
      "<li class=\"result {0}\">\n<p class=\"verdict {0}\">{1}</p>\n{2}<a href=\"#section-{3}\">{4}</a></li>\n",
      class_of(worst.judgement), sentence_html(worst.verdict.empty() ? worst.sentence : worst.verdict), numbers, number,
      safe_html(section.title));
}

std::string row_of(const std::vector<Cell>& cells) {
  std::string out = "<tr>";
  for (const Cell& cell : cells) {
    std::string classes = cell.value ? "number" : "";
    if (cell.judgement != Judgement::none) classes += (classes.empty() ? "" : " ") + class_of(cell.judgement);
    out += fmt::format("<td{}{}>{}</td>", classes.empty() ? "" : fmt::format(" class=\"{}\"", classes),
                       cell.value ? fmt::format(" data-value=\"{}\"", *cell.value) : "", safe_html(cell.text));
  }
  return out + "</tr>\n";
}

/// Writes figures and collects those that the script draws.
class Writer {
 public:
  std::string section(const Section& section, std::size_t number) {
    std::string out = fmt::format("<section id=\"section-{}\">\n<h2>{}</h2>\n", number, safe_html(section.title));
    if (!section.source.empty()) out += fmt::format("<p class=\"source\">{}</p>\n", safe_html(section.source));
    for (const document::Headline& headline : section.headlines) out += headline_html(headline);
    for (const std::string& sentence : section.sentences) out += paragraph(sentence);
    for (const std::vector<document::Figure>* figures : {&section.figures, &section.details})
      for (const document::Figure& figure : *figures)
        out += std::visit([&](const auto& one) { return html_of(one); }, figure);
    return out + "</section>\n";
  }

  const Json& drawn() const { return drawn_; }

 private:
  static std::string html_of(const Table& table) {
    if (table.empty()) return "";
    std::string out = "<div class=\"data\">\n";
    if (!table.title.empty()) out += fmt::format("<h3>{}</h3>\n", safe_html(table.title));
    for (const std::string& note : table.notes) out += paragraph(note);
    const bool is_long = table.rows.size() > longest_open_table;
    if (is_long)
      out += fmt::format("<details><summary>{} rows: {}</summary>\n", table.rows.size(), safe_html(table.title));
    out += fmt::format("<div class=\"scroll\"><table aria-label=\"{}\">\n<thead><tr>", safe_html(table.title));
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const bool is_number =
          std::ranges::any_of(table.rows, [&](const auto& row) { return row.at(c).value.has_value(); });
      const std::string& unit = table.columns[c].unit;
      out += fmt::format("<th scope=\"col\"{}{}>{}</th>", is_number ? " class=\"number\"" : "",
                         unit.empty() ? "" : fmt::format(" data-unit=\"{}\"", safe_html(unit)),
                         safe_html(table.columns[c].title));
    }
    out += "</tr></thead>\n<tbody>\n";
    for (std::size_t r = 0; r < std::min(table.rows.size(), longest_table); ++r) out += row_of(table.rows[r]);
    out += "</tbody>\n</table></div>\n";
    if (table.rows.size() > longest_table)
      out += paragraph(fmt::format("{} further rows are left out.", table.rows.size() - longest_table));
    return out + (is_long ? "</details></div>\n" : "</div>\n");
  }

  template <class Drawn>
  std::string html_of(const Drawn& figure) {
    Json json = document::to_json(document::Figure(figure));
    const std::size_t number = drawn_.size();
    std::string out =
        fmt::format("<figure id=\"figure-{0}\" data-figure=\"{0}\"><figcaption><h3>{1}</h3>{2}</figcaption></figure>\n",
                    number, xml_escape(json["title"].get<std::string>()), paragraph(figure.note));
    drawn_.push_back(std::move(json));
    return out;
  }

  Json drawn_ = Json::array();
};

std::string head(const Page& page, const std::string& nonce) {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'nonce-{0}'; style-src "
      "'nonce-{0}'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"generator\" content=\"shiplap report\">\n<title>{1}</title>\n",
      nonce, safe_html(page.title));
  for (const Asset& style : styles())
    out += fmt::format("<style nonce=\"{}\">\n{}{}</style>\n", nonce, document::colour_variables(), style.text);
  return out + "</head>\n";
}

constexpr const char* keys =
    "<p class=\"keys\">Charts: hover, or use <kbd>Tab</kbd> and the arrow keys, for values; drag or <kbd>+</kbd> "
    "<kbd>−</kbd> to zoom, <kbd>0</kbd> or a double click to reset. A click on a name hides its curve, one on a title "
    "sorts.</p>\n";
constexpr const char* footer =
    "<footer>\n<p>Made by shiplap report. Charts are drawn with D3 (d3js.org, BSD licence).</p>\n</footer>\n";

std::string summary_of(const Page& page, bool has_charts) {
  std::string out = fmt::format("<header>\n<h1>{}</h1>\n", safe_html(page.title));
  std::string results;
  for (std::size_t i = 0; i < page.sections.size(); ++i)
    if (!page.sections[i].headlines.empty()) results += result_of(page.sections[i], i);
  if (!results.empty()) out += fmt::format("<ul class=\"results\">\n{}</ul>\n", results);
  out += "<nav aria-label=\"Sections\"><ul>\n";
  for (std::size_t i = 0; i < page.sections.size(); ++i)
    out += fmt::format("<li><a href=\"#section-{}\">{}</a></li>\n", i, safe_html(page.sections[i].title));
  if (!page.words.empty()) out += "<li><a href=\"#words\">Words</a></li>\n";
  out += "</ul></nav>\n";
  if (has_charts) out += keys;
  return out + "<noscript><p>Charts need JavaScript. Texts and tables do not.</p></noscript>\n</header>\n";
}

std::string words_of(const Page& page) {
  if (page.words.empty()) return "";
  std::string out = "<section id=\"words\">\n<h2>Words</h2>\n<dl>\n";
  for (const Word& word : page.words)
    out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", safe_html(word.word), sentence_html(word.meaning));
  return out + "</dl>\n</section>\n";
}

}  // namespace

bool has_plots() { return !plotting_library().empty(); }

std::string html(const Page& page) {
  if (!has_plots())
    throw Unsupported(
        "this build of shiplap has no D3, so it cannot draw reports; install it (Debian and Ubuntu: node-d3; elsewhere "
        "give -DSHIPLAP_D3=FILE to cmake) and build again");
  const std::string nonce = random_nonce();
  Writer writer;
  std::string sections;
  for (std::size_t i = 0; i < page.sections.size(); ++i) sections += writer.section(page.sections[i], i);
  std::string out = head(page, nonce) + "<body>\n" + summary_of(page, !writer.drawn().empty()) + "<main>\n" + sections +
                    words_of(page);
  out += fmt::format("</main>\n{}<script type=\"application/json\" id=\"figures\" nonce=\"{}\">{}</script>\n", footer,
                     nonce, in_script(writer.drawn()));
  for (const Asset& library : plotting_library())
    out += fmt::format("<script nonce=\"{}\">\n{}\n</script>\n", nonce, library.text);
  out += fmt::format("<script nonce=\"{}\">\n\"use strict\";\n", nonce);
  for (const Asset& script : scripts()) out += script.text;
  return out + "</script>\n</body>\n</html>\n";
}

}  // namespace shiplap::page
