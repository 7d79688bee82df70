#include "shiplap/device/device_name.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "shiplap/core/error.hpp"
#include "shiplap/profile/more_gpus.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {
namespace {

/// The GPUs of the list, and as many others as are wanted, by the lowest numbers.
std::string cuda_with_gpus(std::vector<int> numbers, std::uint32_t gpus) {
  for (int number = 0; numbers.size() < gpus; ++number)
    if (std::ranges::find(numbers, number) == numbers.end()) numbers.push_back(number);
  return fmt::format("{}{}", cuda_prefix, fmt::join(numbers, ","));
}

}  // namespace

std::optional<std::vector<int>> cuda_numbers(std::string_view text) {
  std::vector<int> result;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    int number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc{} || number < 0) return std::nullopt;
    result.push_back(number);
    if (next == end) return result;
    if (*next != ',') return std::nullopt;
    at = next + 1;
  }
}

VirtualName virtual_name(std::string_view text) {
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::path(text), error)) return {std::string(text)};
  std::uint32_t gpus = 0;
  const std::size_t colon = text.rfind(':');
  const char* const end = text.data() + text.size();
  if (colon != std::string_view::npos && colon > 0) {
    const auto [rest, failure] = std::from_chars(text.data() + colon + 1, end, gpus);
    const bool is_number = rest == end && colon + 1 < text.size();
    if (is_number && (failure != std::errc{} || gpus == 0 || gpus > most_gpus))
      throw UsageError(fmt::format("virtual:{}: a virtual device has 1 to {} GPUs", text, most_gpus));
    if (is_number) return {std::string(text.substr(0, colon)), gpus};
    const std::vector<std::string> profiles = built_in_profiles();
    if (std::ranges::find(profiles, text.substr(0, colon)) != profiles.end())
      throw UsageError(
          fmt::format("virtual:{}: after the name of the profile stands the number of its GPUs, not \"{}\"", text,
                      text.substr(colon + 1)));
  }
  const std::string_view first = text.substr(0, text.find(','));
  for (std::string_view left = text; !first.empty();) {
    const std::size_t comma = left.find(',');
    if (left.substr(0, comma) != first)
      throw UsageError(
          fmt::format("virtual:{}: all GPUs of a virtual device are of one profile: name it once "
                      "for each, as in virtual:{},{}, or with their number, as in virtual:{}:2",
                      text, first, first, first));
    if (++gpus > most_gpus)
      throw UsageError(fmt::format("virtual:{}: a virtual device has 1 to {} GPUs", first, most_gpus));
    if (comma == std::string_view::npos && gpus == 1) break;
    if (comma == std::string_view::npos) return {std::string(first), gpus};
    left.remove_prefix(comma + 1);
  }
  return {std::string(text)};
}

std::optional<std::string> name_with_gpus(std::string_view name, std::uint32_t gpus) {
  if (name.starts_with(cuda_prefix)) {
    const auto numbers = cuda_numbers(name.substr(cuda_prefix.size()));
    return numbers ? std::optional(cuda_with_gpus(*numbers, gpus)) : std::nullopt;
  }
  if (!name.starts_with(virtual_prefix)) return std::nullopt;
  try {
    return fmt::format("{}{}:{}", virtual_prefix, virtual_name(name.substr(virtual_prefix.size())).profile, gpus);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

}  // namespace shiplap
