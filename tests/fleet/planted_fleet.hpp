// A fleet with the noise of a real node, in which nodes are made sick.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "shiplap/core/json.hpp"
#include "shiplap/measure/node_result.hpp"

namespace shiplap {

/// A figure of a healthy H100, and its relative standard deviation over 16 checks in a row
/// (results/h100/check_noise.txt).
struct Healthy {
  const char* what;
  double value;
  double noise;
};
inline constexpr std::array healthy_figures{Healthy{"copies to the GPU", 5.521e+10, 0.0018},
                                            Healthy{"copies from the GPU", 5.525e+10, 0.0018},
                                            Healthy{"copies to the GPU while copies from it run", 5.193e+10, 0.0326},
                                            Healthy{"copies from the GPU while copies to it run", 5.099e+10, 0.0074},
                                            Healthy{"kernels that read host memory", 5.106e+10, 0.0018},
                                            Healthy{"kernels that write host memory", 5.244e+10, 0.0016},
                                            Healthy{"device memory", 2.85e+12, 0.0006},
                                            Healthy{"fp32 multiply-adds", 6.188e+13, 0.0017}};

class PlantedFleet {
 public:
  explicit PlantedFleet(unsigned seed) : random_(seed) {}

  /// A check of a healthy node. Nodes also differ from each other, by more than a node from itself: they keep what they
  /// were given by their first check.
  NodeResult healthy(const std::string& node) {
    constexpr double from_node_to_node = 1.7;
    const auto [own, is_new] = own_.try_emplace(node);
    if (is_new)
      for (const Healthy& figure : healthy_figures)
        own->second.push_back(1 + from_node_to_node * figure.noise * normal_(random_));
    auto factor = own->second.begin();
    NodeResult result{.node = node, .gpu = "cuda:0", .kind = "nvidia-h100", .verdict = Verdict::good};
    for (const Healthy& figure : healthy_figures)
      result.figures.push_back({.what = figure.what,
                                .measured = "x",
                                .limit = "y",
                                .unit = "B/s",
                                .measured_value = figure.value * *factor++ * (1 + figure.noise * normal_(random_)),
                                .verdict = Verdict::good,
                                .causes = {}});
    return result;
  }
  std::vector<NodeResult> healthy_fleet(std::size_t nodes) {
    std::vector<NodeResult> fleet;
    for (std::size_t i = 0; i < nodes; ++i) fleet.push_back(healthy("n" + std::to_string(i)));
    return fleet;
  }

 private:
  std::mt19937 random_;
  std::normal_distribution<> normal_;
  std::map<std::string, std::vector<double>> own_;  ///< what a node gives beside the others, by figure
};

inline void slow_down(NodeResult& result, const std::vector<std::string>& figures, double factor) {
  for (CheckedFigure& figure : result.figures)
    if (std::ranges::find(figures, figure.what) != figures.end()) figure.measured_value *= factor;
}

}  // namespace shiplap
