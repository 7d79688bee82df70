// Compares each example with the same work by hand in plain CUDA, alternating in one process, and a long stream through
// a small budget with ideal overlap, and steps of several kernels. Measures the host time of a chunk. Prints a table
// and writes JSON.
//   by_hand DEVICE PROFILE|measure OUT.json [SCALE [jobs|steps]]
// SCALE is 1 for the sizes of the results, less for a trial. `jobs` leaves out the steps, `steps` all else.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench/by_hand/setting.cuh"
#include "shiplap/core/quantity_json.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/profile/profile.hpp"

namespace {

shiplap::Json to_json(const by_hand::Comparison& c) {
  shiplap::Json json{{"name", c.name},
                     {"by_hand", c.by_hand},
                     {"shiplap", c.shiplap},
                     {"predicted", shiplap::quantity_json(c.predicted_ms, "ms")},
                     {"by_hand_time", shiplap::quantity_json(shiplap::median(c.by_hand_ms), "ms")},
                     {"shiplap_time", shiplap::quantity_json(shiplap::median(c.shiplap_ms), "ms")},
                     {"ratio", c.ratio()},
                     {"by_hand_samples", shiplap::quantities_json(c.by_hand_ms, "ms")},
                     {"shiplap_samples", shiplap::quantities_json(c.shiplap_ms, "ms")},
                     {"right", c.right}};
  if (c.single_jobs_ms > 0) json["single_jobs_time"] = shiplap::quantity_json(c.single_jobs_ms, "ms");
  return json;
}

}  // namespace

int main(int argc, char** argv) try {
  using namespace by_hand;
  if (argc < 4) {
    std::cerr << "usage: by_hand DEVICE PROFILE|measure OUT.json [SCALE [jobs|steps]]\n";
    return 64;
  }
  const auto gpu = shiplap::open(argv[1]);
  const std::string profile = argv[2];
  Setting s{
      *gpu,
      profile == "measure" ? shiplap::load_or_measure(*gpu) : shiplap::node_of(*gpu, shiplap::find_profile(profile)),
      argc > 4 ? std::strtod(argv[4], nullptr) : 1.0};
  shiplap::Json json{{"schema", "shiplap/by-hand"},
                     {"version", 2},
                     {"device", gpu->info().name},
                     {"profile_hash", shiplap::parameter_hash(*s.node.profile)},
                     {"clock", "host, from the first call to the known end"}};
  bool right = true;
  std::printf("%-46s %12s %12s %8s %12s  %s\n", "work", "by hand", "shiplap", "ratio", "predicted", "");
  const auto show = [&](const Comparison& c) {
    std::printf("%-46s %9.3f ms %9.3f ms %8.4f %9.3f ms  %s | %s%s\n", c.name.c_str(), shiplap::median(c.by_hand_ms),
                shiplap::median(c.shiplap_ms), c.ratio(), c.predicted_ms, c.by_hand.c_str(), c.shiplap.c_str(),
                c.right ? "" : "  WRONG RESULT");
    if (c.single_jobs_ms > 0) std::printf("%46s %12s %9.3f ms as single jobs\n", "", "", c.single_jobs_ms);
    std::fflush(stdout);
    right = right && c.right;
    json["comparisons"].push_back(to_json(c));
    std::ofstream(argv[3]) << json.dump(1) << '\n';
  };
  if (gpu->info().gpus > 1) {
    for (const Comparison& c : several_gpus(s)) show(c);
    return right ? 0 : 2;
  }
  const std::string only = argc > 5 ? argv[5] : "";
  if (only != "steps") {
    show(saxpy_case(s));
    show(halo_case(s));
    show(pageable_case(s));
    show(library_case(s));
    show(long_stream(s, json));
    show(small_job(s));
    submission(s, json);
    std::printf("%s\n%s\n", json["long_stream"].dump().c_str(), json["host_cost_of_a_chunk"].dump().c_str());
  }
  if (only != "jobs") step_cases(s, show);
  std::ofstream(argv[3]) << json.dump(1) << '\n';
  return right ? 0 : 2;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
