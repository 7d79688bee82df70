// Pages as text. tests/browser opens them in a browser.
#include "shiplap/report/page/page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "shiplap/core/error.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/document/figure_json.hpp"

namespace shiplap::page {
namespace {

using document::Figure;
using document::Plot;

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class HtmlPage : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_plots()) GTEST_SKIP() << "this build has no D3";
  }
  /// A page of one section with one figure.
  static Page with(Figure figure) {
    return {.title = "title", .sections = {{.title = "section", .figures = {std::move(figure)}}}};
  }
  static Table table_of(std::size_t rows) {
    Table table{.title = "table", .columns = {{"number"}}};
    for (std::size_t i = 0; i < rows; ++i) table.add({Cell(std::to_string(i), static_cast<double>(i))});
    return table;
  }
};

TEST_F(HtmlPage, shows_markup_of_others_as_text) {
  const std::string evil = "<img src=x onerror=alert(1)>&\"'\x1b[31m";
  Page page{
      .title = evil,
      .sections = {
          {.title = evil,
           .source = evil,
           .headlines = {{.verdict = evil, .sentence = evil, .numbers = {{evil, evil}}}},
           .sentences = {evil},
           .figures = {
               Table{.title = evil, .notes = {evil}, .columns = {{evil, Align::automatic, evil}}, .rows = {{evil}}},
               Plot{.title = evil, .note = evil, .series = {{.name = evil}}}}}}};
  const std::string text = html(page);
  EXPECT_THAT(text, Not(HasSubstr("<img")));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("&lt;img src=x onerror=alert(1)&gt;&amp;&quot;"));
}

TEST_F(HtmlPage, data_cannot_end_the_script_that_holds_it) {
  const std::string text = html(with(Plot{.title = "a", .series = {{.name = "</script><script>alert(1)"}}}));
  EXPECT_THAT(text, Not(HasSubstr("</script><script>alert")));
  EXPECT_THAT(text, HasSubstr("\\u003c/script>\\u003cscript>alert(1)"));
}

TEST_F(HtmlPage, obeys_only_scripts_and_styles_with_its_own_random_word) {
  const Page page = with(table_of(1));
  const std::regex policy("script-src 'nonce-([0-9a-f]{32})'");
  std::smatch first, second;
  const std::string one = html(page);
  const std::string other = html(page);
  ASSERT_TRUE(std::regex_search(one, first, policy));
  ASSERT_TRUE(std::regex_search(other, second, policy));
  EXPECT_NE(first[1], second[1]);
  EXPECT_THAT(one, HasSubstr("default-src 'none'"));
  const std::regex script("<(script|style)( [^>]*)?>");
  std::size_t scripts = 0;
  for (std::sregex_iterator at(one.begin(), one.end(), script), end; at != end; ++at, ++scripts)
    EXPECT_THAT((*at)[2].str(), HasSubstr("nonce=\"" + first[1].str() + "\"")) << at->str();
  EXPECT_EQ(scripts, 4u) << "a style sheet, the data, D3, and the script of the page";
}

TEST_F(HtmlPage, cuts_names_of_a_megabyte) {
  EXPECT_LT(html(with(Table{.columns = {{std::string(1'000'000, 'a')}}})).size(), 500'000u);
}

TEST_F(HtmlPage, long_tables_begin_closed_and_very_long_ones_are_cut_with_a_word) {
  EXPECT_THAT(html(with(table_of(20))), Not(HasSubstr("<details>")));
  EXPECT_THAT(html(with(table_of(21))), HasSubstr("<details><summary>21 rows: table</summary>"));
  EXPECT_THAT(html(with(table_of(2001))), HasSubstr("1 further rows are left out."));
}

TEST_F(HtmlPage, leaves_out_a_table_without_rows) {
  EXPECT_THAT(html(with(Table{.title = "nothing here", .columns = {{"a"}}})), Not(HasSubstr("nothing here")));
}

TEST_F(HtmlPage, begins_with_the_answers_in_the_colour_of_the_worst_and_their_numbers) {
  const std::string text = html({.title = "title",
                                 .sections = {{.title = "node",
                                               .headlines = {{.verdict = "BAD",
                                                              .sentence = "BAD: 5 GB/s.",
                                                              .judgement = Judgement::bad,
                                                              .numbers = {{"5 GB/s", "to the GPU"}}},
                                                             {.sentence = "GOOD.", .judgement = Judgement::good}}}}});
  const std::string top = text.substr(0, text.find("<main>"));
  EXPECT_THAT(top,
              AllOf(HasSubstr("<li class=\"result bad\">"), HasSubstr("<p class=\"verdict bad\">BAD</p>"),
                    HasSubstr("<dt>to the GPU</dt><dd>5 GB/s</dd>"), HasSubstr("<a href=\"#section-0\">node</a>")));
  EXPECT_THAT(text, HasSubstr("<p class=\"headline\"><strong class=\"bad\">BAD</strong>: 5 GB/s.</p>"));
  EXPECT_THAT(html(with(table_of(1))), Not(HasSubstr("<ul class=\"results\">"))) << "a page without an answer";
}

TEST_F(HtmlPage, cells_hold_the_number_by_which_they_are_sorted) {
  Table table{.columns = {{"time"}}, .rows = {{Cell("1.5 ms", 0.0015)}}};
  table.rows.front().front().judgement = Judgement::bad;
  EXPECT_THAT(html(with(table)), HasSubstr("<td class=\"number bad\" data-value=\"0.0015\">1.5 ms</td>"));
}

}  // namespace
}  // namespace shiplap::page
