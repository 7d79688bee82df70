// The program that libFuzzer drives: shiplap_fuzz --target=NAME [OPTION of libFuzzer…] [FILE | FOLDER…]
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "tests/fuzz/target.hpp"

namespace {

const shiplap::fuzz::Target* target = nullptr;

}  // namespace

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
