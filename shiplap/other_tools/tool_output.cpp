#include "shiplap/other_tools/tool_output.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "shiplap/core/error.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/other_tools/tool_text.hpp"

namespace shiplap {
namespace {

constexpr std::string_view readable =
    "give text or JSON of nvbandwidth (nvbandwidth --json > FILE), CSV of bandwidthTest (bandwidthTest --csv > FILE), "
    "the text of p2pBandwidthLatencyTest or TransferBench, or JSON of Comm|Scope "
    "(comm_scope --benchmark_out=FILE --benchmark_out_format=json)";

/// A text that is no output of a tool, and what it is.
struct OtherText {
  std::string_view begin;     ///< first bytes of such a text; "": any
  std::string_view contains;  ///< what is in such a text; "": anything
  std::string_view what;
  std::string_view remedy;  ///< "": what can be read
};
constexpr std::array other_texts{
    OtherText{"version https://git-lfs", "", "a pointer of Git LFS, and the file itself was not fetched",
              "write `git lfs pull` in its repository"},
    OtherText{"\x1f\x8b", "", "compressed with gzip", "write `gunzip --keep FILE` and give the file without .gz"},
    OtherText{"\x28\xb5\x2f\xfd", "", "compressed with zstd", "write `unzstd FILE` and give the file that it writes"},
    OtherText{"PK\x03\x04", "", "an archive", "write `unzip FILE` and give the file that was in it"},
    OtherText{"SQLite format 3", "", "a recording of a program", "give it to `shiplap advise`"},
    OtherText{"", "Comm_cuda", "a table of Comm|Scope for people or as CSV, which lacks what JSON has",
              "run it with --benchmark_out=FILE --benchmark_out_format=json and give that file"},
};

[[noreturn]] void refuse(std::string_view text, const std::string& source) {
  for (const OtherText& other : other_texts)
    if (text.starts_with(other.begin) && text.find(other.contains) != text.npos)
      throw Error(fmt::format("{}: it is {}, so no figures can be read; {}", source, other.what, other.remedy));
  throw Error(fmt::format("{}: it has no figures of a tool that is known, so there is nothing to import; {}", source,
                          readable));
}

ToolOutput read_json(std::string_view text, const std::string& source) {
  const Json json = parse_json(text, source);
  if (json.is_object()) {
    if (json.contains("nvbandwidth")) return read_nvbandwidth(json);
    if (const auto runs = json.find("benchmarks"); runs != json.end() && runs->is_array()) return read_comm_scope(json);
    if (const auto schema = json.find("schema"); schema != json.end() && schema->is_string())
      throw Error(
          fmt::format("{}: it is a document {} of shiplap and no output of another tool; commands take it as it "
                      "is",
                      source, schema->get<std::string>()));
  }
  refuse({}, source);
}

/// Joins outputs of several tools that were written into one file.
void join(ToolOutput& all, ToolOutput one) {
  if (one.tool.empty()) return;
  all.tool += (all.tool.empty() ? "" : ", ") + one.tool;
  if (one.gpus.size() > all.gpus.size()) all.gpus = std::move(one.gpus);
  all.conditions.merge(one.conditions);
  all.figures.insert(all.figures.end(), one.figures.begin(), one.figures.end());
  for (const std::string& what : one.left_out) leave_out(all, what);
}

}  // namespace

ToolOutput read_tool_output(std::string_view text, const std::string& source) {
  ToolOutput all;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != text.npos && text[first] == '{')  // a text of the CUDA samples begins with "["
    all = read_json(text, source);
  else
    for (const auto read : {static_cast<ToolOutput (*)(std::string_view)>(read_nvbandwidth), read_bandwidth_test,
                            read_p2p_test, read_transfer_bench})
      join(all, read(text));
  if (all.tool.empty()) refuse(text, source);
  if (all.figures.empty())
    throw Error(
        fmt::format("{}: the output of {} has no figure that a profile can hold, so there is nothing to import; "
                    "{}",
                    source, all.tool, readable));
  return all;
}

}  // namespace shiplap
