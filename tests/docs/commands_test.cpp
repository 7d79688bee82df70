// The command lines of README.md and docs/ have subcommands and flags that the program knows, and those in blocks run.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "shiplap/core/json.hpp"
#include "shiplap/core/text_file.hpp"
#include "tests/docs/markdown.hpp"
#include "tests/docs/run_command.hpp"
#include "tests/other_tools/outputs.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap::docs {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string program = SHIPLAP_PROGRAM;

/// "$ build/shiplap plan saxpy" as "shiplap plan saxpy"; empty for a line that is no command of the program. In a list
/// of commands two blanks begin the remark.
std::string command_in(std::string line) {
  static const std::regex command(R"(^\s*(\$ )?(\./)?(build/)?(shiplap .*)$)");
  std::smatch found;
  if (!std::regex_match(line, found, command)) return {};
  line = found[4];
  line = line.substr(0, line.find("  "));
  return line.substr(0, line.find(" #"));
}

/// Every command line in blocks and code spans of a page.
std::vector<Span> commands_of(const Page& page) {
  std::vector<Span> commands;
  for (const Block& block : page.blocks) {
    if (block.language == "cpp" || block.language == "cuda" || block.language == "text") continue;
    std::istringstream in(block.text);
    unsigned number = block.line;
    for (std::string line; std::getline(in, line); ++number)
      if (const std::string command = command_in(line); !command.empty())
        commands.push_back({page.file, number, command});
  }
  for (const Span& code : page.code)
    if (const std::string command = command_in(code.text); !command.empty())
      commands.push_back({page.file, code.line, command});
  return commands;
}

/// The help of a subcommand as the program prints it, kept from call to call.
const std::string& help_of(const std::string& subcommand) {
  static std::map<std::string, std::string> known;
  const auto [at, is_new] = known.try_emplace(subcommand);
  if (is_new) {
    const Outcome outcome =
        run_command(quoted(program) + " " + subcommand + (subcommand.empty() ? " --help" : " --help-all"));
    if (outcome.status == 0) at->second = outcome.output;
  }
  return at->second;
}

bool is_option(const std::string& help, const std::string& flag) {
  for (std::size_t at = help.find(flag); at != help.npos; at = help.find(flag, at + 1)) {
    const char after = at + flag.size() < help.size() ? help[at + flag.size()] : ' ';
    const char before = at > 0 ? help[at - 1] : ' ';
    if ((after == ' ' || after == '\n' || after == ',' || after == '=') && (before == ' ' || before == ','))
      return true;
  }
  return false;
}

/// What is wrong with a command line; empty when nothing is. Words in capitals stand for something.
std::string command_problem(const Span& command) {
  std::istringstream in(command.text.substr(command.text.find(' ') + 1));
  std::string subcommand;
  in >> subcommand;
  const std::string at = command.file + ":" + std::to_string(command.line) + ": " + command.text + ": ";
  if (subcommand.rfind("--", 0) == 0) return is_option(help_of(""), subcommand) ? "" : at + "unknown " + subcommand;
  if (std::isupper(static_cast<unsigned char>(subcommand[0])) != 0) return {};
  std::string rest;
  if (subcommand == "profiles" || subcommand == "fleet") {
    in >> rest;
    if (!rest.empty() && rest[0] != '-' && rest[0] != '|') subcommand += " " + rest;
  }
  // The program of the experiments is not part of every build.
  if (subcommand == "reproduce" && help_of(subcommand).empty()) return {};
  const std::string& help = help_of(subcommand);
  if (help.empty()) return at + "no subcommand " + subcommand;
  for (std::string word; in >> word && word != "|" && word != ">" && word != "--";) {
    const std::string flag = word.substr(0, word.find('='));
    if (flag.size() > 1 && flag[0] == '-' && std::isdigit(static_cast<unsigned char>(flag[1])) == 0)
      if (!is_option(help, flag)) return at + "no option " + flag;
  }
  return {};
}

TEST(DocsCommands, every_command_line_has_a_known_subcommand_and_known_options) {
  std::vector<std::string> problems;
  for (const Page& page : pages_of(SHIPLAP_SOURCE_DIR)) {
    for (const Span& command : commands_of(page))
      if (const std::string problem = command_problem(command); !problem.empty()) problems.push_back(problem);
  }
  EXPECT_EQ(lines_of(problems), "");
}

TEST(DocsCommands, an_unknown_subcommand_or_option_is_found) {
  EXPECT_THAT(command_problem({"a.md", 3, "shiplap nonsense --json"}), HasSubstr("a.md:3"));
  EXPECT_THAT(command_problem({"a.md", 4, "shiplap plan saxpy --nonsense 3"}), HasSubstr("no option --nonsense"));
  EXPECT_EQ(command_problem({"a.md", 5, "shiplap plan saxpy --chunks 3 --json"}), "");
}

TEST(DocsCommands, a_remark_is_no_part_of_a_command) {
  const Page page = parse("a.md", "```\n$ build/shiplap plan saxpy   rank them\nshiplap devices\nanswer\n```\n");
  std::vector<std::string> texts;
  for (const Span& command : commands_of(page)) texts.push_back(command.text);
  EXPECT_THAT(texts, ElementsAre("shiplap plan saxpy", "shiplap devices"));
}

/// Command lines that are not run, by how they begin or what they contain, with the reason.
const std::pair<const char*, const char*> not_run[]{
    {" -- ", "records a program, which needs a GPU"},
    {"report.sqlite", "needs an export of Nsight Systems; tests/advise/nsys_test.cpp reads them"},
    {"evaluate --random", "takes long; tests/cli/evaluate_random_test.cpp runs it"},
    {"--only 'peer.*'", "needs GPUs that address each other's memory"},
};

/// What differs where commands of the docs run without a GPU, in a test: a virtual GPU, small jobs, few primitives, and
/// files that the reader of a page has.
std::string as_run_here(std::string command) {
  const std::pair<const char*, const char*> replacements[]{
      {"cuda:[0-9],[0-9]", "virtual:h200:2"},
      {R"(cuda:(\$gpu|[0-9]))", "virtual:h200"},
      {R"(\bn=[0-9]+[MG]i)", "n=1Mi"},
      {R"(\bsaxpy(?=( |$)))", "saxpy:n=1Mi"},
      {"--frames [0-9]+", "--frames 6400"},
      {" --open\\b", ""},
      {"/var/lib/prometheus/node-exporter/", ""},
      {"shiplap measure(?!.*--only)", "shiplap measure --quick --only copy.pinned.h2d"},
      {"shiplap evaluate (?=-o)", "shiplap evaluate saxpy:n=64Ki --chunks 1,4 --no-transfers "},
  };
  for (const auto& [from, to] : replacements) command = std::regex_replace(command, std::regex(from), to);
  // Commands that measure take no virtual GPU of themselves.
  if (std::regex_search(command, std::regex("^shiplap (check|tune|evaluate|measure)\\b")) &&
      command.find("--device") == command.npos && command.find("--profile") == command.npos)
    command += " --device virtual:h200";
  return command;
}

/// Five steps of a trace of the PyTorch profiler.
std::string small_trace() {
  Json trace{{"schemaVersion", 1}, {"deviceProperties", {{{"id", 0}, {"name", "NVIDIA H200"}}}}};
  Json& events = trace["traceEvents"] = Json::array();
  const auto add = [&](const char* category, const std::string& name, double at, double time, Json arguments) {
    events.push_back({{"ph", "X"},
                      {"cat", category},
                      {"name", name},
                      {"pid", 1},
                      {"tid", 1},
                      {"ts", at},
                      {"dur", time},
                      {"args", std::move(arguments)}});
  };
  for (int step = 0; step < 5; ++step) {
    const double at = 1000 + 1000.0 * step;
    add("user_annotation", fmt::format("ProfilerStep#{}", step), at, 990, Json::object());
    add("cuda_runtime", "cudaMemcpyAsync", at + 1, 310, {{"correlation", 2 * step + 1}});
    add("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", at + 5, 300,
        {{"correlation", 2 * step + 1}, {"bytes", 4 << 20}, {"device", 0}, {"stream", 7}});
    add("cuda_runtime", "cudaLaunchKernel", at + 320, 5, {{"correlation", 2 * step + 2}});
    add("kernel", "gemm", at + 330, 600,
        {{"correlation", 2 * step + 2}, {"grid", {512, 1, 1}}, {"block", {256, 1, 1}}, {"device", 0}, {"stream", 7}});
  }
  return trace.dump();
}

/// The files that the reader of a page has before a command line.
void write_files(const std::filesystem::path& folder) {
  const std::filesystem::path root = SHIPLAP_SOURCE_DIR;
  const auto copy = [&](const char* from, const char* to) {
    std::filesystem::copy_file(root / from, folder / to, std::filesystem::copy_options::overwrite_existing);
  };
  for (const char* name : {"node.json", "today.json", "profile.json"}) copy("profiles/h200.json", name);
  copy("tests/advise/recordings/saxpy.jsonl", "infer.jsonl");
  copy("tests/experiments/published_sweep/data/eth2025_269302_selection.csv", "sweep.csv");
  write_file_atomically((folder / "trace.json.gz").string(), small_trace());
  write_file_atomically((folder / "nvbandwidth.json").string(), outputs::nvbandwidth_json);
}

TEST(DocsCommands, succeed_in_blocks_of_the_docs_on_virtual_gpus) {
  const TemporaryFolder folder;
  const std::string path = std::filesystem::path(program).parent_path().string();
  const std::string before =
      fmt::format("cd {0} && export PATH={1}:$PATH XDG_CACHE_HOME={0}/cache CUDA_VISIBLE_DEVICES= && ",
                  quoted(folder.path().string()), quoted(path));
  std::size_t ran = 0;
  for (const Page& page : pages_of(SHIPLAP_SOURCE_DIR))
    for (const Block& block : page.blocks) {
      if (block.language == "sh") continue;  // scripts, which ./dev recipes runs
      for (const Span& command : commands_of({page.file, {block}, {}, {}, {}})) {
        static const std::regex placeholder("\\b[A-Z]{3,}\\b");
        const auto is_meant = [&](const auto& pattern) {
          return command.text.find(pattern.first) != std::string::npos;
        };
        if (std::regex_search(command.text, placeholder) || std::ranges::any_of(not_run, is_meant)) continue;
        write_files(folder.path());
        const Outcome outcome = run_command(before + as_run_here(command.text));
        EXPECT_EQ(outcome.status, 0) << command.file << ":" << command.line << ": " << command.text << "\n"
                                     << outcome.output;
        ++ran;
      }
    }
  EXPECT_GT(ran, 50u);
}

/// A time as a text with three digits, as in "5.09 ms".
std::string in_three_digits(const Json& time) {
  EXPECT_EQ(time.at("unit"), "ms");
  return fmt::format("{:#.3g} ms", time.at("value").get<double>());
}

TEST(DocsCommands, the_figures_below_the_first_picture_are_those_of_the_recording_that_it_shows) {
  const std::string recording = SHIPLAP_SOURCE_DIR "/tests/advise/recordings/saxpy.jsonl";
  const Outcome advised = run_command(quoted(program) + " advise --json --quiet " + quoted(recording));
  ASSERT_EQ(advised.status, 0) << advised.output;
  const Json json = Json::parse(advised.output);
  const std::string readme = read_text_file(SHIPLAP_SOURCE_DIR "/README.md");
  const std::string caption = readme.substr(readme.find("h100-advice.svg"), 600);
  EXPECT_THAT(caption, AllOf(HasSubstr(in_three_digits(json.at("step")) + " a step as recorded"),
                             HasSubstr(in_three_digits(json.at("advice").back().at("with_before")))));
}

}  // namespace
}  // namespace shiplap::docs
