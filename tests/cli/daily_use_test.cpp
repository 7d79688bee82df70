// What a user of the command line sees of odd jobs, of profiles that lack something, and of files of another kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "shiplap/strategy/strategy.hpp"
#include "tests/cli/program.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using DailyUse = Cli;

std::ptrdiff_t lines_of(const std::string& text) { return std::ranges::count(text, '\n'); }

TEST_F(DailyUse, a_size_without_a_unit_that_is_a_few_bytes_is_pointed_out) {
  const Outcome few = shiplap("plan --in 256 --out 1MiB --kernel 1ms --profile h200");
  EXPECT_EQ(few.code, 0) << few.err;
  EXPECT_THAT(few.err, AllOf(HasSubstr("--in 256"), HasSubstr("--in 256MiB"), Not(HasSubstr("--out"))));
  for (const char* meant : {"--in 256B --out 1KiB", "--in 268435456"})
    EXPECT_EQ(shiplap("plan --kernel 1ms --profile h200 " + std::string(meant)).err, "") << meant;
}

TEST_F(DailyUse, a_plan_for_a_host_with_too_little_memory_begins_with_that) {
  const std::string job = "plan --in 1TiB --out 1TiB --kernel 8s --chunks 64 --strategy streams --profile h200";
  const Outcome plan = shiplap(job);
  EXPECT_EQ(plan.code, 0) << plan.err;
  const std::string first = plan.out.substr(0, plan.out.find("Use streams"));
  EXPECT_THAT(first, AllOf(HasSubstr("2 TiB of host memory"), HasSubstr("125.9 GiB"), HasSubstr("cannot run")));
  const Outcome json = shiplap(job + " --json");
  EXPECT_THAT(json.err, HasSubstr("cannot run"));
  EXPECT_EQ(parsed(json).at("schema"), "shiplap/plan");
  EXPECT_THAT(shiplap("plan saxpy:n=1Mi --profile h200").out, Not(HasSubstr("cannot run")));
}

TEST_F(DailyUse, figures_that_a_quick_measurement_lacks_are_named_where_a_plan_ranks_what_needs_them) {
  Json quick = parsed(shiplap("profiles show h200 --json"));
  quick["host"]["staging"] = Json::array();
  quick["missing"].push_back({{"parameter", "host.staging"}, {"reason", "not measured"}});
  const std::string file = write("quick.json", quick.dump());
  const std::string plan = "plan saxpy:n=1Mi --profile ";
  const std::string names_it = "lacks host.staging";
  const auto flat = [&](const std::string& arguments) {
    std::string out = shiplap(arguments).out;
    std::ranges::replace(out, '\n', ' ');
    return out;
  };
  EXPECT_THAT(flat(plan + file + " --memory pageable"), AllOf(HasSubstr(names_it), HasSubstr("without --quick")));
  EXPECT_THAT(flat(plan + file), Not(HasSubstr(names_it))) << "no candidate is staged";
  EXPECT_THAT(flat(plan + "h200 --memory pageable"), Not(HasSubstr("lacks")));
}

TEST_F(DailyUse, a_profile_without_measured_points_is_compared_by_its_rates_and_it_is_said_why) {
  for (const char* both : {"compare gtx-titan-2014 h200", "compare h200 gh200-2025-258389"}) {
    const Outcome compared = shiplap(both);
    EXPECT_THAT(compared.err, AllOf(HasSubstr("no measured points"), HasSubstr("shiplap measure"))) << both;
    EXPECT_THAT(compared.out, HasSubstr("different GPUs")) << both;
  }
}

TEST_F(DailyUse, predict_explains_a_form_that_gives_less_than_the_bound) {
  const Outcome below = shiplap("predict saxpy:n=16Mi --profile h200");
  EXPECT_THAT(below.out, AllOf(HasSubstr("roofline gives"), HasSubstr("less than the bound"), HasSubstr("peak rates")));
  EXPECT_THAT(shiplap("predict saxpy:n=16Mi --profile h200 --strategy explicit").out, Not(HasSubstr("than the bound")));
}

TEST_F(DailyUse, measure_counts_skipped_primitives_in_a_line_and_names_them_with_all) {
  const Outcome brief = shiplap("measure --quick --only 'latency.*' --device virtual:h200 --quiet");
  EXPECT_EQ(lines_of(brief.err), 1) << brief.err;
  EXPECT_THAT(brief.err, AllOf(HasSubstr("skipped"), HasSubstr("--all")));
  const Outcome all = shiplap("measure --quick --only 'latency.*' --device virtual:h200 --quiet --all");
  EXPECT_THAT(all.err, AllOf(HasSubstr("latency.fault.gpu"), HasSubstr("left out of a quick measurement")));
}

TEST_F(DailyUse, demo_fits_on_a_screen_with_a_picture_of_the_overlap) {
  const Outcome brief = shiplap("demo saxpy:n=16Mi --device virtual:h200");
  EXPECT_EQ(brief.code, 0) << brief.err;
  EXPECT_LE(lines_of(brief.out), 25) << brief.out;
  for (const char* row : {"H2D copies ", "kernels ", "D2H copies "}) EXPECT_THAT(brief.out, HasSubstr(row));
  const Outcome all = shiplap("demo saxpy:n=16Mi --device virtual:h200 --all");
  EXPECT_GT(lines_of(all.out), lines_of(brief.out));
}

TEST_F(DailyUse, a_timeline_changes_nothing_of_a_simulated_run) {
  const std::string run = "run saxpy:n=4Mi --device virtual:h200 --strategy streams --quiet";
  const Outcome without = shiplap(run), with = shiplap(run + " --gantt");
  EXPECT_THAT(without.out, HasSubstr("batches")) << "what GPUs do not tell apart";
  EXPECT_TRUE(with.out.starts_with(without.out.substr(0, without.out.find("Times")))) << with.out;
  EXPECT_THAT(with.out, HasSubstr("H2D copies "));
}

TEST_F(DailyUse, a_plan_says_what_its_strategy_does_and_with_all_what_the_others_do) {
  const std::string plan = "plan saxpy:n=16Mi --profile h200";
  const std::string brief = shiplap(plan).out, all = shiplap(plan + " --all").out;
  for (const char* name : {"explicit", "streams", "implicit", "hybrid", "hybrid-mirror"}) {
    const std::string summary(find_strategy(name).summary);
    EXPECT_THAT(all, HasSubstr(summary)) << name;
    EXPECT_EQ(brief.find(summary) != std::string::npos, name == std::string_view("streams")) << name;
  }
  EXPECT_THAT(all, Not(HasSubstr(std::string(find_strategy("staged").summary)))) << "it is no candidate";
}

TEST_F(DailyUse, a_file_of_shiplap_of_another_kind_is_named_with_the_command_that_takes_it) {
  struct Kind {
    std::string file;
    const char* what;
    const char* use;
  };
  const std::map<std::string, Kind> kinds{
      {"profile", {write("profile.json", shiplap("profiles show h200 --json").out), "a profile", "--profile"}},
      {"plan",
       {write("plan.json", shiplap("plan saxpy:n=64Ki --profile h200 --json").out), "a plan", "shiplap report"}},
      {"check", {write("check.json", shiplap("check --profile h200 --json").out), "a check", "fleet collect"}},
      {"recording",
       {write("recording.jsonl", read(SHIPLAP_SOURCE_DIR "/tests/advise/recordings/saxpy.jsonl")), "a recording",
        "shiplap advise"}}};
  struct Reader {
    const char* wants;
    std::string before;
    const char* after = "";
  };
  for (const auto& [wants, before, after] :
       {Reader{"recording", "advise "}, Reader{"profile", "plan saxpy:n=64Ki --profile "},
        Reader{"profile", "compare h200 "}, Reader{"profile", "run saxpy:n=64Ki --device virtual:"},
        Reader{"kernel", "plan saxpy:n=64Ki --profile h200 --kernel-profile "},
        Reader{"evaluation", "evaluate --again "},
        Reader{"profile", "measure --quick --only launch.latency --device virtual:h200 --resume -o "}})
    for (const auto& [kind, made] : kinds) {
      if (kind == wants) continue;
      const Outcome refused = shiplap(before + "'" + made.file + "'" + after);
      expect_refused(refused, 1, {made.what, made.use});
      EXPECT_THAT(refused.err, Not(HasSubstr("not valid JSON"))) << before << kind;
      EXPECT_THAT(refused.err, StartsWith("shiplap: ")) << before << kind;
    }
}

}  // namespace
}  // namespace shiplap
