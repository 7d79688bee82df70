#include "shiplap/measure/check.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/measure/measure.hpp"
#include "shiplap/profile/topology.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/sick_node.hpp"

namespace shiplap {
namespace {

CheckedFigure figure(const Profile& profile, std::string_view what) {
  for (const CheckedFigure& f : check(profile))
    if (f.what == what) return f;
  throw Error("no such figure");
}

template <class T>
void scale(Interval<T>& parameter, double factor) {
  parameter = {parameter.value * factor, parameter.low * factor, parameter.high * factor};
}
void scale(Interval<PerByte>& parameter, double factor) {
  for (PerByte* p : {&parameter.value, &parameter.low, &parameter.high}) p->seconds *= factor;
}
void scale(Interval<Bandwidth>& parameter, double factor) {
  for (Bandwidth* p : {&parameter.value, &parameter.low, &parameter.high}) p->bytes_per_second *= factor;
}

TEST(LinkLimit, is_what_the_generations_carry_after_line_coding) {
  EXPECT_NEAR(pcie_link_rate("2.5 GT/s PCIe x16"), 4e9, 1);
  EXPECT_NEAR(pcie_link_rate("5.0 GT/s PCIe x16"), 8e9, 1);
  EXPECT_NEAR(pcie_link_rate("8.0 GT/s PCIe x16"), 15.754e9, 1e6);
  EXPECT_NEAR(pcie_link_rate("16.0 GT/s PCIe x8"), 15.754e9, 1e6);
  EXPECT_NEAR(pcie_link_rate("32.0 GT/s PCIe x16"), 63.015e9, 1e6);
  EXPECT_NEAR(pcie_link_rate("64.0 GT/s PCIe x16"), 121e9, 1);
  for (const char* other : {"", "unknown", "NVLink-C2C", "x16"}) EXPECT_EQ(pcie_link_rate(other), 0) << other;
}

TEST(Check, finds_nothing_wrong_with_a_sound_node) {
  for (const CheckedFigure& f : check(sound_profile())) {
    EXPECT_EQ(f.verdict, Verdict::good) << f.what << ": " << f.measured << " of " << f.limit;
    EXPECT_TRUE(f.causes.empty());
  }
}

TEST(Check, finds_a_link_at_half_its_width) {
  Profile profile = sound_profile();
  profile.conditions["gpu.link_loaded"] = "unknown";
  for (DirectionModel* direction : {&profile.links[0].h2d, &profile.links[0].d2h}) {
    scale(direction->per_byte, 2);
    scale(direction->duplex->per_byte, 2);
  }
  for (const char* what : {"copies to the GPU", "copies from the GPU"}) {
    const CheckedFigure f = figure(profile, what);
    EXPECT_EQ(f.verdict, Verdict::bad);
    EXPECT_NEAR(f.fraction, 0.44, 0.005);
    EXPECT_NE(f.causes.find("trained down"), std::string::npos);
  }
  EXPECT_EQ(figure(profile, "copies to the GPU while copies from it run").verdict, Verdict::good)
      << "the halves are as good as each other";
}

TEST(Check, names_no_cause_that_the_conditions_rule_out) {
  Profile profile = sound_profile();
  scale(profile.links[0].h2d.per_byte, 2);
  const auto causes = [&] { return figure(profile, "copies to the GPU").causes; };
  profile.conditions["host.numa_nodes"] = "2";
  profile.conditions["host.iommu"] = "translating for 3 of 40 groups of devices";
  profile.conditions["gpu.link_loaded"] = "16.0 GT/s PCIe x16";
  for (const char* cause : {"trained down", "far socket", "IOMMU"})
    EXPECT_NE(causes().find(cause), std::string::npos) << cause;
  profile.conditions["gpu.link_loaded"] = profile.conditions["gpu.link"];
  EXPECT_EQ(causes().find("trained down"), std::string::npos);
  profile.conditions["host.numa_nodes"] = "1";
  EXPECT_EQ(causes().find("far socket"), std::string::npos);
  for (const char* harmless : {"none", "pass-through (4)"}) {
    profile.conditions["host.iommu"] = harmless;
    EXPECT_EQ(causes().find("IOMMU"), std::string::npos) << harmless;
  }
  EXPECT_FALSE(causes().empty()) << "something is left";
}

TEST(GovernorWarning, is_given_for_every_governor_that_is_known_and_not_performance) {
  for (const char* harmless : {"performance", "unknown", "performance (CPUs 0-7), unknown (CPUs 8-15)"})
    EXPECT_EQ(governor_warning({{"host.governor", harmless}}), "") << harmless;
  EXPECT_EQ(governor_warning({}), "") << "a profile without the condition";
  for (const char* slow : {"powersave", "schedutil", "performance (CPUs 0-3,16), powersave (CPUs 8-10)",
                           "unknown (CPUs 0), performance (CPUs 1), ondemand (CPUs 2)"}) {
    const std::string warning = governor_warning({{"host.governor", slow}});
    EXPECT_TRUE(warning.starts_with(std::string("the frequency governor of the CPUs is ") + slow + ": ")) << warning;
    EXPECT_NE(warning.find("cpupower frequency-set -g performance"), std::string::npos) << warning;
    EXPECT_EQ(warning.find('.'), std::string::npos) << "one sentence: " << warning;
  }
}

TEST(Check, takes_scattered_pages_for_a_cause_unless_there_are_huge_ones) {
  Profile profile = sound_profile();
  for (ZeroCopyRate& row : profile.links[0].zero_copy->read) scale(row.rate, 0.3);
  const auto could_be_scattered = [&](const char* huge_pages) {
    profile.conditions["host.huge_pages"] = huge_pages;
    return figure(profile, "kernels that read host memory").causes.find("scattered") != std::string::npos;
  };
  for (const char* setting : {"always", "madvise"}) EXPECT_FALSE(could_be_scattered(setting)) << setting;
  for (const char* setting : {"never", "never in this process"}) EXPECT_TRUE(could_be_scattered(setting)) << setting;
}

TEST(Check, finds_a_link_that_trained_down_and_clocks_that_something_held) {
  Profile profile = sound_profile();
  profile.conditions["gpu.link_loaded"] = "16.0 GT/s PCIe x16";
  EXPECT_EQ(figure(profile, "the link as it is trained").verdict, Verdict::bad);
  EXPECT_NEAR(figure(profile, "the link as it is trained").fraction, 0.5, 1e-12);
  profile.conditions["gpu.link_loaded"] = "unknown";
  EXPECT_EQ(figure(profile, "the link as it is trained").verdict, Verdict::unknown);
  profile.conditions["gpu.clocks_held_by"] = "power cap";
  scale(*profile.gpus[0].flop_rate, 0.8);
  EXPECT_NE(figure(profile, "fp32 multiply-adds").causes.find("power cap"), std::string::npos);
}

TEST(Check, finds_one_slow_direction_and_two_that_hinder_each_other) {
  Profile profile = sound_profile();
  scale(profile.links[0].d2h.per_byte, 1.3);
  EXPECT_EQ(figure(profile, "the slower direction against the faster").verdict, Verdict::low);
  profile = sound_profile();
  scale(profile.links[0].h2d.duplex->per_byte, 1.8);
  EXPECT_EQ(figure(profile, "copies to the GPU while copies from it run").verdict, Verdict::bad);
}

TEST(Check, finds_clocks_that_are_held_down) {
  Profile profile = sound_profile();
  scale(*profile.gpus[0].flop_rate, 0.6);
  EXPECT_EQ(figure(profile, "fp32 multiply-adds").verdict, Verdict::bad);
  EXPECT_NE(figure(profile, "fp32 multiply-adds").causes.find("held down"), std::string::npos);
  scale(*profile.gpus[0].memory_bandwidth, 0.8);
  EXPECT_EQ(figure(profile, "device memory").verdict, Verdict::low);
}

TEST(Check, finds_a_byte_that_did_not_arrive) {
  Profile profile = sound_profile();
  profile.measurements[100].verified = false;
  EXPECT_EQ(figure(profile, "bytes that arrived").verdict, Verdict::bad);
}

TEST(Check, assumes_nothing_about_what_is_not_recorded) {
  Profile profile = sound_profile();
  profile.conditions.clear();
  EXPECT_EQ(figure(profile, "copies to the GPU").verdict, Verdict::unknown);
  EXPECT_EQ(figure(profile, "device memory").verdict, Verdict::unknown);
  EXPECT_EQ(figure(profile, "fp32 multiply-adds").verdict, Verdict::unknown);
  EXPECT_EQ(figure(profile, "the slower direction against the faster").verdict, Verdict::good) << "needs no condition";
  const std::size_t rows = check(profile).size();
  Profile without_link = profile;
  without_link.links.clear();
  EXPECT_EQ(check(without_link).size(), rows) << "what was not measured is unknown, not left out";
  EXPECT_EQ(figure(without_link, "kernels that read host memory").verdict, Verdict::unknown);
  profile.conditions["gpu.compute_capability"] = "99.0";
  profile.conditions["gpu.sm_clock_max"] = "1980 MHz";
  EXPECT_EQ(figure(profile, "fp32 multiply-adds").verdict, Verdict::unknown) << "a GPU of the future";
}

TEST(CheckPrimitives, are_known_for_each_figure_of_a_check_and_no_other_name) {
  const std::vector<std::string> all = checked_primitives();
  for (const CheckedFigure& f : check(sound_profile()))
    for (const std::string& name : primitives_for(f.what)) {
      EXPECT_NE(std::ranges::find(all, name), all.end()) << f.what << ": " << name;
      EXPECT_NE(std::ranges::find(primitives(), name, &Primitive::name), primitives().end()) << name;
    }
  EXPECT_THROW(primitives_for("the colour of the node"), Error);
}

TEST(CheckPrimitives, suffice_for_each_figure_by_themselves) {
  Sickness healthy;
  SickNode node(healthy);
  for (const char* what : {"copies from the GPU", "copies to the GPU while copies from it run",
                           "kernels that read host memory", "device memory", "fp32 multiply-adds"}) {
    MeasureOptions options;
    options.effort = Effort::quick;
    options.rows = primitives_for(what);
    const MeasureResult result = measure(node, options);
    EXPECT_EQ(figure(fit(result.measurements, node.info()), what).verdict, Verdict::good) << what;
  }
}

TEST(NodeVerdict, is_the_gravest_one_that_is_certain) {
  struct Case {
    std::vector<Verdict> figures;
    Verdict node;
  };
  using enum Verdict;
  for (const Case& c : std::initializer_list<Case>{{{}, unknown},
                                                   {{unknown, unknown}, unknown},
                                                   {{good, unknown}, good},
                                                   {{good, low, unknown}, low},
                                                   {{low, busy, good}, busy},
                                                   {{busy, bad, low}, bad}}) {
    std::vector<CheckedFigure> figures;
    for (const Verdict verdict : c.figures) {
      CheckedFigure one;
      one.verdict = verdict;
      figures.push_back(one);
    }
    EXPECT_EQ(verdict_of(figures), c.node);
  }
}

TEST(Verdict, has_a_name_for_each_value_and_for_no_other) {
  EXPECT_EQ(to_string(Verdict::busy), "busy");
  EXPECT_THROW(to_string(static_cast<Verdict>(99)), Error);
}

}  // namespace
}  // namespace shiplap
