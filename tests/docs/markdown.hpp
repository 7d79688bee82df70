// What the tests of the documentation need of Markdown: fenced blocks, links, code spans and the anchors of headings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shiplap::docs {

/// A fenced block of code.
struct Block {
  std::string file;                    ///< path from the root of the project
  unsigned line = 0;                   ///< line of the first line of `text`, counted from 1
  std::string language;                ///< the info string: "cpp", "cuda", "console", or empty
  std::vector<std::string> preambles;  ///< names after `<!-- compiles with: a, b -->` on the line before the fence
  std::string text;                    ///< the lines between the fences
};

/// The target of a link, or the text of a code span.
struct Span {
  std::string file;   ///< path from the root of the project
  unsigned line = 0;  ///< counted from 1
  std::string text;   ///< "../results/h200/measure.csv", or "shiplap plan --help"
};

/// One Markdown file, taken apart.
struct Page {
  std::string file;                  ///< path from the root of the project
  std::vector<Block> blocks;         ///< fenced blocks
  std::vector<Span> links;           ///< targets of links and pictures outside of code
  std::vector<Span> code;            ///< code spans
  std::vector<std::string> anchors;  ///< of headings, as GitHub makes them
};

/// Takes the text of a file apart.
Page parse(const std::string& file, std::string_view text);

/// The anchor of a heading: lower case, without punctuation, with hyphens for blanks.
std::string anchor_of(std::string_view heading);

/// The texts, each on a line of its own: what a failed test prints.
std::string lines_of(const std::vector<std::string>&);

/// Every page of the project that people read: README.md, CONTRIBUTING.md, CHANGELOG.md and docs/**/*.md.
std::vector<Page> pages_of(const std::string& root);

}  // namespace shiplap::docs
