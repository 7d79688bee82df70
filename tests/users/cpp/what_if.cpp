// A buyer of machines: is a faster link worth its price for a job whose arrays exist nowhere yet?
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <shiplap/pipeline/plan_view.hpp>
#include <shiplap/profile/profile.hpp>
#include <shiplap/profile/what_if.hpp>
#include <shiplap/shiplap.hpp>
#include <string>

int main(int argc, char** argv) {
  std::string profile_name = argc > 1 ? argv[1] : "virtual:h200";
  if (profile_name.starts_with("virtual:")) profile_name.erase(0, 8);
  constexpr std::uint64_t rows = 1 << 20, columns = 4096;  // 16 GiB of floats in each direction
  const auto job = shiplap::Job{rows, "purchase"}
                       .shaped<const float>("in", shiplap::Role::in, rows * columns)
                       .shaped<float>("out", shiplap::Role::out, rows * columns)
                       .kernel_time(shiplap::Seconds{0.050});

  const auto now = shiplap::find_profile(profile_name);
  const auto plan_now = shiplap::plan(shiplap::node_of(now), job);
  const auto older = shiplap::what_if(now, "link=pcie4");
  const auto plan_older = shiplap::plan(shiplap::node_of(older), job);
  const double time_now = plan_now.chosen.predicted.value.count();
  const double time_older = plan_older.chosen.predicted.value.count();
  std::cout << time_now << " s now, " << time_older << " s over PCIe 4\n";
  // A PCIe 4 link of 16 lanes carries at most 31.51 GB/s in each direction, half of PCIe 5.
  const double least = 4.0 * rows * columns / 31.51e9;
  if (older.origin != shiplap::Origin::assumed || time_older < least) return 1;
  if (time_older < 1.5 * time_now || time_older > 2.5 * time_now) return 1;

  const auto path = std::filesystem::temp_directory_path() / "users_what_if_plan.json";
  std::ofstream(path) << plan_now.to_json();
  const auto again = shiplap::plan(shiplap::node_of(now), job, shiplap::options_of(shiplap::load_plan(path), job));
  try {  // a saved plan is for a job of its size only
    shiplap::options_of(shiplap::load_plan(path),
                        shiplap::Job{rows, "other"}.shaped<float>("x", shiplap::Role::inout, rows));
    return 1;
  } catch (const shiplap::UsageError&) {
  }
  std::filesystem::remove(path);
  if (again.chosen.predicted.value.count() != time_now) return 1;
  std::cout << again.summary() << '\n';
}
