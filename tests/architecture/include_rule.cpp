#include "tests/architecture/include_rule.hpp"

#include <algorithm>
#include <map>
#include <regex>
#include <set>

namespace shiplap {
namespace {

/// What a room may include besides itself and core: rooms ("profile") or single headers ("device/kernel_binding.hpp").
/// docs/architecture.md explains this table.
const std::map<std::string, std::vector<std::string>, std::less<>> rule{
    {"core", {}},
    {"document", {}},
    {"schedule", {}},
    {"profile", {}},
    {"sim", {"schedule", "profile"}},
    {"device", {"sim", "schedule", "profile"}},
    {"device/virtual", {"device", "sim", "schedule", "profile"}},
    {"device/cuda", {"device", "schedule", "profile"}},
    {"measure", {"device", "schedule", "profile"}},
    {"model", {"profile"}},
    {"workload", {"schedule", "profile", "device/kernel_binding.hpp", "workload/built_in/built_in.hpp"}},
    {"workload/built_in", {"workload"}},
    {"strategy", {"model", "profile", "schedule", "workload"}},
    {"plan", {"strategy", "sim", "model", "profile", "schedule", "workload"}},
    {"other_tools", {"profile", "schedule"}},
    {"pipeline", {"device", "plan", "strategy", "workload", "schedule", "profile", "measure", "other_tools"}},
    {"cluster", {"pipeline", "plan", "strategy", "workload", "schedule", "profile", "device"}},
    {"c", {"device", "pipeline", "plan", "workload", "schedule", "profile"}},
    {"evaluate", {"device", "pipeline", "plan", "strategy", "workload", "model", "sim", "schedule", "profile"}},
    {"emit", {"strategy", "schedule", "workload"}},
    {"advise", {"sim", "schedule", "profile"}},
    {"fleet", {"measure/node_result.hpp"}},
    // Report knows the value types, not what makes them.
    {"report",
     {"document",
      "schedule/schedule.hpp",
      "schedule/timeline.hpp",
      "schedule/timeline_view.hpp",
      "profile/profile.hpp",
      "profile/parameter_table.hpp",
      "profile/topology.hpp",
      "strategy/strategy.hpp",
      "workload/job.hpp",
      "plan/ranking.hpp",
      "plan/ranking_json.hpp",
      "plan/strategy_map.hpp",
      "plan/adaptation_log.hpp",
      "plan/layer_plan_view.hpp",
      "plan/step_plan_view.hpp",
      "plan/models.hpp",
      "plan/paper_answers.hpp",
      "plan/mover_choice.hpp",
      "plan/mover_table.hpp",
      "measure/measure.hpp",
      "measure/check.hpp",
      "measure/node_result.hpp",
      "measure/compare.hpp",
      "measure/figures.hpp",
      "measure/limits.hpp",
      "pipeline/plan_view.hpp",
      "pipeline/run.hpp",
      "pipeline/run_view.hpp",
      "pipeline/adaptive.hpp",
      "pipeline/race.hpp",
      "pipeline/node_check.hpp",
      "cluster/scaling.hpp",
      "cluster/share_report.hpp",
      "device/device_info.hpp",
      "evaluate/errors.hpp",
      "evaluate/evaluation.hpp",
      "evaluate/regret.hpp",
      "advise/advice.hpp",
      "advise/advice_view.hpp",
      "fleet/judge.hpp"}},
    // A page also asks for maps of strategies, says what each strategy is, and reads files.
    {"report/page", {"report", "document", "profile/profile.hpp", "plan/strategy_map.hpp", "strategy/strategy.hpp"}},
};

constexpr std::string_view opener = "shiplap/device/open.cpp";
/// For programs that use the library.
constexpr std::string_view umbrella = "shiplap/shiplap.hpp";
/// For those that call C.
constexpr std::string_view c_interface = "shiplap/shiplap.h";
/// For everybody: it includes nothing.
constexpr std::string_view version = "shiplap/version.h";

/// Why a file outside the library may not include `name`, or "". The programs of the project share cli/, and only the
/// program in experiments/program/ stands on both cli/ and experiments/.
std::string why_not_outside(const std::string& path, const std::string& name) {
  if (path.starts_with("cli/") && name.starts_with("experiments/"))
    return "the command line does not know the experiments, which are optional";
  if (path.starts_with("experiments/") && !path.starts_with("experiments/program/")) {
    if (name.starts_with("cli/")) return "of the experiments only their program knows the command line";
    if (name.starts_with("experiments/program/")) return "the experiments do not know the program that runs them";
  }
  return {};
}

bool is_header(std::string_view path) { return path.ends_with(".hpp") || path.ends_with(".cuh"); }

/// "shiplap/device/cuda/api.hpp" → "device/cuda"; empty for anything outside shiplap/ or directly in it.
std::string room_of(std::string_view path) {
  constexpr std::string_view root = "shiplap/";
  const auto last = path.rfind('/');
  if (!path.starts_with(root) || last < root.size()) return {};
  return std::string(path.substr(root.size(), last - root.size()));
}

bool is_cuda_header(const std::string& name) {
  static const std::regex pattern(
      R"((cuda|cupti|cublas|cusparse|curand|cufft|nvml|nvtx|nvrtc|cooperative_groups|cub/|thrust/|device_launch_parameters).*|)"
      R"((driver|vector)_types\.h|sm_.*intrinsics\.h)");
  return std::regex_match(name, pattern);
}

bool may_name_cuda(const std::string& path) {
  return path.starts_with("shiplap/device/cuda/") || (path.starts_with("shiplap/workload/") && path.ends_with(".cu"));
}

/// Comments and raw string literals replaced by spaces; line structure is kept.
std::string without_comments(std::string_view text) {
  std::string out(text);
  const auto blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < std::min(to, out.size()); ++i)
      if (out[i] != '\n') out[i] = ' ';
    return to;
  };
  const auto end_of = [&](std::string_view mark, std::size_t from) {
    const auto at = text.find(mark, from);
    return at == std::string_view::npos ? text.size() : at + mark.size();
  };
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with("//")) {
      i = blank(i, std::min(text.find('\n', i), text.size()));
    } else if (rest.starts_with("/*")) {
      i = blank(i, end_of("*/", i + 2));
    } else if (rest.starts_with("R\"")) {
      const auto open = std::min(text.find('(', i), text.size());
      const std::string close = ")" + std::string(text.substr(i + 2, open - i - 2)) + "\"";
      i = blank(i, end_of(close, open));
    } else if (rest.starts_with("#include")) {
      i = std::min(text.find('\n', i), text.size());  // an include may hold "//" or "/*" in its name
    } else if (rest.starts_with('"')) {
      for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
        if (text[i] == '\\') ++i;
      ++i;
    } else if (rest.starts_with("'\"'") || rest.starts_with("'\\\"'")) {
      i += rest[1] == '\\' ? 4 : 3;
    } else {
      ++i;
    }
  }
  return out;
}

/// Why a file of `room` may not include `name` (which starts with "shiplap/"), or "".
std::string why_not(const std::string& path, const std::string& room, const std::string& name) {
  const std::string target = room_of(name);
  if (name == umbrella) return room.empty() ? "" : "the rooms do not include what is made of them";
  if (name == c_interface) return room == "c" ? "" : "the rooms do not include what is made of them";
  if (name == version) return {};
  if (target.empty()) return "no room of shiplap";
  // Each device is known to itself and to the opener alone: nothing that plans, reports or runs a command links CUDA.
  const bool is_device = target == "device/cuda" || target == "device/virtual";
  if (is_device && path != opener && room != target) return "only shiplap/device/open.cpp names a particular device";
  if (room.empty() || is_device || target == room || target == "core") return {};
  const auto allowed = rule.find(room);
  if (allowed == rule.end())
    return "room '" + room + "' is not in the include rule: add it there with what it may include";
  const std::string header = name.substr(std::string_view("shiplap/").size());
  for (const std::string& entry : allowed->second)
    if (entry == target || entry == header) return {};
  return "room '" + room + "' may not include room '" + target + "'";
}

void check_header_form(const SourceFile& file, std::vector<std::string>& out) {
  static const std::regex opening(R"(^// [^\n]*\S(\n//[^\n]*)*)");
  std::smatch found;
  if (!std::regex_search(file.text, found, opening, std::regex_constants::match_continuous) ||
      found.str().find('.') == std::string::npos)
    out.push_back(file.path + ": does not begin with a // sentence that says what it is for");
  if (("\n" + without_comments(file.text)).find("\n#pragma once\n") == std::string::npos)
    out.push_back(file.path + ": has no #pragma once");
}

}  // namespace

std::vector<Include> includes(std::string_view text) {
  static const std::regex line(R"re((^|\n)[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"])re");
  const std::string code = without_comments(text);
  std::vector<Include> out;
  for (std::sregex_iterator i(code.begin(), code.end(), line), end; i != end; ++i)
    out.push_back({(*i)[3].str(), (*i)[2].str() == "<"});
  return out;
}

std::vector<std::string> include_rule_violations(std::span<const SourceFile> files) {
  std::vector<std::string> out;
  for (const SourceFile& file : files) {
    if (is_header(file.path)) check_header_form(file, out);
    const bool library = file.path.starts_with("shiplap/");
    if (!library && !file.path.starts_with("cli/") && !file.path.starts_with("experiments/") &&
        !file.path.starts_with("bench/"))
      continue;

    const std::string room = room_of(file.path);
    if (library && file.path.ends_with(".cu") && !may_name_cuda(file.path))
      out.push_back(file.path + ": CUDA code belongs to device/cuda and workload");
    for (const Include& include : includes(file.text)) {
      std::string reason;
      if (include.name.starts_with("shiplap/"))
        reason = why_not(file.path, room, include.name);
      else if (is_cuda_header(include.name))
        reason = may_name_cuda(file.path) || file.path.ends_with(".cu") ||
                         (file.path.starts_with("bench/") && file.path.ends_with(".cuh"))
                     ? ""
                     : "CUDA headers stay in device/cuda and workload/*.cu";
      else if (!library)
        reason = why_not_outside(file.path, include.name);
      else if (!include.angled)
        reason = include.name.starts_with("cli/") ? "the library does not know the command line"
                 : include.name.starts_with("experiments/")
                     ? "the library does not know the experiments"
                     : "headers of the library are named from the project's root";
      if (!reason.empty()) out.push_back(file.path + ": includes " + include.name + ": " + reason);
    }
  }
  return out;
}

std::vector<std::string> thread_rule_violations(std::span<const SourceFile> files,
                                                std::span<const std::string> threaded) {
  static const std::set<std::string, std::less<>> of_threads{"atomic",
                                                             "barrier",
                                                             "condition_variable",
                                                             "future",
                                                             "latch",
                                                             "mutex",
                                                             "semaphore",
                                                             "shared_mutex",
                                                             "stop_token",
                                                             "thread",
                                                             "pthread.h",
                                                             "threads.h",
                                                             "shiplap/core/parallel.hpp"};
  std::vector<std::string> out;
  std::set<std::string, std::less<>> idle(threaded.begin(), threaded.end());
  for (const SourceFile& file : files) {
    const bool in_library = file.path.starts_with("shiplap/");
    if (!in_library && !file.path.starts_with("cli/") && !file.path.starts_with("experiments/")) continue;
    // Outside the library a room and a part are named by their whole paths.
    const std::string path = in_library ? file.path.substr(std::string_view("shiplap/").size()) : file.path;
    const std::string room = in_library ? room_of(file.path) : path.substr(0, path.rfind('/'));
    if (room == "device/cuda") continue;
    const auto holds = [&](const std::string& part) {
      return part == room || path.starts_with(part + '.') || path.starts_with(part + '_');
    };
    for (const Include& include : includes(file.text)) {
      if (!of_threads.contains(include.name)) continue;
      std::erase_if(idle, holds);
      if (std::ranges::none_of(threaded, holds))
        out.push_back(file.path + ": includes " + include.name +
                      ": only what tests/CMakeLists.txt calls threaded runs under the thread sanitizer");
    }
  }
  for (const std::string& part : idle)
    out.push_back("'" + part + "' is threaded in tests/CMakeLists.txt and knows no threads");
  return out;
}

}  // namespace shiplap
