// The library's messages name its parameters, as in `chunks`. Here they become the flags of the command line.
#pragma once

#include <string>
#include <string_view>

namespace shiplap::cli {

/// The text with every parameter in backticks replaced by the flag that sets it. Other text stays as it is.
std::string in_flags(std::string_view text);

}  // namespace shiplap::cli
