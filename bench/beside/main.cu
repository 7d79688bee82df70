// The contenders of beside.py that are C++: shiplap, plain copies and streams by hand. It answers requests, so that
// beside.py can run them in turn with PyTorch and CuPy.
//   beside DEVICE PROFILE|measure
// Each line of stdin is a request and each line of stdout its answer, both JSON:
//   {"do": "prepare", "memory": "pinned" | "pageable", "items": N, "device_memory": BYTES, "chunks": [4, 8], "slices":
//   1}
//                             -> {"contenders": [{"tool", "way", "how"}], "absent": [{"tool", "way", "reason"}]}
//   {"do": "check", "contender": I}             -> {"right": true}
//   {"do": "run", "contender": I, "runs": K}    -> {"ms": [...]}: K runs after an untimed one, by the host's clock
// The answer to what failed is {"error": TEXT}. The first line of stdout describes device and profile.
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/beside/work.hpp"
#include "bench/by_hand/harness.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/shiplap.hpp"
#ifdef __CUDACC__
#include "bench/beside/cuda_ways.cuh"
#endif

namespace beside {
namespace {

using shiplap::Json;

auto job_of(std::span<const float> x, std::span<float> y) {
  return shiplap::Job{x.size(), "add"}
      .in("x", x)
      .out("y", y)
#ifdef __CUDACC__
      .kernel([](cudaStream_t stream, shiplap::Chunk chunk, auto x, auto y) {
        by_hand::add<<<by_hand::blocks(chunk.count), 256, 0, stream>>>(chunk.count, x.data(), addend, y.data());
      })
#endif
      .host_kernel([](shiplap::Chunk chunk, auto x, auto y) {
        for (std::uint64_t i = chunk.first; i < chunk.end(); ++i) y[i] = x[i] + addend;
      });
}

/// Arrays of one work and all that was made ready for it.
class Contest {
 public:
  Contest(shiplap::Device& device, const shiplap::Node& node, const Work& work)
      : work_(work), x_(device, work_), y_(device, work_) {
    fill_with_random(x_.elements());
    scrub(y_.elements());
    enter("shiplap", "plan and prepared run", [&] { return planned(device, node); });
#ifdef __CUDACC__
    if (const std::string reason = device.info().is_virtual ? "the device is simulated" : why_no_cuda(); reason.empty())
      enter_cuda_ways();
    else
      leave_out_cuda_ways(reason);
#else
    leave_out_cuda_ways("this build has no CUDA");
#endif
  }
  Contest(const Contest&) = delete;
  Contest& operator=(const Contest&) = delete;

  Json description() const { return {{"contenders", entered_}, {"absent", absent_}}; }

  Json check(std::size_t contender) {
    scrub(y_.elements());
    ways_.at(contender).run();
    return {{"right", is_right(x_.elements(), y_.elements())}};
  }

  Json run(std::size_t contender, unsigned runs) {
    const by_hand::Way& way = ways_.at(contender);
    way.run();
    std::vector<double> ms;
    for (unsigned i = 0; i < runs; ++i) ms.push_back(by_hand::timed(way.run));
    return {{"ms", ms}};
  }

 private:
  by_hand::Way planned(shiplap::Device& device, const shiplap::Node& node) {
    const auto job = job_of(x_.elements(), y_.elements());
    shiplap::PlanOptions options;
    options.device_memory = work_.device_memory;
    options.may_pin = false;  // pinning is preparation, which no contender is charged for
    const auto plan = shiplap::plan(node, job, options);
    prepared_ = shiplap::prepare(device, plan, job);
    return {shiplap::to_string(plan.chosen.choice), [this] { prepared_->run(); }};
  }

#ifdef __CUDACC__
  void enter_cuda_ways() {
    cuda_ = std::make_unique<CudaWays>(work_, x_.elements(), y_.elements());
    enter("plain", "cudaMemcpy", [&] { return cuda_->plain(); });
    enter("by hand", "four streams", [&] { return cuda_->four_streams(); });
    if (!work_.pinned) enter("by hand", "threads and pinned rings", [&] { return cuda_->rings(); });
  }
#endif
  void leave_out_cuda_ways(const std::string& reason) {
    for (const char* tool : {"plain", "by hand"}) leave_out(tool, "all", reason);
  }

  void enter(const char* tool, const char* way, const std::function<by_hand::Way()>& make) try {
    ways_.push_back(make());
    entered_.push_back({{"tool", tool}, {"way", way}, {"how", ways_.back().what}});
  } catch (const std::exception& error) {
    leave_out(tool, way, error.what());
  }
  void leave_out(const char* tool, const char* way, const std::string& reason) {
    absent_.push_back({{"tool", tool}, {"way", way}, {"reason", reason}});
  }

  Work work_;
  HostArray x_;
  HostArray y_;
  std::optional<shiplap::Prepared> prepared_;
#ifdef __CUDACC__
  std::unique_ptr<CudaWays> cuda_;
#endif
  std::vector<by_hand::Way> ways_;
  Json entered_ = Json::array();
  Json absent_ = Json::array();
};

Work work_of(const Json& request) {
  Work work;
  work.pinned = request.at("memory") == "pinned";
  work.items = request.at("items");
  work.device_memory = shiplap::Bytes{request.at("device_memory").get<std::uint64_t>()};
  work.chunks = request.at("chunks").get<std::vector<int>>();
  work.slices = request.at("slices");
  return work;
}

void serve(shiplap::Device& device, const shiplap::Node& node) {
  std::unique_ptr<Contest> contest;
  const auto answer = [&](const Json& request) -> Json {
    const std::string what = request.at("do");
    if (what == "prepare") {
      contest.reset();  // gives its memory back first
      contest = std::make_unique<Contest>(device, node, work_of(request));
      return contest->description();
    }
    if (!contest) throw shiplap::Error("nothing is prepared; send \"prepare\" first");
    if (what == "check") return contest->check(request.at("contender"));
    if (what == "run") return contest->run(request.at("contender"), request.at("runs"));
    throw shiplap::Error("no request '" + what + "'; send prepare, check or run");
  };
  for (std::string line; std::getline(std::cin, line);) {
    Json reply;
    try {
      reply = answer(Json::parse(line));
    } catch (const std::exception& error) {
      reply = {{"error", error.what()}};
    }
    std::cout << reply.dump() << std::endl;
  }
}

}  // namespace
}  // namespace beside

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::cerr << "usage: beside DEVICE PROFILE|measure\n";
    return 64;
  }
  const auto device = shiplap::open(argv[1]);
  const std::string profile = argv[2];
  const auto node = profile == "measure" ? shiplap::load_or_measure(*device)
                                         : shiplap::node_of(*device, shiplap::find_profile(profile));
  const auto info = device->info();
  const shiplap::Json greeting{{"device", info.name},
                               {"simulated", info.is_virtual},
                               {"profile_hash", shiplap::parameter_hash(*node.profile)},
                               {"conditions", info.conditions},
                               {"state", device->state()}};
  std::cout << greeting.dump() << std::endl;
  beside::serve(*device, node);
  return 0;
} catch (const std::exception& error) {
  std::cerr << "beside: " << error.what() << '\n';
  return 1;
}
