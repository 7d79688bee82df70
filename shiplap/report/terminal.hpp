// Whether output goes to a terminal that knows colours.
#pragma once

namespace shiplap {

/// Whether the file descriptor is a terminal that obeys ANSI sequences: the environment variable TERM is set, and not
/// to "dumb".
bool is_ansi_terminal(int file);

}  // namespace shiplap
