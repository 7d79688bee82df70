#include "shiplap/plan/layer_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/validate.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

constexpr Bytes mebi{std::uint64_t{1} << 20};

/// Layers of a transformer with 433 MiB in five matrices.
LayeredModel transformer(std::uint64_t layers, Seconds time) {
  return {.name = "transformer",
          .layers = {{.name = "block",
                      .times = layers,
                      .tensors = {mebi * 48, mebi * 32, mebi * 112, mebi * 112, mebi * 112, Bytes{8192}},
                      .time = time}}};
}

double rate_of(const Profile& profile) {
  return 1e9 / (Bytes{1'000'000'000} * profile.find_link(0)->h2d.per_byte.value).count();
}

Bytes used(const LayerPlan& plan) { return plan.kept + plan.ring + plan.model.fixed; }

TEST(LayerPlan, of_a_model_that_fits_keeps_all_of_it_and_takes_the_time_of_its_kernels) {
  const LayeredModel model = transformer(12, Seconds{2e-3});
  const LayerPlan plan = plan_layers(planted_profile(), model, model.weights());
  EXPECT_EQ(plan.streamed, Bytes{});
  EXPECT_EQ(plan.kept, model.weights());
  EXPECT_NEAR(plan.predicted.value / Seconds{24e-3}, 1, 0.01);
}

TEST(LayerPlan, is_at_the_bound_of_the_link_and_at_that_of_the_kernels) {
  const Profile profile = planted_profile();
  for (const Seconds time : {Seconds{0.2e-3}, Seconds{4e-3}, Seconds{20e-3}}) {
    const LayeredModel model = transformer(12, time);
    const LayerPlan plan = plan_layers(profile, model, mebi * 1300);
    EXPECT_LE(used(plan), mebi * 1300);
    const double link = in_bytes(model.weights() - mebi * 1300) / rate_of(profile);
    EXPECT_NEAR(plan.bound.count(), std::max(link, 12 * time.count()), 1e-9);
    // A ring of nearly two layers takes memory that the bound gives to weights.
    EXPECT_LT(plan.predicted.value / plan.bound, 1.25);
    EXPECT_TRUE(time < Seconds{10e-3} || plan.predicted.value / plan.bound < 1.01);
  }
}

// Twelve layers with memory for eight: who keeps whole layers and has two slots streams six.
TEST(LayerPlan, keeps_a_part_of_every_layer_and_streams_less_than_whole_layers_would) {
  LayeredModel model{.layers = {{.name = "layer", .times = 12, .tensors = std::vector<Bytes>(8, mebi * 64)}}};
  const Bytes layer = mebi * 512;
  const LayerPlan plan = plan_layers(planted_profile(), model, layer * 8);
  EXPECT_LE(used(plan), layer * 8);
  EXPECT_LE(plan.streamed, layer * 5);
  EXPECT_GE(plan.streamed, layer * 4);
}

TEST(LayerPlan, has_schedules_without_races_within_the_limit_whatever_the_model_and_the_memory) {
  std::mt19937 random(7);
  const Profile profile = planted_profile();
  for (int round = 0; round < 12; ++round) {
    LayeredModel model{.layers = {}, .fixed = mebi * (random() % 40)};
    Bytes largest;
    const unsigned layers = 1 + static_cast<unsigned>(random() % 12);
    for (unsigned l = 0; l < layers; ++l) {
      ModelLayer layer{
          .name = std::to_string(l), .tensors = {}, .time = microseconds(static_cast<double>(random() % 3000))};
      Bytes sum;
      for (auto t = random() % 6; t > 0; --t) {
        layer.tensors.push_back(Bytes{1 + random() % (80u << 20)});
        sum += aligned_weight(layer.tensors.back());
      }
      largest = std::max(largest, sum);
      model.layers.push_back(std::move(layer));
    }
    const Bytes least = model.fixed + largest;
    const Bytes memory = least + Bytes{random() % (1 + model.weights().count)};
    const LayerPlan plan = plan_layers(profile, model, memory);
    EXPECT_LE(used(plan), memory);
    EXPECT_EQ(plan.kept + plan.streamed, model.weights());
    EXPECT_TRUE(problems(*plan.schedule).empty());
    EXPECT_GE(plan.predicted.value / plan.bound, 0.9999);
    for (const PlannedLayer& layer : plan.layers) {
      Bytes sum;
      for (const LayerPiece& piece : layer.pieces) {
        EXPECT_EQ(piece.from, sum);
        EXPECT_LE(piece.place + piece.size, plan.ring);
        sum += piece.size;
      }
      EXPECT_EQ(sum, layer.streamed);
    }
  }
}

/// A step in the long run by a recurrence of its own: weights one after the other at the rate of the link, each when
/// all kernels have ended that read what it overwrites.
double seconds_of_step(const LayeredModel& model, const std::vector<bool>& kept, Bytes ring, double rate) {
  struct Placed {
    std::size_t layer = 0;
    double place = 0, end = 0;
  };
  std::vector<std::vector<Placed>> placed;
  double end = 0;
  std::size_t number = 0;
  for (const ModelLayer& layer : model.layers) {
    std::vector<double> sizes;
    for (const Bytes tensor : layer.tensors)
      if (!kept[number++]) sizes.push_back(in_bytes(aligned_weight(tensor)));
    for (const double begin : {end, 0.0}) {
      std::vector<Placed> weights;
      end = begin;
      for (const double size : sizes) {
        if (end + size > in_bytes(ring)) end = 0;
        weights.push_back({placed.size(), end, end + size});
        end += size;
      }
      const bool is_whole = std::ranges::none_of(weights, [&](const Placed& one) {
        return one.end > in_bytes(ring) || std::ranges::any_of(weights, [&](const Placed& other) {
                 return &one != &other && one.place < other.end && other.place < one.end;
               });
      });
      if (!is_whole && begin == 0) return std::numeric_limits<double>::infinity();
      if (!is_whole) continue;
      placed.push_back(weights);
      break;
    }
  }
  constexpr int steps = 12;
  std::vector<double> kernel_ends;
  double copied = 0, computed = 0, half = 0;
  for (int step = 0; step < steps; ++step) {
    for (std::size_t l = 0; l < placed.size(); ++l) {
      for (const Placed& weight : placed[l]) {
        double free = 0;
        for (std::size_t earlier = 0; earlier < kernel_ends.size(); ++earlier)
          for (const Placed& other : placed[earlier % placed.size()])
            if (other.place < weight.end && weight.place < other.end) free = std::max(free, kernel_ends[earlier]);
        copied = std::max(copied, free) + (weight.end - weight.place) / rate;
      }
      computed = std::max(computed, placed[l].empty() ? 0 : copied) + model.layers[l].time.count();
      kernel_ends.push_back(computed);
    }
    if (step == steps / 2 - 1) half = computed;
  }
  return (computed - half) / (steps - steps / 2);
}

TEST(LayerPlan, is_within_two_per_cent_of_every_other_set_of_weights_that_could_be_kept) {
  std::mt19937 random(11);
  const Profile profile = paper_profile();
  for (int round = 0; round < 20; ++round) {
    LayeredModel model{.layers = {}};
    const unsigned layers = 3 + random() % 4;
    for (unsigned l = 0; l < layers; ++l)
      model.layers.push_back({.name = std::to_string(l),
                              .tensors = {mebi * (8 + random() % 120), mebi * (8 + random() % 120)},
                              .time = microseconds(static_cast<double>(random() % 5000))});
    Bytes largest;
    for (const ModelLayer& layer : model.layers) largest = std::max(largest, layer.tensors[0] + layer.tensors[1]);
    const Bytes memory = largest + (model.weights() - largest) * (10 + random() % 80) / 100;
    const LayerPlan plan = plan_layers(profile, model, memory);
    double best = std::numeric_limits<double>::infinity();
    for (unsigned set = 0; set < 1u << (2 * layers); ++set) {
      std::vector<bool> kept;
      Bytes size;
      for (unsigned t = 0; t < 2 * layers; ++t) {
        kept.push_back((set >> t & 1) != 0);
        if (kept.back()) size += model.layers[t / 2].tensors[t % 2];
      }
      if (size > memory) continue;
      best = std::min(best, seconds_of_step(model, kept, memory - size, rate_of(profile)));
    }
    EXPECT_LT(plan.predicted.value.count() / best, 1.02) << "round " << round << " " << layers << " layers";
    EXPECT_GT(plan.predicted.value.count() / best, 0.99);
  }
}

TEST(LayerPlan, falls_with_memory_until_the_kernels_are_what_takes_the_time) {
  const Profile profile = planted_profile();
  const LayeredModel model = transformer(8, Seconds{3e-3});
  const std::vector<LayerPoint> points = layer_points(profile, model);
  ASSERT_GT(points.size(), 10u);
  for (std::size_t i = 1; i < points.size(); ++i) {
    EXPECT_GT(points[i].memory, points[i - 1].memory);
    EXPECT_LE(points[i].predicted / points[i - 1].predicted, 1.02);
  }
  EXPECT_NEAR(points.back().predicted / Seconds{24e-3}, 1, 0.01);
}

// Nobody knows before the first call how long the kernels take. The plan is good whether they take long or not.
TEST(LayerPlan, without_times_is_near_the_bound_with_any) {
  const Profile profile = planted_profile();
  const LayeredModel model = transformer(12, Seconds{0});
  const LayerPlan plan = plan_layers(profile, model, mebi * 1700);
  for (const double factor : {0.0, 0.3, 1.0, 3.0, 10.0}) {
    const LayerPlan timed = with_times(profile, plan, std::vector<Seconds>(12, plan.bound / 12 * factor));
    EXPECT_LT(timed.predicted.value / timed.bound, factor > 2 ? 1.15 : 1.35) << factor;
  }
}

TEST(LayerPlan, keeps_its_places_when_other_times_are_measured) {
  const Profile profile = planted_profile();
  const LayerPlan plan = plan_layers(profile, transformer(4, Seconds{0}), mebi * 1000);
  const LayerPlan slower = with_times(profile, plan, std::vector<Seconds>(4, Seconds{30e-3}));
  EXPECT_EQ(slower.ring, plan.ring);
  EXPECT_GT(slower.predicted.value, Seconds{120e-3});
  EXPECT_LT(slower.predicted.value, Seconds{140e-3});
  EXPECT_NE(message_of([&] { with_times(profile, plan, std::vector<Seconds>(3)); }).find("3 times"), std::string::npos);
}

TEST(LayerPlan, refuses_models_that_cannot_run_and_says_what_is_needed) {
  const Profile profile = planted_profile();
  EXPECT_THROW(plan_layers(profile, LayeredModel{}, mebi), UsageError);
  EXPECT_NE(message_of([&] { plan_layers(profile, transformer(2, {}), mebi * 100); }).find("416 MiB"),
            std::string::npos);
  LayeredModel huge{.layers = {{.name = "l", .times = 4096, .tensors = {Bytes{std::uint64_t{1} << 60}}}}};
  EXPECT_THROW(plan_layers(profile, huge, mebi), UsageError);
}

TEST(LayeredModel, is_read_as_people_write_it_and_written_without_loss) {
  const Json text = Json::parse(R"({"schema": "shiplap/layers", "version": 1, "name": "small",
    "layers": [{"name": "embedding", "tensors": ["1 GiB"]},
               {"name": "block", "times": 3, "tensors": ["48MiB", "100B"], "time": "0.9 ms"}]})");
  LayeredModel model;
  from_json(JsonReader(text, "file"), model);
  EXPECT_EQ(model.each().layers.size(), 4u);
  EXPECT_EQ(model.weights(), mebi * 1024 + (mebi * 48 + Bytes{512}) * 3);
  EXPECT_NEAR(model.compute().count(), 2.7e-3, 1e-9);
  LayeredModel again;
  const Json written = to_json(model);
  from_json(JsonReader(written, "again"), again);
  EXPECT_EQ(to_json(again), written);
}

}  // namespace
}  // namespace shiplap
