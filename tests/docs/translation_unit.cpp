#include "tests/docs/translation_unit.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>

namespace shiplap::docs {
namespace {

/// Host compilers know neither kernels nor streams.
constexpr const char* stand_ins = R"(
struct CUstream_st;
using cudaStream_t = CUstream_st*;
#define __global__
#define __device__
struct DocsIndex { unsigned x = 0, y = 0, z = 0; };
inline DocsIndex blockIdx, blockDim, threadIdx, gridDim;
)";

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("there is no preamble " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool has_toolkit_header(const std::string& text) {
  static const std::regex header(R"(#include\s*<(thrust|cufft|cublas|cub|cuda)[^>]*>)");
  return std::regex_search(text, header);
}

bool stands_at_namespace_level(const std::string& text) {
  static const std::regex declaration(R"((^|\n)(__global__|struct |class |template|namespace |int main|auto \w+\())");
  return std::regex_search(text, declaration);
}

/// Removes launch configurations, so that `kernel<<<blocks, threads>>>(x)` is a call.
std::string as_calls(const std::string& text) {
  std::string out;
  std::size_t at = 0;
  while (true) {
    const std::size_t open = text.find("<<<", at);
    const std::size_t close = open == text.npos ? text.npos : text.find(">>>", open);
    out.append(text, at, open == text.npos || close == text.npos ? text.npos : open - at);
    if (open == text.npos || close == text.npos) return out;
    // Newlines are kept, so that later messages name the right line.
    out.append(static_cast<std::size_t>(std::count(text.begin() + open, text.begin() + close, '\n')), '\n');
    at = close + 3;
  }
}

/// Moves `#include` lines to the set, and leaves empty lines in their places.
std::string without_includes(const std::string& text, std::set<std::string>& includes) {
  std::istringstream in(text);
  std::string out;
  for (std::string line; std::getline(in, line); out += "\n") {
    if (line.rfind("#include", 0) == 0)
      includes.insert(line);
    else if (line.rfind("#pragma once", 0) != 0)
      out += line;
  }
  return out;
}

std::string at_line(unsigned line, const std::string& file) {
  return "#line " + std::to_string(line) + " \"" + file + "\"\n";
}

}  // namespace

bool is_code(const Block& block) { return block.language == "cpp" || block.language == "cuda"; }

std::vector<Block> code_of(std::span<const Page> pages) {
  std::vector<Block> code;
  for (const Page& page : pages)
    std::copy_if(page.blocks.begin(), page.blocks.end(), std::back_inserter(code), is_code);
  return code;
}

std::string translation_unit(std::span<const Block> blocks, const std::string& folder, Compiler compiler) {
  std::set<std::string> includes{"#include <shiplap/shiplap.hpp>"};
  std::string body;
  unsigned number = 0;
  for (const Block& block : blocks) {
    std::string before;
    bool toolkit = has_toolkit_header(block.text);
    for (const std::string& name : block.preambles) {
      const std::string text = text_of(folder + "/" + name + ".inc");
      toolkit = toolkit || has_toolkit_header(text);
      before += at_line(1, "tests/docs/preambles/" + name + ".inc") + text;
    }
    if (toolkit && compiler == Compiler::host) continue;
    const bool statements = !stands_at_namespace_level(block.text);
    std::string text = before + (statements ? "inline void shown() {\n" : "") + at_line(block.line, block.file) +
                       block.text + (statements ? "}\n" : "");
    if (compiler == Compiler::host) text = as_calls(text);
    body += "namespace block_" + std::to_string(number++) + " {\n" + without_includes(text, includes) + "}\n";
  }
  std::string unit;
  for (const std::string& include : includes) unit += include + "\n";
  return unit + (compiler == Compiler::host ? stand_ins : "") + "using namespace std::chrono_literals;\n" + body;
}

}  // namespace shiplap::docs
