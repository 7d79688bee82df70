// Relative links and anchors of the documentation lead somewhere.
#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "tests/docs/markdown.hpp"

namespace shiplap::docs {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const fs::path linked_root = SHIPLAP_SOURCE_DIR;

bool is_elsewhere(const std::string& target) {
  return target.rfind("http://", 0) == 0 || target.rfind("https://", 0) == 0 || target.rfind("mailto:", 0) == 0;
}

/// What is wrong with a link; empty when nothing is.
std::string link_problem(const Span& link, const std::vector<Page>& pages) {
  const std::size_t hash = link.text.find('#');
  const std::string path = link.text.substr(0, hash);
  const std::string file =
      path.empty() ? link.file : (fs::path(link.file).parent_path() / path).lexically_normal().generic_string();
  const std::string at = link.file + ":" + std::to_string(link.line) + ": " + link.text + ": ";
  const auto page = std::find_if(pages.begin(), pages.end(), [&](const Page& p) { return p.file == file; });
  if (page == pages.end() && !fs::exists(linked_root / file)) return at + "there is no " + file;
  if (hash == std::string::npos) return {};
  if (page == pages.end()) return at + file + " is no page";
  const std::string anchor = link.text.substr(hash + 1);
  const bool found = std::find(page->anchors.begin(), page->anchors.end(), anchor) != page->anchors.end();
  return found ? "" : at + file + " has no heading for #" + anchor;
}

std::vector<std::string> link_problems(const std::vector<Page>& pages) {
  std::vector<std::string> problems;
  for (const Page& page : pages)
    for (const Span& link : page.links)
      if (!is_elsewhere(link.text))
        if (const std::string problem = link_problem(link, pages); !problem.empty()) problems.push_back(problem);
  return problems;
}

TEST(DocsLinks, every_relative_link_and_anchor_exists) {
  EXPECT_EQ(lines_of(link_problems(pages_of(linked_root.string()))), "");
}

TEST(DocsLinks, a_link_to_a_missing_file_or_heading_is_found) {
  const std::vector<Page> pages{
      parse("docs/a.md", "# Some `h200` heading\n[x](b.md)\n[y](#some-h200-heading)\n[z](#none)\n`[w](c.md)`\n")};
  EXPECT_THAT(link_problems(pages), ElementsAre(HasSubstr("docs/a.md:2: b.md"), HasSubstr("docs/a.md:4: #none")));
}

TEST(DocsLinks, headings_of_one_text_are_numbered) {
  EXPECT_THAT(parse("a.md", "# What holds?\n## What holds?\n# x, y\n").anchors,
              ElementsAre("what-holds", "what-holds-1", "x-y"));
}

TEST(DocsLinks, every_page_of_docs_is_in_the_index) {
  const auto pages = pages_of(linked_root.string());
  std::set<std::string> linked{"docs/README.md"};
  const auto is_page = [](const std::string& file) {
    return file.starts_with("docs/") || file.starts_with("research/");
  };
  for (const Page& page : pages)
    if (is_page(page.file))
      for (const Span& link : page.links)
        linked.insert((fs::path(page.file).parent_path() / link.text.substr(0, link.text.find('#')))
                          .lexically_normal()
                          .generic_string());
  std::vector<std::string> missing;
  for (const Page& page : pages)
    if (is_page(page.file) && linked.count(page.file) == 0) missing.push_back(page.file);
  EXPECT_EQ(lines_of(missing), "") << "no page leads there";
}

/// The paths below docs/ that a text names, as in "docs/schema/profile.schema.json".
std::set<std::string> files_of_docs_in(const std::string& text) {
  std::set<std::string> files;
  for (std::size_t at = text.find("docs/"); at != text.npos; at = text.find("docs/", at + 1)) {
    const auto end = std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '/' || c == '-';
    });
    std::string file(text.begin() + static_cast<std::ptrdiff_t>(at), end);
    while (!file.empty() && file.back() == '.') file.pop_back();
    const std::string kind = fs::path(file).extension().string();
    const bool begins_a_path = at == 0 || (std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0);
    if (begins_a_path && (kind == ".md" || kind == ".json")) files.insert(file);
  }
  return files;
}

TEST(DocsLinks, files_of_docs_that_sources_name_exist) {
  std::vector<std::string> missing;
  for (const char* folder : {"shiplap", "cli", "tests", "experiments", "examples", "bench"})
    for (const auto& entry : fs::recursive_directory_iterator(linked_root / folder)) {
      const std::string kind = entry.path().extension().string();
      if (entry.path().parent_path().filename() == "docs") continue;  // these tests plant names of their own
      if (kind != ".hpp" && kind != ".cpp" && kind != ".cu" && kind != ".cuh" && kind != ".txt") continue;
      std::ifstream in(entry.path(), std::ios::binary);
      for (const std::string& file : files_of_docs_in({std::istreambuf_iterator<char>(in), {}}))
        if (!fs::exists(linked_root / file))
          missing.push_back(entry.path().lexically_relative(linked_root).generic_string() + ": " + file);
    }
  EXPECT_EQ(lines_of(missing), "");
}

}  // namespace
}  // namespace shiplap::docs
