#include "shiplap/report/terminal.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace shiplap {

bool is_ansi_terminal(int file) {
  const char* const kind = std::getenv("TERM");
  return isatty(file) == 1 && kind != nullptr && *kind != '\0' && std::string_view(kind) != "dumb";
}

}  // namespace shiplap
