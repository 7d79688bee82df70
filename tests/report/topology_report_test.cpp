#include "shiplap/report/topology_report.hpp"

#include <gtest/gtest.h>

#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

Profile two_socket_node() {
  Profile profile = planted_profile();
  profile.conditions = {{"host.cpu", "Some CPU"},     {"host.cores", "16"},   {"host.memory", "126 GiB"},
                        {"host.numa_nodes", "2"},     {"gpu.numa_node", "1"}, {"gpu.link", "32.0 GT/s PCIe x16"},
                        {"gpu.pci_bus_id", "0000:06"}};
  return profile;
}

TEST(TopologyReport, draws_the_way_from_the_host_to_its_gpu) {
  EXPECT_EQ(topology_report(two_socket_node()),
            "\nthe node\n"
            "  host  Some CPU, 16 cores, 126 GiB\n"
            "  └─ NUMA node 1 of 2\n"
            "     └─ 32.0 GT/s PCIe x16 ── GPU 0  planted GPU, 141 GiB, 0000:06\n");
}

TEST(TopologyReport, says_where_a_link_trained_to_less_than_it_could) {
  Profile profile = two_socket_node();
  profile.conditions["gpu.link_loaded"] = "16.0 GT/s PCIe x8";
  EXPECT_NE(topology_report(profile, {.width = 120}).find("(trained to 16.0 GT/s PCIe x8 under load)"),
            std::string::npos);
}

TEST(TopologyReport, lists_all_gpus_and_how_they_exchange_bytes) {
  Profile profile = two_socket_node();
  profile.gpus.push_back(profile.gpus.front());
  profile.peers = {{.from = 0, .to = 1, .direct = {}, .staged = {}}, {.from = 1, .to = 0, .direct = {}, .staged = {}}};
  EXPECT_NE(
      topology_report(profile).find("     ├─ GPU 1  planted GPU\n     └─ copies between the GPUs: through the host\n"),
      std::string::npos)
      << topology_report(profile);
  for (PeerModel& peer : profile.peers) peer.direct = {{1_MiB, Interval<Seconds>::exact(microseconds(5))}};
  EXPECT_NE(topology_report(profile).find("copies between the GPUs: direct\n"), std::string::npos);
}

TEST(TopologyReport, calls_unknown_what_is_not_known_and_says_nothing_of_a_host_without_facts) {
  Profile profile = two_socket_node();
  profile.conditions["gpu.numa_node"] = "-1";
  profile.conditions.erase("gpu.link");
  const std::string text = topology_report(profile);
  EXPECT_NE(text.find("NUMA node unknown of 2"), std::string::npos) << text;
  EXPECT_NE(text.find("unknown link ── GPU 0"), std::string::npos) << text;
  profile.conditions.clear();
  EXPECT_EQ(topology_report(profile), "");
}

}  // namespace
}  // namespace shiplap
