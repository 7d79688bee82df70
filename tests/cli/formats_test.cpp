// Files of version 1.0 of every format that a command reads, and what the command says of them. Later versions must
// read these files as they are: a format that changes gets a second file here.
#include "shiplap/core/formats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/cli/program.hpp"

namespace shiplap {
namespace {

struct KeptFile {
  const char* path;     ///< from tests/
  const char* command;  ///< {} is the file
  const char* says;     ///< a figure or name of the file in what the command prints, or in the page that it writes
};

const std::vector<KeptFile>& kept_files() {
  static const std::vector<KeptFile> all{
      {"cli/formats/adaptation.jsonl", "replay {}", "12 batches"},
      {"cli/formats/adaptive-run.json", "report {} -o page.html", "histogram:frames=2"},
      {"cli/formats/advice.json", "report {} -o page.html", "NVIDIA H100"},
      {"cli/formats/check.json", "fleet collect {} {}", "1 good"},
      {"cli/formats/comparison.json", "report {} -o page.html", "burst.pinned.h2d"},
      {"cli/formats/fleet-history.json", "fleet collect check.json --history {}", "1 good"},
      {"cli/formats/fleet.json", "report {} -o page.html", "gtx-titan-2014"},
      {"cli/formats/kernel-profile.json",
       "plan scalar-add:in=64KiB,out=64KiB --profile h200 --strategy explicit --kernel-profile {} --all",
       "kernel-profile.json"},
      {"cli/formats/layer-plan.json", "report {} -o page.html", "small"},
      {"cli/formats/layers.json", "plan --profile h200 --layers {}", "small"},
      {"cli/formats/movers.json", "report {} -o page.html", "h100"},
      {"cli/formats/plan.json", "run scalar-add:in=64KiB,out=64KiB --device virtual:h200 --saved {}", "4 chunks"},
      {"cli/formats/profile.json", "plan saxpy --strategy explicit --profile {}", "explicit"},
      {"cli/formats/race.json", "report {} -o page.html", "scalar-add"},
      {"cli/formats/reproduction.json", "report {} -o page.html", "Tesla M2050"},
      {"cli/formats/run.json", "report {} -o page.html", "scalar-add"},
      {"cli/formats/scaling.json", "report {} -o page.html", "scalar-add"},
      {"cli/formats/step.json", "report {} -o page.html", "smooth"},
      {"cli/formats/workload.json", "plan {} --profile h200 --strategy explicit", "explicit"},
      {"advise/recordings/saxpy.jsonl", "advise {}", "pin"},
      {"evaluate/fixture/unpinned.json", "report {} -o page.html", "h200"},
  };
  return all;
}

std::string path_of(const KeptFile& kept) { return std::string(SHIPLAP_SOURCE_DIR "/tests/") + kept.path; }

class KeptFiles : public Cli {};

TEST_F(KeptFiles, of_earlier_versions_are_read_by_the_commands_that_take_them) {
  for (const KeptFile& kept : kept_files()) {
    SCOPED_TRACE(kept.path);
    // A command may change the file.
    const fs::path copy = folder / fs::path(kept.path).filename();
    fs::copy_file(path_of(kept), copy, fs::copy_options::overwrite_existing);
    fs::copy_file(SHIPLAP_SOURCE_DIR "/tests/cli/formats/check.json", folder / "check.json",
                  fs::copy_options::overwrite_existing);
    std::string command = kept.command;
    for (std::size_t at = 0; (at = command.find("{}")) != std::string::npos;) command.replace(at, 2, copy.string());
    for (const std::string name : {"page.html", "check.json"})
      if (const std::size_t at = command.find(" " + name); at != std::string::npos)
        command.replace(at + 1, name.size(), (folder / name).string());
    const Outcome outcome = shiplap(command);
    EXPECT_EQ(outcome.code, 0) << command << "\n" << outcome.err;
    EXPECT_NE((outcome.out + read(folder / "page.html")).find(kept.says), std::string::npos)
        << command << " does not say " << kept.says;
    fs::remove(folder / "page.html");
  }
}

TEST_F(KeptFiles, are_there_for_every_format_that_a_command_reads) {
  // What is only written, and what a command keeps for itself in a cache or in messages.
  std::set<std::string_view> missing{};
  for (const FileFormat& format : file_formats) missing.insert(format.schema);
  for (const FileFormat& format : {formats::adaptation_replay, formats::prediction, formats::published_evaluation,
                                   formats::regret, formats::shares, formats::races, formats::rank_message})
    missing.erase(format.schema);
  for (const KeptFile& kept : kept_files()) {
    const std::string text = read(path_of(kept));
    // The first line of a log names the format, and the other lines have none.
    Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) json = Json::parse(text.substr(0, text.find('\n')));
    missing.erase(json.at("schema").get_ref<const std::string&>());
  }
  EXPECT_THAT(missing, ::testing::IsEmpty());
}

}  // namespace
}  // namespace shiplap
