// Forward declarations of CLI11, for headers of the program. Sources that add flags include <CLI/CLI.hpp>, which takes
// seconds to compile.
#pragma once

namespace CLI {
class App;
class Option;
class ParseError;
}  // namespace CLI
