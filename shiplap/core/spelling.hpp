// Suggests the name that was probably meant by one that does not exist.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shiplap {

/// The known names whose spelling is close to the given one: one name begins with the other, or at most a third of the
/// letters differ. A swap of two neighbouring letters counts as one difference.
std::vector<std::string> names_like(std::string_view given, const std::vector<std::string>& known);
/// "did you mean streams? " with the known names of close spelling; "" when there are none.
std::string did_you_mean(std::string_view given, const std::vector<std::string>& known);

}  // namespace shiplap
