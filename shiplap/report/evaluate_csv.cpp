#include "shiplap/report/evaluate_csv.hpp"

#include <fmt/format.h>

#include "shiplap/core/statistics.hpp"
#include "shiplap/report/csv.hpp"
