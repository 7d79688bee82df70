// What programs print: on stdout, of which nothing may be lost, and on stderr.
#pragma once

#include <string_view>

namespace shiplap::cli {

/// Prints on stdout without any change. A failure is kept for `flush_output`.
void print_verbatim(std::string_view text);
/// Writes what is still to be written on stdout. Returns the errno of the first failure of anything that was printed
/// there, or 0.
int flush_output() noexcept;
/// Prints on stderr without any change. A failure has no consequence, because there is nowhere to report it.
void print_error(std::string_view text) noexcept;

}  // namespace shiplap::cli
