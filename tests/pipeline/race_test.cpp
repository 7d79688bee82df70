// Races on a virtual device, where every run takes what is predicted, and what is kept of them.
#include "shiplap/pipeline/race.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "shiplap/core/error.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/device/open.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/pipeline/prepared.hpp"
#include "shiplap/pipeline/race_store.hpp"
#include "shiplap/pipeline/run.hpp"
#include "shiplap/pipeline/workload_data.hpp"
#include "shiplap/profile/profile.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap {
namespace {

struct Race : ::testing::Test {
  TemporaryFolder temporary;
  std::filesystem::path cache = temporary.path();
  std::shared_ptr<MeasurableDevice> device = open("virtual:h200");
  Node node = node_of(*device, find_profile("h200"));
  std::vector<float> x = std::vector<float>(1 << 20, 1.0f);
  std::vector<float> y = std::vector<float>(1 << 20, 2.0f);

  std::string cache_of_others;

  void SetUp() override {
    if (const char* before = std::getenv("XDG_CACHE_HOME")) cache_of_others = before;
    setenv("XDG_CACHE_HOME", cache.c_str(), 1);
  }
  void TearDown() override {
    // An empty one counts as none.
    setenv("XDG_CACHE_HOME", cache_of_others.c_str(), 1);
  }

  /// y += x.
  Job job() {
    return Job{.items = x.size(),
               .name = "add",
               .cost = {.points = {{x.size(), Interval<Seconds>::exact(microseconds(10))}}, .origin = "stated"}}
        .in("x", x)
        .inout("y", y)
        .host_kernel([](Chunk chunk, View<const float> a, View<float> b) {
          for (std::uint64_t i = chunk.first; i < chunk.end(); ++i) b[i] += a[i];
        });
  }
};

TEST_F(Race, chooses_what_the_plan_predicts_where_every_run_takes_that_long) {
  const Plan planned = plan(node, job(), {.may_pin = false, .race = milliseconds(20)});
  ASSERT_TRUE(planned.race);
  const RaceResult& race = *planned.race;
  EXPECT_GE(race.finalists.size(), 3u);
  for (const Finalist& finalist : race.finalists)
    if (!finalist.seconds.empty()) {
      EXPECT_LE(race.best().predicted.value.count(), finalist.predicted.value.count() * 1.002)
          << to_string(finalist.choice);
    }
  EXPECT_EQ(planned.chosen.choice, race.best().choice);
}

TEST_F(Race, leaves_what_goes_in_and_comes_back_as_it_was) {
  const Plan planned = plan(node, job(), {.race = milliseconds(20)});
  EXPECT_THAT(y, ::testing::Each(2.0f));
  run(*device, planned, job());
  EXPECT_THAT(y, ::testing::Each(3.0f));
}

TEST_F(Race, of_a_job_that_comes_again_is_not_run_again) {
  const Plan first = plan(node, job(), {.race = milliseconds(20)});
  EXPECT_FALSE(first.race->kept);
  const Plan second = plan(node, job(), {.race = milliseconds(20)});
  EXPECT_TRUE(second.race->kept);
  EXPECT_EQ(second.chosen.choice, first.chosen.choice);
  EXPECT_EQ(second.race->finalists.size(), first.race->finalists.size()) << "with what it was compared with";
  EXPECT_FALSE(plan(node, job(), {.race = milliseconds(20), .race_anew = true}).race->kept);
}

TEST_F(Race, begins_anew_for_another_size_and_says_so) {
  plan(node, job(), {.race = milliseconds(20)});
  x.resize(3 << 20);
  y.resize(3 << 20);
  const Plan other = plan(node, job(), {.race = milliseconds(20)});
  EXPECT_FALSE(other.race->kept);
  EXPECT_THAT(other.race->note, ::testing::HasSubstr("of other sizes"));
  EXPECT_THAT(other.race->to_string(), ::testing::HasSubstr("of other sizes"));
}

TEST_F(Race, begins_anew_on_another_gpu_or_driver_and_says_so) {
  plan(node, job(), {.race = milliseconds(20)});
  const DeviceInfo here = device->info();
  const Plan planned = plan(node, job(), {.race = milliseconds(20)});
  for (const char* what : {"gpu.driver", "gpu.pci_bus_id"}) {
    DeviceInfo there = here;
    there.conditions[what] = "another";
    std::string why_not;
    EXPECT_FALSE(kept_race(signature_of(there, planned.job, *node.profile, planned.limits, 1), why_not));
    EXPECT_THAT(why_not, ::testing::HasSubstr("of another GPU, driver or host")) << what;
  }
  std::string why_not;
  EXPECT_TRUE(kept_race(signature_of(here, planned.job, *node.profile, planned.limits, 1), why_not));
}

TEST_F(Race, is_among_what_the_options_leave_open_and_then_not_kept) {
  const SearchSpace wanted{.strategies = {"staged"}, .chunks = {4}, .fewer_calls = false};
  const Plan planned = plan(node, job(), {.space = wanted, .race = milliseconds(20)});
  for (const Finalist& finalist : planned.race->finalists) EXPECT_EQ(finalist.choice.chunks, 4u);
  EXPECT_FALSE(std::filesystem::exists(cache / "shiplap" / "races"));
}

TEST_F(Race, of_a_job_does_not_answer_for_one_whose_arrays_stay_on_the_gpu) {
  Job each_run = job();
  each_run.arrays[0].role = Role::broadcast;
  Job stays = each_run;
  stays.arrays[0].kept = true;
  const auto signature = [&](const Job& of) {
    return signature_of(device->info(), of, *node.profile, node.limits, 1).job;
  };
  EXPECT_NE(signature(each_run), signature(stays));
}

TEST_F(Race, is_run_anew_where_the_kept_winner_does_not_fit) {
  const Plan first = plan(node, job(), {.race = milliseconds(20)});
  const JobSignature signature = signature_of(device->info(), first.job, *node.profile, first.limits, 1);
  RaceResult of_another = *first.race;
  of_another.finalists[of_another.winner].choice = {.strategy = "streams", .chunks = 1u << 30};
  keep_race(signature, of_another);
  const Plan second = plan(node, job(), {.race = milliseconds(20)});
  EXPECT_FALSE(second.race->kept);
  EXPECT_THAT(second.race->note, ::testing::HasSubstr("does not fit this job"));
  EXPECT_TRUE(plan(node, job(), {.race = milliseconds(20)}).race->kept) << "the new winner is kept instead";
}

TEST_F(Race, leaves_a_file_that_is_read_however_many_nodes_and_sizes_there_are) {
  const Plan first = plan(node, job(), {.race = milliseconds(20)});
  JobSignature signature = signature_of(device->info(), first.job, *node.profile, first.limits, 1);
  const std::string long_name(limits::document_bytes * 6 / 10, 'x');
  for (const char* host : {"a", "b"}) {
    signature.node = host + long_name;
    EXPECT_THAT(keep_race(signature, *first.race), ::testing::StartsWith("kept in "));
  }
  std::string why_not;
  EXPECT_TRUE(kept_race(signature, why_not)) << why_not.substr(0, 300);
  signature.node = "a" + long_name;
  EXPECT_FALSE(kept_race(signature, why_not)) << "the oldest has left";
  EXPECT_THAT(why_not, ::testing::HasSubstr("another GPU, driver or host"));
}

TEST_F(Race, is_not_kept_where_its_folder_cannot_be_made_and_says_so) {
  std::filesystem::create_directories(cache / "shiplap");
  std::ofstream(cache / "shiplap" / "races") << "a file";
  EXPECT_THAT(plan(node, job(), {.race = milliseconds(20)}).race->note,
              ::testing::HasSubstr("the winner is not kept: cannot make the folder"));
}

// Each process keeps races of sizes of its own, all of one job and thus in one file.
TEST_F(Race, of_many_processes_is_in_the_cache_of_all) {
  constexpr int processes = 8;
  constexpr int races = 3;
  const Plan first = plan(node, job(), {.race = milliseconds(20)});
  JobSignature signature = signature_of(device->info(), first.job, *node.profile, first.limits, 1);
  const auto name_of = [](int process, int race) { return "process " + std::to_string(process * races + race); };
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    for (int i = 0; i < races; ++i) {
      signature.size = name_of(p, i);
      keep_race(signature, *first.race);
    }
    _exit(0);
  }
  for (const pid_t child : children) waitpid(child, nullptr, 0);
  std::string why_not;
  int lost = 0;
  for (int p = 0; p < processes; ++p)
    for (int i = 0; i < races; ++i) {
      signature.size = name_of(p, i);
      lost += !kept_race(signature, why_not);
    }
  EXPECT_EQ(lost, 0) << "of " << processes * races;
}

// A cache that users share, and a user who may replace the file and not read it.
TEST_F(Race, of_others_are_not_lost_where_they_cannot_be_read) {
  if (getuid() != 0) GTEST_SKIP() << "only root can become another user";
  const Plan first = plan(node, job(), {.race = milliseconds(20)});
  const JobSignature signature = signature_of(device->info(), first.job, *node.profile, first.limits, 1);
  const std::filesystem::path path = race_path(signature).value();
  for (auto folder = path.parent_path(); folder != cache.parent_path(); folder = folder.parent_path())
    std::filesystem::permissions(folder, std::filesystem::perms::all);
  std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  constexpr int unreachable = 3;
  const pid_t other = fork();
  if (other == 0) {
    constexpr uid_t nobody = 65534;
    if (setuid(nobody) != 0 || access(path.parent_path().c_str(), W_OK) != 0) _exit(unreachable);
    _exit(keep_race(signature, *first.race).find("not kept: cannot read") != std::string::npos ? 0 : 1);
  }
  int status = 1;
  waitpid(other, &status, 0);
  if (WEXITSTATUS(status) == unreachable) GTEST_SKIP() << "other users cannot reach " << path;
  EXPECT_EQ(status, 0);
  std::string why_not;
  EXPECT_TRUE(kept_race(signature, why_not)) << why_not;
}

TEST_F(Race, takes_no_notice_of_a_file_that_cannot_be_read) {
  const Plan first = plan(node, job(), {.race = milliseconds(20)});
  const auto path = race_path(signature_of(device->info(), first.job, *node.profile, first.limits, 1));
  ASSERT_TRUE(path && std::filesystem::exists(*path));
  std::ofstream(*path) << "{";
  const Plan second = plan(node, job(), {.race = milliseconds(20)});
  EXPECT_FALSE(second.race->kept);
  EXPECT_THAT(second.race->note, ::testing::HasSubstr("cannot be read"));
}

TEST_F(Race, goes_on_with_variants_of_the_winner_until_it_wins_again) {
  device = open_virtual(*node.profile, "virtual:h200", VirtualBytes::left_out);
  Workload workload = find_workload("scalar-add:in=16MiB,out=16MiB");
  workload.job.cost = derived_cost(workload.job, *node.profile);
  WorkloadData data(*device, std::move(workload));
  const auto in_chunks = [&](std::uint32_t chunks) {
    return predict(data.job(), *node.profile, {.strategy = "streams", .chunks = chunks}, node.limits);
  };
  std::vector<std::uint32_t> asked;
  const RaceField field{.first_heat = {in_chunks(1)}, .variants = [&](const Choice& winner) {
                          asked.push_back(winner.chunks);
                          return std::vector<Candidate>{in_chunks(winner.chunks), in_chunks(2 * winner.chunks)};
                        }};
  const MakeReady make_ready = [&](const Candidate& candidate) { return prepare(*device, data.job(), candidate); };
  const RaceResult result = race(field, make_ready, milliseconds(200));
  EXPECT_EQ(asked, (std::vector<std::uint32_t>{1, 2, 4})) << "at most four heats";
  EXPECT_EQ(result.best().choice.chunks, 8u);
  EXPECT_EQ(result.finalists.size(), 4u) << "nobody enters twice";
  for (const Finalist& finalist : result.finalists) EXPECT_FALSE(finalist.seconds.empty()) << finalist.choice.chunks;

  asked.clear();
  const RaceField worse{.first_heat = {in_chunks(8)}, .variants = [&](const Choice& winner) {
                          asked.push_back(winner.chunks);
                          return std::vector<Candidate>{in_chunks(1)};
                        }};
  EXPECT_EQ(race(worse, make_ready, milliseconds(200)).best().choice.chunks, 8u);
  EXPECT_EQ(asked.size(), 1u) << "the winner won again";
  asked.clear();
  race(field, make_ready, Seconds{0});
  EXPECT_TRUE(asked.empty()) << "the budget was spent";
}

TEST_F(Race, has_finalists_that_differ_in_strategy) {
  Workload workload = find_workload("scalar-add:in=16MiB,out=16MiB");
  workload.job.cost = derived_cost(workload.job, *node.profile);
  const Ranking planned = rank(workload.job, *node.profile);
  std::vector<std::string> names;
  for (const Candidate& c : race_field(workload.job, *node.profile, planned, node.limits).first_heat)
    names.push_back(c.choice.strategy);
  EXPECT_THAT(names, ::testing::Contains("streams"));
  EXPECT_THAT(names, ::testing::Contains("explicit"));
  EXPECT_THAT(names, ::testing::Contains("implicit"));
}

TEST_F(Race, leaves_out_what_cannot_be_made_ready_and_fails_when_nothing_can) {
  Workload workload = find_workload("scalar-add:in=1MiB,out=1MiB");
  workload.job.cost = derived_cost(workload.job, *node.profile);
  WorkloadData data(*device, std::move(workload));
  const Ranking planned = rank(data.job(), *node.profile);
  std::vector<Candidate> finalists{planned.candidates[0], planned.candidates[1]};
  const MakeReady only_second = [&](const Candidate& candidate) {
    if (candidate.choice == finalists[0].choice) throw Error("no memory");
    return prepare(*device, data.job(), candidate);
  };
  const RaceResult result = race({finalists}, only_second, milliseconds(5));
  EXPECT_EQ(result.winner, 1u);
  EXPECT_EQ(result.finalists[0].not_run, "no memory");
  const MakeReady none = [](const Candidate&) -> Prepared { throw Error("no memory"); };
  EXPECT_THROW(race({finalists}, none, milliseconds(5)), Error);
}

TEST_F(Race, that_is_cancelled_does_not_go_on_without_the_candidate) {
  Workload workload = find_workload("scalar-add:in=1MiB,out=1MiB");
  workload.job.cost = derived_cost(workload.job, *node.profile);
  WorkloadData data(*device, std::move(workload));
  const Ranking planned = rank(data.job(), *node.profile);
  const std::vector<Candidate> finalists{planned.candidates[0], planned.candidates[1]};
  int asked = 0;
  const MakeReady stopped = [&](const Candidate&) -> Prepared {
    ++asked;
    throw Cancelled("enough");
  };
  EXPECT_EQ(message_of<Cancelled>([&] { race({finalists}, stopped, milliseconds(5)); }), "enough");
  EXPECT_EQ(asked, 1);
}

TEST_F(Race, of_arrays_in_a_role_that_does_not_exist_has_no_signature) {
  Job odd = job();
  const auto sign = [&] { return signature_of(device->info(), odd, *node.profile, node.limits, 1); };
  EXPECT_THAT(sign().job, ::testing::HasSubstr("inout y"));
  odd.arrays[1].role = static_cast<Role>(99);
  EXPECT_THROW(sign(), Error);
}

TEST_F(Race, that_is_kept_leaves_out_entries_that_cannot_be_read_and_keeps_the_others) {
  const Plan first = plan(node, job(), {.race = milliseconds(20)});
  JobSignature signature = signature_of(device->info(), first.job, *node.profile, first.limits, 1);
  const std::filesystem::path path = race_path(signature).value();
  const auto entries = [&] { return Json::parse(std::ifstream(path)).at("races"); };
  Json damaged = Json::parse(std::ifstream(path));
  damaged["races"].push_back({{"node", 7}});
  std::ofstream(path) << damaged;
  ASSERT_EQ(entries().size(), 2u);
  const std::string of_first = signature.size;
  signature.size = "another";
  EXPECT_THAT(keep_race(signature, *first.race), ::testing::StartsWith("kept in "));
  EXPECT_EQ(entries().size(), 2u) << "the first one and the new one";
  std::string why_not;
  EXPECT_TRUE(kept_race(signature, why_not)) << why_not;
  signature.size = of_first;
  EXPECT_TRUE(kept_race(signature, why_not)) << why_not;
}

TEST_F(Race, begins_anew_under_another_memory_limit_and_says_that_this_is_why) {
  plan(node, job(), {.race = milliseconds(20)});
  const Plan other = plan(node, job(), {.device_memory = 1_GiB, .race = milliseconds(20)});
  EXPECT_FALSE(other.race->kept);
  EXPECT_THAT(other.race->note, ::testing::HasSubstr("another limit of device memory"));
}

}  // namespace
}  // namespace shiplap
