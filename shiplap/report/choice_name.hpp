// Choices in few words, for sentences and tables.
#pragma once

#include <string>

#include "shiplap/strategy/strategy.hpp"

namespace shiplap::document {

/// The choice in as few words as tell it from those of other strategies, as in "streams, 13 chunks".
std::string short_name(const Choice&);

}  // namespace shiplap::document
