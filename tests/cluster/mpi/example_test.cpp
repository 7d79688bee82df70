// The distributed example under mpirun on virtual devices of two speeds, against shares that equalise simulated times.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "shiplap/cluster/scaling.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/device/open.hpp"
#include "shiplap/pipeline/run.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/profile/what_if.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap {
namespace {

constexpr std::uint64_t example_rows = 2048;
constexpr std::uint64_t example_columns = 2048;

/// One line of the example's table.
struct Row {
  std::string device;
  double items = 0;
  Seconds predicted{0};
  Seconds simulated{0};
};

struct Printed {
  int status = -1;
  std::string text;
  std::vector<Row> rows{};
};

Printed run_example(const std::string& devices) {
  const std::string command = std::string(SHIPLAP_MPIRUN) + " 4 " SHIPLAP_EXAMPLE " " + std::to_string(example_rows) +
                              " " + std::to_string(example_columns) + " 2 " + devices + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  Printed result;
  std::array<char, 4096> buffer{};
  while (const std::size_t count = fread(buffer.data(), 1, buffer.size(), pipe))
    result.text.append(buffer.data(), count);
  result.status = pclose(pipe);
  std::istringstream lines(result.text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    int rank = 0;
    Row row;
    std::array<std::string, 4> times;
    if (words >> rank >> row.device >> row.items >> times[0] >> times[1] >> times[2] >> times[3]) {
      row.predicted = parse_seconds(times[0] + times[1], "predicted");
      row.simulated = parse_seconds(times[2] + times[3], "simulated");
      result.rows.push_back(row);
    }
  }
  return result;
}

/// Simulated time of a run over this many rows: plan and run on the device, without any share.
Seconds simulated_time(const std::string& name, std::uint64_t rows) {
  const auto device = open(name);
  const Node node = load_or_measure(*device);
  std::vector<std::uint32_t> memory(2 * (rows + 2) * example_columns, 1);
  const auto u = std::span(memory).first((rows + 2) * example_columns);
  const auto next = std::span(memory).subspan(u.size(), u.size());
  Job job = Job{rows + 2, "rows"}.in("u", u, halo(1, 1)).out("next", next).host_kernel([](Chunk, auto, auto) {});
  for (Array& array : job.arrays) array.data = nullptr;  // memory of the device is pinned, as that of the example
  std::vector<Memory> pinned;
  for (Array& array : job.arrays) {
    pinned.push_back(device->allocate(Place::host(), MemoryKind::pinned, array.size));
    array.data = pinned.back().data();
  }
  return run(*device, plan(node, job), job).observed.value;
}

/// A device like the h200 whose link has a part of its rate.
std::string slower_device(const std::filesystem::path& folder, const std::string& scale) {
  const auto device = open("virtual:h200");
  const Profile slower = what_if(*load_or_measure(*device).profile, scale);
  const std::filesystem::path file = folder / "slower.json";
  std::ofstream(file) << to_json(slower).dump();
  return "virtual:" + file.string();
}

class DistributedExample : public ::testing::Test {
 protected:
  TemporaryFolder folder;
};

TEST_F(DistributedExample, is_right_and_has_the_best_shares_on_devices_of_two_speeds) {
  const std::string fast = "virtual:h200";
  const std::string slow = slower_device(folder.path(), "link=0.4");
  const Printed printed = run_example(fast + " " + slow);
  ASSERT_EQ(printed.status, 0) << printed.text;
  EXPECT_NE(printed.text.find("Every byte is that of a plain loop after 2 steps."), std::string::npos) << printed.text;
  ASSERT_EQ(printed.rows.size(), 4u) << printed.text;

  // Two fast and two slow ranks: the best shares are those for which a fast and a slow rank take equally long.
  std::uint64_t low = 1;
  std::uint64_t high = example_rows / 2 - 1;
  while (high - low > 1) {
    const std::uint64_t middle = (low + high) / 2;
    (simulated_time(fast, middle) < simulated_time(slow, example_rows / 2 - middle) ? low : high) = middle;
  }
  const auto best_fast = static_cast<double>(low);
  const double best_slow = example_rows / 2.0 - best_fast;
  EXPECT_GT(best_fast, 1.5 * best_slow) << "the devices have two speeds";
  const Seconds best = std::max(simulated_time(fast, low), simulated_time(slow, example_rows / 2 - low));
  for (std::size_t rank = 0; rank < 4; ++rank) {
    const Row& row = printed.rows[rank];
    const double expected = rank % 2 == 0 ? best_fast : best_slow;
    EXPECT_NEAR(row.items / expected, 1, 0.03) << printed.text;
    EXPECT_NEAR(row.predicted / row.simulated, 1, 0.03) << printed.text;
    EXPECT_LE(row.simulated / best, 1.03) << printed.text;
  }
  RecordProperty("best_fast", std::to_string(low));
  std::cout << printed.text << "best shares by simulated times: " << best_fast << " and " << best_slow << " rows, "
            << to_string(best) << '\n';
}

TEST_F(DistributedExample, takes_as_long_as_predict_scaling_says) {
  const Printed printed = run_example("virtual:h200");
  ASSERT_EQ(printed.status, 0) << printed.text;
  ASSERT_EQ(printed.rows.size(), 4u) << printed.text;
  const auto device = open("virtual:h200");
  const Job job = Job{example_rows, "stencil"}
                      .shaped<const std::uint32_t>("u", Role::in, example_rows * example_columns, halo(1, 1))
                      .shaped<std::uint32_t>("next", Role::out, example_rows * example_columns)
                      .host_kernel([](Chunk, auto, auto) {});
  const Scaling scaling = predict_scaling(load_or_measure(*device), job, 4, Network{{25e9}, microseconds(2), "stated"});
  Seconds slowest{0};
  for (const Row& row : printed.rows) slowest = std::max(slowest, row.simulated);
  EXPECT_NEAR(scaling.runs.back().node / slowest, 1, 0.03) << printed.text << scaling.to_string();
}

}  // namespace
}  // namespace shiplap
