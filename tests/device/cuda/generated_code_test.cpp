// What the compiler made of the probe kernels: a measurement of loads must have loads in it. Where a result is not
// used, the compiler leaves out all of the work that leads to it.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <string>

#include "shiplap/core/text_file.hpp"

namespace shiplap {
namespace {

/// The body of each kernel in the intermediate code, by its mangled name.
std::map<std::string, std::string> kernels() {
  const std::string text = read_text_file(SHIPLAP_PROBE_PTX);
  std::map<std::string, std::string> found;
  static const std::regex entry(R"(\.entry (\w+)\()");
  for (std::sregex_iterator it(text.begin(), text.end(), entry), end; it != end; ++it) {
    const auto begin = static_cast<std::size_t>(it->position());
    found[(*it)[1]] = text.substr(begin, text.find("\n}", begin) - begin);
  }
  return found;
}

std::size_t count(const std::string& text, const std::string& pattern) {
  const std::regex what(pattern);
  return static_cast<std::size_t>(std::distance(std::sregex_iterator(text.begin(), text.end(), what), {}));
}

const std::string load = R"(\bld\.(volatile\.)?global\b)";
const std::string store = R"(\bst\.(volatile\.)?global\b)";

/// Bodies of the kernels whose name has this word in it.
std::vector<std::string> bodies(const std::string& word) {
  std::vector<std::string> result;
  for (const auto& [name, body] : kernels())
    if (name.find(word) != std::string::npos) result.push_back(body);
  return result;
}

TEST(GeneratedCode, has_loads_and_stores_of_global_memory_in_every_kernel_that_moves_bytes) {
  // A mangled name holds the length of the function's name before it.
  for (const char* name : {"6stream", "3map", "5touch"}) {
    EXPECT_FALSE(bodies(name).empty()) << name;
    for (const std::string& body : bodies(name)) {
      EXPECT_GE(count(body, load), 1u) << name << body;
      EXPECT_GE(count(body, store), 1u) << name << body;
    }
  }
  EXPECT_EQ(bodies("3map").size(), 3u) << "one for each width of an access";
}

TEST(GeneratedCode, loads_in_the_loop_of_the_pointer_chase) {
  ASSERT_EQ(bodies("5chase").size(), 1u);
  const std::string body = bodies("5chase").front();
  EXPECT_GE(count(body, load), 1u) << body;
  // From the label that the loop jumps back to, to the jump.
  static const std::regex loop(R"((\$\w+):[\s\S]*?ld\.global[\s\S]*?bra\s+\1\b)");
  EXPECT_TRUE(std::regex_search(body, loop)) << body;
}

TEST(GeneratedCode, has_multiply_adds_where_arithmetic_is_measured_and_nothing_in_the_empty_kernel) {
  ASSERT_EQ(bodies("12multiply_add").size(), 1u);
  EXPECT_GE(count(bodies("12multiply_add").front(), R"(\bfma\.rn\.f32\b)"), 8u);
  ASSERT_EQ(bodies("5empty").size(), 1u);
  EXPECT_EQ(count(bodies("5empty").front(), load), 0u);
}

}  // namespace
}  // namespace shiplap
