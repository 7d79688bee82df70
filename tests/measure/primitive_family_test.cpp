#include "shiplap/measure/primitive_family.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "shiplap/core/error.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/measure/primitives.hpp"
#include "shiplap/measure/trial.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

/// The arguments of a point of the row; empty where a device with two GPUs has none.
std::vector<Arguments> points_of(const PrimitiveRow& row) {
  DeviceInfo info = open_virtual(planted_profile(), "virtual:planted")->info();
  info.gpus = 2;
  std::vector<Arguments> all;
  try {
    for (const Point& point : row.points({Effort::full, 1_GiB, info}))
      all.insert(all.end(), point.variants.begin(), point.variants.end());
  } catch (const Unsupported&) {
  }
  return all;
}

// A point without an argument of its family would be left out of the profile without a word.
TEST(PrimitiveFamily, names_arguments_that_every_point_of_its_primitives_has) {
  std::set<std::string_view> used;
  for (const PrimitiveRow& row : primitive_rows()) {
    const PrimitiveFamily* const family = family_of(row.primitive.name);
    ASSERT_NE(family, nullptr) << row.primitive.name;
    used.insert(family->prefix);
    for (const Arguments& point : points_of(row))
      for (const std::string_view name : family->arguments)
        EXPECT_TRUE(point.contains(std::string(name))) << row.primitive.name << " lacks " << name;
  }
  for (const PrimitiveFamily& family : primitive_families())
    EXPECT_TRUE(used.contains(family.prefix)) << "no primitive is of " << family.prefix;
}

TEST(PrimitiveFamily, with_a_rate_has_an_argument_that_says_how_much_moves) {
  for (const PrimitiveFamily& family : primitive_families()) {
    const auto has = [&](std::string_view name) { return std::ranges::count(family.arguments, name) == 1; };
    EXPECT_TRUE(family.moved != Moved::bytes || has("bytes")) << family.prefix;
    EXPECT_TRUE(family.moved != Moved::blocks || (has("block") && has("blocks"))) << family.prefix;
  }
}

TEST(PrimitiveFamily, is_the_longest_that_fits) {
  for (const PrimitiveFamily& family : primitive_families())
    EXPECT_EQ(family_of(family.prefix), &family)
        << family.prefix << " is hidden by " << family_of(family.prefix)->prefix;
  EXPECT_EQ(family_of("unheard.of"), nullptr);
}

}  // namespace
}  // namespace shiplap
