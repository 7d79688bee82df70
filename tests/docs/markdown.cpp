#include "tests/docs/markdown.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

namespace shiplap::docs {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_after(const std::string& comment, const std::string& key) {
  std::vector<std::string> names;
  const std::size_t at = comment.find(key);
  if (comment.rfind("<!--", 0) != 0 || at == comment.npos) return names;
  std::istringstream list(comment.substr(at + key.size()));
  for (std::string name; list >> name && name != "-->";) {
    if (name.back() == ',') name.pop_back();
    names.push_back(name);
  }
  return names;
}

/// Removes code spans from a line and appends their texts to the page.
std::string without_code(std::string line, unsigned number, Page& page) {
  static const std::regex code("`([^`]+)`");
  std::smatch found;
  while (std::regex_search(line, found, code)) {
    page.code.push_back({page.file, number, found[1]});
    line = found.prefix().str() + "x" + found.suffix().str();
  }
  return line;
}

void add_anchor(Page& page, const std::string& line) {
  const std::string anchor = anchor_of(line.substr(line.find_first_not_of('#')));
  const auto alike = [&](const std::string& other) {
    return other == anchor ||
           (other.rfind(anchor + "-", 0) == 0 && std::all_of(other.begin() + anchor.size() + 1, other.end(),
                                                             [](unsigned char c) { return std::isdigit(c) != 0; }));
  };
  const auto earlier = std::count_if(page.anchors.begin(), page.anchors.end(), alike);
  page.anchors.push_back(earlier == 0 ? anchor : anchor + "-" + std::to_string(earlier));
}

void add_links(Page& page, const std::string& line, unsigned number) {
  static const std::regex link(R"(\]\(([^)\s]+)\))");
  for (std::sregex_iterator found(line.begin(), line.end(), link), end; found != end; ++found)
    page.links.push_back({page.file, number, (*found)[1]});
}

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

std::string anchor_of(std::string_view heading) {
  while (!heading.empty() && heading.front() == ' ') heading.remove_prefix(1);
  std::string anchor;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == ' ') anchor += '-';
    if (std::isalnum(byte) != 0 || c == '-' || c == '_') anchor += static_cast<char>(std::tolower(byte));
    if (byte >= 0x80) anchor += c;
  }
  return anchor;
}

Page parse(const std::string& file, std::string_view text) {
  Page page;
  page.file = file;
  std::istringstream in{std::string(text)};
  std::string before;  // the line before
  Block* open = nullptr;
  unsigned number = 0;
  for (std::string line; std::getline(in, line); before = line) {
    ++number;
    if (open != nullptr) {
      if (line == "```")
        open = nullptr;
      else
        open->text += line + "\n";
    } else if (line.rfind("```", 0) == 0) {
      open =
          &page.blocks.emplace_back(Block{file, number + 1, line.substr(3), names_after(before, "compiles with:"), ""});
    } else {
      if (line.rfind('#', 0) == 0) add_anchor(page, line);
      add_links(page, without_code(line, number, page), number);
    }
  }
  return page;
}

std::string lines_of(const std::vector<std::string>& texts) {
  std::string lines;
  for (const std::string& text : texts) lines += text + "\n";
  return lines;
}

std::vector<Page> pages_of(const std::string& root) {
  std::vector<std::string> files{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"};
  for (const char* folder : {"docs", "research"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(root) / folder))
      if (entry.path().extension() == ".md") files.push_back(entry.path().lexically_relative(root).generic_string());
  std::sort(files.begin(), files.end());
  std::vector<Page> pages;
  for (const std::string& file : files) pages.push_back(parse(file, read(fs::path(root) / file)));
  return pages;
}

}  // namespace shiplap::docs
