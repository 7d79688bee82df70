// Lines, words and numbers of printed text, and what the readers of all tools share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/core/json_forward.hpp"
#include "shiplap/other_tools/tool_output.hpp"

namespace shiplap {

/// A printed number and the largest error that its digits leave open.
struct PrintedNumber {
  double value = 0;
  double rounding = 0;
};

/// The lines of a text, without blanks at their ends.
std::vector<std::string_view> lines_of(std::string_view text);
/// The text without blanks at both ends.
std::string_view trimmed(std::string_view text);
/// The words of a line, which blanks separate.
std::vector<std::string_view> words_of(std::string_view line);
/// The parts of a line between separators, trimmed.
std::vector<std::string_view> parts_of(std::string_view line, std::string_view separator);
/// The text between two others; nullopt when one of them is missing. An empty `end` is the end of the line.
std::optional<std::string_view> between(std::string_view line, std::string_view begin, std::string_view end);
/// The whole text as a finite number ≥ 0.
std::optional<PrintedNumber> printed_number(std::string_view text);
/// The whole text as a whole number.
std::optional<std::uint64_t> printed_integer(std::string_view text);

/// Adds a figure, unless its value is no rate and no time of any node: a cell of a pair that was not measured is 0.
void add_figure(ToolOutput&, ToolFigure);
/// Adds what is left out, once.
void leave_out(ToolOutput&, std::string_view what);
/// Keeps the name of a GPU. An index beyond what a profile may have is ignored.
void name_gpu(ToolOutput&, std::uint64_t index, std::string_view name);

// A reader for each form. `ToolOutput::tool` is empty when the text is none of that tool.
ToolOutput read_nvbandwidth(std::string_view text);
ToolOutput read_nvbandwidth(const Json&);  ///< a document with the key "nvbandwidth"
ToolOutput read_bandwidth_test(std::string_view text);
ToolOutput read_p2p_test(std::string_view text);
ToolOutput read_transfer_bench(std::string_view text);
ToolOutput read_comm_scope(const Json&);  ///< a document with the array "benchmarks"

}  // namespace shiplap
