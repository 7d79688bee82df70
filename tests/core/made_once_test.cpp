#include "shiplap/core/made_once.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace shiplap {
namespace {

TEST(MadeOnce, is_made_once_for_all_threads_and_stays_where_it_is) {
  MadeOnce<int> values;
  std::atomic<int> made = 0;
  std::vector<const int*> seen(8);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < seen.size(); ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 100; ++i) {
          values.at(std::to_string(i), [&] { return ++made; });
          seen[t] = &values.at("0", [] { return 0; });
        }
      });
  }
  EXPECT_EQ(made, 100);
  EXPECT_EQ(seen, std::vector<const int*>(seen.size(), seen[0]));
}

TEST(MadeOnce, is_tried_again_when_it_could_not_be_made) {
  MadeOnce<int> values;
  EXPECT_THROW(values.at("x", []() -> int { throw std::runtime_error("no memory"); }), std::runtime_error);
  EXPECT_EQ(values.at("x", [] { return 7; }), 7);
}

}  // namespace
}  // namespace shiplap
