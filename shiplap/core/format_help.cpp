#include "shiplap/core/format_help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "shiplap/core/error.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/printable.hpp"

namespace shiplap {
namespace {

struct FormatHelp {
  std::string_view schema;
  std::string_view what;
  std::string_view use;  ///< {} is the name of the file; "": no command takes it
};

constexpr std::string_view in_reports = "shiplap report {} --output page.html shows it";
constexpr std::array format_helps{
    FormatHelp{formats::adaptation.schema, "a log of an adaptive run", in_reports},
    FormatHelp{formats::adaptation_replay.schema, "decisions that were made again from a log", ""},
    FormatHelp{formats::adaptive_run.schema, "the result of an adaptive run", in_reports},
    FormatHelp{formats::advice.schema, "advice for a program", in_reports},
    FormatHelp{formats::check.schema, "a check of a node", "shiplap fleet collect and shiplap report take it"},
    FormatHelp{formats::comparison.schema, "a comparison of two profiles", in_reports},
    FormatHelp{formats::evaluation.schema, "an evaluation of predictions", in_reports},
    FormatHelp{formats::fleet.schema, "a comparison of many nodes", in_reports},
    FormatHelp{formats::fleet_history.schema, "earlier figures of a fleet", ""},
    FormatHelp{formats::kernel_profile.schema, "times of a kernel", "--kernel-profile {} takes it"},
    FormatHelp{formats::layer_plan.schema, "a plan of a model in layers", in_reports},
    FormatHelp{formats::layers.schema, "a model in layers", "shiplap plan --layers {} reads it"},
    FormatHelp{formats::movers.schema, "a table of movers", in_reports},
    FormatHelp{formats::plan.schema, "a plan of a job", in_reports},
    FormatHelp{formats::prediction.schema, "predictions of several models", ""},
    FormatHelp{formats::profile.schema, "a profile of a node", "--profile {} takes it"},
    FormatHelp{formats::published_evaluation.schema, "an evaluation of published times", ""},
    FormatHelp{formats::race.schema, "the result of a race", ""},
    FormatHelp{formats::races.schema, "the winners of races", ""},
    FormatHelp{formats::rank_message.schema, "a message between ranks of a check", ""},
    FormatHelp{formats::recording.schema, "a recording of a program", "shiplap advise {} reads it"},
    FormatHelp{formats::regret.schema, "an evaluation of plans of random jobs", ""},
    FormatHelp{formats::reproduction.schema, "the reproduction of a paper", in_reports},
    FormatHelp{formats::run.schema, "the result of a run", in_reports},
    FormatHelp{formats::scaling.schema, "a prediction for many nodes", in_reports},
    FormatHelp{formats::shares.schema, "the shares of a job over ranks", ""},
    FormatHelp{formats::step.schema, "a plan of a step", in_reports},
    FormatHelp{formats::workload.schema, "a workload", "shiplap plan {} reads it"}};
static_assert(format_helps.size() == file_formats.size());

const FormatHelp* help_for(std::string_view schema) {
  const auto found = std::ranges::find(format_helps, schema, &FormatHelp::schema);
  return found == format_helps.end() ? nullptr : &*found;
}

std::string schema_of_json(std::string_view text) {
  try {
    const Json json = parse_json(text, "");
    const auto found = json.is_object() ? json.find("schema") : json.end();
    return json.is_object() && found != json.end() && found->is_string() ? found->get<std::string>() : "";
  } catch (const Error&) {
    return "";
  }
}

}  // namespace

std::string described_format(std::string_view schema) {
  const FormatHelp* const help = help_for(schema);
  return help == nullptr ? fmt::format("of the schema \"{}\"", printable(schema))
                         : fmt::format("{} ({})", help->what, help->schema);
}

std::string use_of_format(std::string_view schema, std::string_view file) {
  const FormatHelp* const help = help_for(schema);
  return help == nullptr ? "" : fmt::format(fmt::runtime(help->use), shell_word(std::string(file)));
}

std::string schema_of_text(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  std::string schema = line.size() > limits::line_bytes ? "" : schema_of_json(line);
  return schema.empty() && line.size() < text.size() ? schema_of_json(text) : schema;
}

void refuse_lines(std::string_view text, const std::string& source) {
  const std::size_t end = text.find('\n');
  if (end == text.npos || end > limits::line_bytes) return;
  const std::string schema = schema_of_json(text.substr(0, end));
  if (schema.empty()) return;
  const std::string use = use_of_format(schema, source);
  throw Error(fmt::format("{}: it is {}, with a value on each line, and a document of JSON is wanted here{}{}",
                          printable(source), described_format(schema), use.empty() ? "" : "; ", use));
}

void refuse_format(const std::string& file, std::string_view schema, std::string_view wanted) {
  const std::string use = use_of_format(schema, file);
  throw Error(fmt::format("{}: it is {}, and {} is wanted here{}{}", file, described_format(schema),
                          described_format(wanted), use.empty() ? "" : "; ", use));
}

}  // namespace shiplap
