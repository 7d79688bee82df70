// What the words of a page mean, for readers who do not know shiplap.
#pragma once

#include <vector>

#include "shiplap/report/page/page.hpp"

namespace shiplap::page {

/// The strategies, and the words of plans, runs, maps and evaluations, in alphabetical order.
std::vector<Word> words();

}  // namespace shiplap::page
