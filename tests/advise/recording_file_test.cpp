#include "shiplap/advise/recording_file.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/core/text_file.hpp"
#include "tests/advise/made_trace.hpp"

namespace shiplap {
namespace {

namespace fs = std::filesystem;
using made_trace::MadeTrace;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class RecordingFile : public MadeTrace {
 protected:
  std::string refusal(const std::string& name, const std::string& content) {
    const fs::path path = file().parent_path() / name;
    std::ofstream(path, std::ios::binary) << content;
    return message_of([&] { read_recording_file(path); });
  }
};

TEST_F(RecordingFile, is_a_recording_or_a_trace_by_its_begin) {
  kernel(1, "k", "1", "1");
  std::ofstream(file()) << whole();
  EXPECT_EQ(read_recording_file(file()).gpu, "NVIDIA H100");
  const fs::path recording = fs::path(SHIPLAP_SOURCE_DIR) / "tests/advise/recordings/saxpy.jsonl";
  EXPECT_EQ(read_recording_file(recording).gpu, "NVIDIA H100 80GB HBM3");
}

TEST_F(RecordingFile, with_a_name_from_a_trace_is_a_recording) {
  std::ofstream(file()) << R"({"schema":"shiplap/recording","version":1,"program":"a \"traceEvents\"","gpu":"g"})"
                        << "\n";
  EXPECT_EQ(read_recording_file(file()).gpu, "g");
}

TEST_F(RecordingFile, of_another_kind_is_refused_with_its_kind_and_the_command_that_makes_a_readable_file) {
  struct UnreadableFile {
    std::string name;
    std::string content;
    std::string what;
    std::string command;
  };
  const std::vector<UnreadableFile> kinds{
      {"a.json", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "Git LFS", "`git lfs pull"},
      {"a.nsys-rep", "version https://git-lfs.github.com/spec/v1\n", "Git LFS", "`git lfs pull"},
      {"a.nsys-rep", "NVIDIA", "a report of Nsight Systems before its export", "`nsys export --type sqlite /"},
      {"a.qdrep", "NVIDIA", "a report of Nsight Systems before its export", "`nsys export --type sqlite /"},
      {"a.ncu-rep", "NVR", "Nsight Compute", "`shiplap advise --record`"},
      {"a.json.zst", "\x28\xb5\x2f\xfd...", "zstd", "`unzstd "},
      {"a.json.xz", std::string("\xfd") + "7zXZ", "xz", "`unxz --keep "},
      {"a.json.bz2", "BZh9", "bzip2", "`bunzip2 --keep "},
      {"a.zip", "PK\x03\x04", "a zip archive", "`unzip "},
      {"a.pftrace", "\n\x05", "Perfetto", "`traceconv json "},
  };
  for (const UnreadableFile& kind : kinds) {
    const std::string refused = refusal(kind.name, kind.content);
    EXPECT_THAT(refused, AllOf(HasSubstr(kind.name + ": it is "), HasSubstr(kind.what), HasSubstr(kind.command)));
  }
}

TEST_F(RecordingFile, is_a_trace_where_a_range_has_the_name_of_this_project) {
  event("user_annotation", "shiplap/recording", "0", "5");
  call(1, "cudaLaunchKernel", "0", "5");
  kernel(1, "k", "6", "900");
  read();  // writes the file
  EXPECT_THAT(read_recording_file(file()).gpu, HasSubstr("H100"));
}

TEST_F(RecordingFile, that_is_a_program_is_refused_with_the_command_that_records_it) {
  EXPECT_THAT(refusal("program",
                      "\x7f"
                      "ELF"),
              HasSubstr("shiplap advise -- "));
  EXPECT_THAT(refusal("script.py", "#!/usr/bin/python3\n"), HasSubstr("shiplap advise -- "));
}

TEST_F(RecordingFile, of_json_that_is_neither_recording_nor_trace_is_refused_as_that) {
  EXPECT_THAT(refusal("results.json", "{\n  \"kernels\": [1, 2]\n}\n"),
              AllOf(HasSubstr("it is JSON"), HasSubstr("traceEvents")));
  EXPECT_THAT(refusal("broken.json", "{\n  \"kernels\": [1, 2\n"), Not(HasSubstr("it is JSON")));
}

TEST_F(RecordingFile, that_is_absent_empty_or_a_folder_is_refused) {
  EXPECT_THAT(message_of([&] { read_recording_file(file()); }), HasSubstr("there is no such file"));
  EXPECT_THAT(refusal("empty", ""), HasSubstr("empty"));
  EXPECT_FALSE(message_of([&] { read_recording_file(file().parent_path()); }).empty());
}

}  // namespace
}  // namespace shiplap
