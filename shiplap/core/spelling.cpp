#include "shiplap/core/spelling.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace shiplap {
namespace {

constexpr std::size_t most_meant = 4;

/// The number of letters to insert, to leave out, to replace or to swap with the next one (the optimal string alignment
/// distance).
std::size_t edits_between(std::string_view one, std::string_view other) {
  std::vector<std::vector<std::size_t>> edits(one.size() + 1, std::vector<std::size_t>(other.size() + 1));
  for (std::size_t i = 0; i <= one.size(); ++i)
    for (std::size_t j = 0; j <= other.size(); ++j) {
      if (i == 0 || j == 0) {
        edits[i][j] = i + j;
        continue;
      }
      const bool same = one[i - 1] == other[j - 1];
      edits[i][j] = std::min({edits[i - 1][j] + 1, edits[i][j - 1] + 1, edits[i - 1][j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1])
        edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
    }
  return edits[one.size()][other.size()];
}

}  // namespace

namespace {

bool has_few_edits(std::string_view given, std::string_view name) {
  return 3 * edits_between(given, name) <= std::max(given.size(), name.size());
}

}  // namespace

std::vector<std::string> names_like(std::string_view given, const std::vector<std::string>& known) {
  std::vector<std::string> found;
  for (const std::string& name : known) {
    const bool beginning = given.size() >= 3 && (name.starts_with(given) || given.starts_with(name));
    if (beginning || has_few_edits(given, name)) found.push_back(name);
  }
  return found;
}

std::string did_you_mean(std::string_view given, const std::vector<std::string>& known) {
  std::vector<std::string> meant = names_like(given, known);
  // A beginning that many names have says nothing of which one was meant. Of many similar names, the nearest are meant.
  if (meant.size() > most_meant) {
    std::erase_if(meant, [&](const std::string& name) { return !has_few_edits(given, name); });
    std::size_t fewest = given.size();
    for (const std::string& name : meant) fewest = std::min(fewest, edits_between(given, name));
    std::erase_if(meant, [&](const std::string& name) { return edits_between(given, name) > fewest; });
  }
  return meant.empty() || meant.size() > most_meant ? "" : fmt::format("did you mean {}? ", fmt::join(meant, " or "));
}

}  // namespace shiplap
