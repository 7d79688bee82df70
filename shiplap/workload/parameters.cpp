#include "shiplap/workload/parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "shiplap/core/error.hpp"

namespace shiplap {

Parameters::Parameters(std::string workload, std::string_view text) : workload_(std::move(workload)) {
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const auto equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0)
      refuse(fmt::format("'{}' is not of the form NAME=VALUE", item));
    if (!values_.emplace(item.substr(0, equals), item.substr(equals + 1)).second)
      refuse(fmt::format("{} is given twice", item.substr(0, equals)));
  }
}

std::string Parameters::take(const std::string& name, std::string fallback) {
  const auto found = values_.find(name);
  if (found == values_.end()) return fallback;
  std::string value = found->second;
  values_.erase(found);
  return value;
}

std::uint64_t Parameters::count(const std::string& name, const std::string& fallback, std::uint64_t least) {
  const std::uint64_t value = parse_count(take(name, fallback), fmt::format("{}: {}", workload_, name));
  if (value < least) refuse(fmt::format("{} must be at least {}", name, least));
  return value;
}

Bytes Parameters::bytes(const std::string& name, const std::string& fallback) {
  return parse_bytes(take(name, fallback), fmt::format("{}: {}", workload_, name));
}

std::size_t Parameters::one_of(const std::string& name, std::initializer_list<std::string_view> words) {
  const std::string value = take(name, std::string(*words.begin()));
  const auto found = std::ranges::find(words, value);
  if (found == words.end()) refuse(fmt::format("{}={} should be one of {}", name, value, fmt::join(words, ", ")));
  return static_cast<std::size_t>(found - words.begin());
}

void Parameters::require_empty(std::string_view known) const {
  if (!values_.empty())
    throw UsageError(fmt::format("{} has no parameter {}; it has: {}", workload_, values_.begin()->first, known));
}

void Parameters::refuse(const std::string& why) const { throw UsageError(fmt::format("{}: {}", workload_, why)); }

}  // namespace shiplap
