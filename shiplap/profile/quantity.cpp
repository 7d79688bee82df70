#include "shiplap/profile/quantity.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace shiplap {

double number_for(double si, double scale) {
  const double quotient = si / scale;
  if (!std::isfinite(quotient)) return quotient;
  for (int digits = 1; digits <= 17; ++digits) {
    const std::string text = fmt::format("{:.{}g}", quotient, digits);
    double number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    if (number * scale == si) return number;
  }
  // Quotient and product are both rounded, so the number can be one or two units in the last place away.
  double below = quotient;
  double above = quotient;
  for (int step = 0; step < 2; ++step) {
    below = std::nextafter(below, -std::numeric_limits<double>::infinity());
    above = std::nextafter(above, std::numeric_limits<double>::infinity());
    if (below * scale == si) return below;
    if (above * scale == si) return above;
  }
  return quotient;
}

void refuse_number(const JsonReader& in, double least, double most, std::string_view unit) {
  in.fail(fmt::format("a number from {:g} to {:g} ({})", least, most, unit));
}

}  // namespace shiplap
