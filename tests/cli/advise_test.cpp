// shiplap advise on recordings, and what it says where it cannot record.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/program.hpp"
#include "tests/support/json_schema.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string recording(const std::string& name) {
  return "'" + (fs::path(SHIPLAP_SOURCE_DIR) / "tests/advise/recordings" / (name + ".jsonl")).string() + "'";
}

const fs::path recorder = fs::path(SHIPLAP_PROGRAM).parent_path() / "libshiplap_recorder.so";

bool has_recorder() { return fs::exists(recorder); }

using Advise = Cli;

/// A text whose lines are one.
std::string in_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

TEST_F(Advise, shows_what_each_change_saves_and_how_it_is_done) {
  const Outcome shown = shiplap("advise --all " + recording("saxpy"));
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("advise_saxpy"), HasSubstr("A step takes"), HasSubstr("1  pin"),
                               HasSubstr("Only if:"), HasSubstr("CUDA C++: "), Not(HasSubstr("PyTorch: "))));
  EXPECT_THAT(shown.out, HasSubstr("profile h100 and the recorded"));
}

// The link of a GPU that nobody has measured is as recorded. Where the recording does not tell it, the first line says
// that it is assumed.
TEST_F(Advise, is_given_for_gpus_that_have_no_measured_profile) {
  const auto recorded_on = [this](const std::string& gpu) {
    std::string text = read(SHIPLAP_SOURCE_DIR "/tests/advise/recordings/saxpy.jsonl");
    const std::string h100 = "NVIDIA H100 80GB HBM3";
    text.replace(text.find(h100), h100.size(), gpu);
    return shiplap("advise '" + write("recording.jsonl", text).string() + "'");
  };
  const Outcome t4 = recorded_on("Tesla T4");
  EXPECT_EQ(t4.code, 0) << t4.err;
  EXPECT_THAT(in_one_line(t4.out).substr(0, 200), HasSubstr("with an assumed link (8.0 GT/s PCIe x16)."));
  EXPECT_THAT(t4.out, HasSubstr("profile tesla-t4-derived"));
  EXPECT_THAT(recorded_on("A GPU of tomorrow").out, HasSubstr("profile a-gpu-of-tomorrow-assumed"));
}

TEST_F(Advise, with_the_profile_of_another_gpu_says_so_first) {
  const std::string out = in_one_line(shiplap("advise --profile 'RTX 4090' " + recording("saxpy")).out);
  EXPECT_THAT(out.substr(0, 200), HasSubstr("an assumed link of RTX 4090"));
}

TEST_F(Advise, says_that_there_is_nothing_to_gain) {
  EXPECT_THAT(shiplap("advise " + recording("pipelined")).out, HasSubstr("nothing to gain here."));
}

TEST_F(Advise, writes_json_of_its_schema_and_both_pictures) {
  const std::string svg = (folder / "advice.svg").string(), trace = (folder / "advice.json").string();
  const Json advised = parsed(
      shiplap("advise --json --profile h100 --svg '" + svg + "' --trace '" + trace + "' " + recording("serial")));
  const JsonSchema schema(Json::parse(read(SHIPLAP_SOURCE_DIR "/docs/schema/advice.schema.json")));
  EXPECT_THAT(schema.problems(advised), IsEmpty());
  EXPECT_THAT(read(svg), AllOf(HasSubstr("recorded"), HasSubstr("advised")));
  EXPECT_FALSE(Json::parse(read(trace)).at("traceEvents").empty());
}

TEST_F(Advise, predicts_the_changes_that_are_named_and_no_others) {
  const Json advised = parsed(shiplap("advise --json --only pin --only 'chunks on streams' " + recording("saxpy")));
  ASSERT_EQ(advised.at("advice").size(), 2u);
  EXPECT_EQ(advised.at("advice").at(1).at("rule"), "chunks on streams");
  expect_refused(shiplap("advise --only pun " + recording("saxpy")), 64, {"--only", "pun", "pin"});
  expect_refused(shiplap("advise --only 'batch copies' " + recording("saxpy")), 64, {"does not apply"});
}

TEST_F(Advise, wants_a_recording_or_a_program) {
  expect_refused(shiplap("advise"), 64, {"recording", "--"});
  expect_refused(shiplap("advise " + recording("saxpy") + " -- true"), 64, {"recording"});
  expect_refused(shiplap("advise --record x.jsonl " + recording("saxpy")), 64, {"--record"});
  expect_refused(shiplap("advise " + (folder / "none.jsonl").string()), 1, {"none.jsonl"});
  expect_refused(shiplap("advise " + write("text.jsonl", "no recording\n").string()), 1, {"text.jsonl", "line 1"});
}

TEST_F(Advise, reads_a_trace_of_the_pytorch_profiler) {
  const Json advised = parsed(shiplap("advise --json --profile h100 --from ProfilerStep '" SHIPLAP_SOURCE_DIR
                                      "/tests/fuzz/corpus/torch_trace/steps'"));
  EXPECT_EQ(advised.at("program"), "python3");
  ASSERT_FALSE(advised.at("advice").empty());
  EXPECT_EQ(advised.at("advice").at(0).at("rule"), "pin");
}

TEST_F(Advise, says_which_command_makes_a_readable_file) {
  expect_refused(shiplap("advise " + write("report.nsys-rep", "NVIDIA").string()), 1,
                 {"report.nsys-rep", "nsys export --type sqlite"});
}

// A pipe can be read once.
TEST_F(Advise, reads_a_recording_from_a_pipe_and_refuses_there_what_must_be_a_file) {
  const auto advised_from = [&](const std::string& writer) {
    return run("/bin/sh", "-c \"" + writer + " | '" SHIPLAP_PROGRAM "' advise --json --profile h100 /dev/stdin\"");
  };
  const Outcome from_pipe = advised_from("cat " + recording("saxpy"));
  EXPECT_EQ(from_pipe.code, 0) << from_pipe.err;
  EXPECT_EQ(from_pipe.out, shiplap("advise --json --profile h100 " + recording("saxpy")).out);
  expect_refused(advised_from("printf 'SQLite format 3'"), 1, {"/dev/stdin", "regular file", "write it into a file"});
  expect_refused(advised_from("printf '\\037\\213'"), 1, {"/dev/stdin", "gzip", "write it into a file"});
  expect_refused(advised_from(":"), 1, {"/dev/stdin", "no recording"});
  expect_refused(shiplap("advise --profile h100 " + folder.string()), 1, {"Is a directory"});
}

TEST_F(Advise, says_of_a_recording_without_work_that_it_has_none_whatever_its_gpu) {
  const std::string head = R"({"schema":"shiplap/recording","version":1,"program":"a","gpu":"GPU 9"})";
  const std::string file = write("other.jsonl", head + "\n").string();
  expect_refused(shiplap("advise " + file), 1, {"no copy and no kernel"});
  expect_refused(shiplap("advise --profile h100 " + file), 1, {"no copy and no kernel"});
}

TEST_F(Advise, keeps_the_exit_code_of_a_program_that_uses_no_gpu) {
  const Outcome ended = shiplap("advise -- sh -c 'echo from the program; exit 7'");
  if (!has_recorder()) {
    expect_refused(ended, 1, {"libshiplap_recorder.so is neither in the folder of", "CUPTI"});
    return;
  }
  EXPECT_EQ(ended.code, 7);
  EXPECT_EQ(ended.out, "from the program\n");
  EXPECT_THAT(ended.err, HasSubstr("nothing was recorded"));
  EXPECT_EQ(shiplap("advise -- sh -c 'kill -SEGV $$'").code, 128 + SIGSEGV);
  expect_refused(shiplap("advise -- ./no-such-program"), 1, {"no-such-program", "cannot be started"});
}

TEST_F(Advise, keeps_the_exit_code_of_a_program_that_removes_its_recordings) {
  if (!has_recorder()) GTEST_SKIP() << "this build has no recorder";
  const Outcome ended = shiplap(R"(advise -- sh -c 'rm -r "${SHIPLAP_RECORDING%/*}"; exit 7')");
  EXPECT_EQ(ended.code, 7);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("cannot read"), HasSubstr("TMPDIR")));
}

TEST_F(Advise, keeps_the_exit_code_of_a_program_that_leaves_something_else_for_recordings) {
  if (!has_recorder()) GTEST_SKIP() << "this build has no recorder";
  const std::string in = R"(cd "${SHIPLAP_RECORDING%/*}")";
  for (const char* const what : {"mkfifo a.jsonl a.refused", "mkdir a.jsonl a.refused", "ln -s /dev/zero a.jsonl"}) {
    const Outcome ended = shiplap("advise -- sh -c '" + in + "; " + what + "; exit 7'");
    EXPECT_EQ(ended.code, 7) << what;
    EXPECT_THAT(ended.err, HasSubstr("nothing was recorded")) << what;
  }
  const Outcome ended = shiplap("advise -- sh -c '" + in + "; echo nonsense > a.jsonl; exit 7'");
  EXPECT_EQ(ended.code, 7);
  EXPECT_THAT(ended.err, HasSubstr("no advice"));
}

// As LD_BIND_NOW=1 has it, which some sites set for all programs.
TEST(Recorder, is_loaded_where_all_its_symbols_are_looked_up_at_once) {
  if (!has_recorder()) GTEST_SKIP() << "this build has no recorder";
  void* const library = dlopen(recorder.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  dlclose(library);
}

TEST_F(Advise, leaves_a_program_to_the_tool_that_records_it_already) {
  if (!has_recorder()) GTEST_SKIP() << "this build has no recorder";
  setenv("CUDA_INJECTION64_PATH", "other.so", 1);
  const Outcome refused = shiplap("advise -- true");
  unsetenv("CUDA_INJECTION64_PATH");
  expect_refused(refused, 1, {"CUDA_INJECTION64_PATH", "another tool"});
}

}  // namespace
}  // namespace shiplap
