// What the simulator says that it assumes where a profile lacks a parameter.
#include "shiplap/sim/assumptions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shiplap/sim/simulate.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "tests/support/jobs.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Profile measured_profile() {
  Profile profile = planted_profile();
  profile.name = "node";
  profile.origin = Origin::measured;
  return profile;
}

TEST(Assumptions, are_none_where_the_profile_lacks_nothing) {
  EXPECT_THAT(assumptions(measured_profile()), IsEmpty());
  EXPECT_THAT(assumptions(find_profile("h200")), IsEmpty());
}

TEST(Assumptions, say_what_is_absent_what_is_assumed_and_what_to_do) {
  Profile profile = measured_profile();
  profile.gpus[0].handovers.reset();
  EXPECT_THAT(assumptions(profile),
              ElementsAre("profile node lacks handovers; assuming 0 (measure the node again to fill it)"));
}

TEST(Assumptions, are_one_sentence_whatever_is_absent) {
  Profile profile = measured_profile();
  profile.submission.copy.reset();
  profile.gpus[0].stream_groups.reset();
  profile.gpus[0].handovers.reset();
  profile.links[0].d2h.duplex.reset();
  EXPECT_THAT(
      assumptions(profile),
      ElementsAre("profile node lacks submission.copy, handovers; assuming 0, and lacks stream_groups; assuming "
                  "1, and lacks d2h.duplex; assuming the costs of one direction alone (measure the node again "
                  "to fill them)"));
}

TEST(Assumptions, are_one_sentence_for_every_built_in_profile) {
  for (const std::string& name : built_in_profiles()) EXPECT_LE(assumptions(find_profile(name)).size(), 1u) << name;
}

TEST(Assumptions, are_of_the_first_link_of_each_gpu_whatever_its_numa_node) {
  Profile profile = measured_profile();
  profile.gpus.push_back(profile.gpus[0]);
  profile.links.push_back(profile.links[0]);
  profile.links[1].gpu = 1;
  profile.links[1].numa_node = 1;
  profile.links[1].waiting_streams.reset();
  EXPECT_THAT(assumptions(profile), ElementsAre(HasSubstr("links[1].waiting_streams")));
  profile.links[1].gpu = 0;
  EXPECT_THAT(assumptions(profile), IsEmpty()) << "a further node is measured with fewer parameters on purpose";
}

TEST(Assumptions, name_the_object_where_there_are_several) {
  Profile profile = measured_profile();
  profile.gpus.push_back(profile.gpus[0]);
  profile.gpus[1].kernel_gap.reset();
  EXPECT_THAT(assumptions(profile), IsEmpty()) << "it has the name of the first, and is taken to be like it";
  profile.gpus[1].name = "another";
  EXPECT_THAT(assumptions(profile), ElementsAre(HasSubstr("lacks gpus[1].kernel_gap; assuming 0")));
}

TEST(Assumptions, leave_out_what_no_time_depends_on) {
  Profile profile = measured_profile();
  profile.gpus[0].flop_rate.reset();
  profile.gpus[0].memory_bandwidth.reset();
  EXPECT_THAT(assumptions(profile), IsEmpty());
  // Where there is one copy engine nothing moves the other way meanwhile, and copies in the order of their submission
  // are served in no groups.
  profile.gpus[0].copy_engines = 1;
  profile.gpus[0].engine_order = EngineOrder::submission;
  profile.gpus[0].stream_groups.reset();
  profile.links[0].h2d.duplex.reset();
  EXPECT_THAT(assumptions(profile), IsEmpty());
}

TEST(Assumptions, leave_out_what_a_simulation_refuses_to_do_without) {
  Profile profile = measured_profile();
  profile.host.reset();
  profile.links[0].managed.reset();
  profile.submission.graph_launch.reset();
  EXPECT_THAT(assumptions(profile), IsEmpty());
}

TEST(Assumptions, let_a_job_be_simulated_without_any_of_them) {
  Profile profile = measured_profile();
  profile.submission = {};
  GpuModel& gpu = profile.gpus[0];
  gpu.launch_latency.reset();
  gpu.kernel_gap.reset();
  gpu.handovers.reset();
  gpu.stream_groups.reset();
  profile.links[0].waiting_streams.reset();
  profile.links[0].h2d.duplex.reset();
  profile.links[0].d2h.duplex.reset();
  const Schedule schedule = find_strategy("streams").schedule(in_out_job(4_MiB, 4_MiB, milliseconds(1), 16),
                                                              {.chunks = 4}, limits_of(profile));
  const Prediction less = simulate(schedule, profile);
  EXPECT_GT(less.timeline.makespan.count(), 0);
  EXPECT_LT(less.timeline.makespan, simulate(schedule, measured_profile()).timeline.makespan);
}

}  // namespace
}  // namespace shiplap::sim
