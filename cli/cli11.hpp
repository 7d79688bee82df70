// The names of CLI11 that headers of the program mention: whoever adds flags includes <CLI/CLI.hpp>, which takes
// seconds.
#pragma once

namespace CLI {
class App;
class Option;
}  // namespace CLI
