// The program that libFuzzer drives: shiplap_fuzz --target=NAME [OPTION of libFuzzer…] [FILE | FOLDER…]
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/fuzz/target.hpp"

namespace {

const shiplap::fuzz::Target* target = nullptr;

// Numbers that are the least, the largest, or where arithmetic loses its digits.
constexpr std::array<std::string_view, 14> odd_numbers{"0",     "5e-324",     "1e-300",     "1e-290", "1e-12",
                                                       "0.001", "1",          "1000",       "1e9",    "1e18",
                                                       "1e300", "2147483648", "4294967295", "-1"};

/// The numbers in the text, each as its begin and its length.
std::vector<std::pair<std::size_t, std::size_t>> numbers_in(std::string_view text) {
  std::vector<std::pair<std::size_t, std::size_t>> numbers;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789.eE+-", at), text.size());
    if (end > at && std::isdigit(static_cast<unsigned char>(text[end - 1])) != 0) numbers.emplace_back(at, end - at);
    at = std::max(end, at + 1);
  }
  return numbers;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

/// Every second change puts an odd number in the place of another one: libFuzzer's own changes seldom leave a number.
// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned int seed) {
  std::minstd_rand random(seed);
  const auto numbers = numbers_in({reinterpret_cast<const char*>(data), size});
  if (numbers.empty() || random() % 2 == 0) return LLVMFuzzerMutate(data, size, most);
  const auto [begin, length] = numbers[random() % numbers.size()];
  const std::string_view odd = odd_numbers[random() % odd_numbers.size()];
  if (size - length + odd.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memmove(data + begin + odd.size(), data + begin + length, size - begin - length);
  std::memcpy(data + begin, odd.data(), odd.size());
  return size - length + odd.size();
}

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  constexpr std::string_view flag = "--target=";
  try {
    for (int i = 1; i < *argc; ++i)
      if (const std::string_view argument = (*argv)[i]; argument.starts_with(flag))
        target = &shiplap::fuzz::find_target(argument.substr(flag.size()));
    if (target == nullptr) shiplap::fuzz::find_target("");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "shiplap_fuzz: --target: %s\n", error.what());
    std::exit(64);
  }
  return 0;
}

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    target->run({reinterpret_cast<const char*>(data), size});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "shiplap_fuzz: target %.*s: %s\n", static_cast<int>(target->name.size()), target->name.data(),
                 error.what());
    std::abort();
  }
  return 0;
}
