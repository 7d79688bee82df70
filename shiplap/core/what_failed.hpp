// What an exception says to people.
#pragma once

#include <exception>

namespace shiplap {

/// The message of an exception, in words also where the host's memory was not enough.
const char* what_failed(const std::exception&);

}  // namespace shiplap
