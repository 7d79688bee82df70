#include "shiplap/core/units.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

#include "shiplap/core/error.hpp"

namespace shiplap {
namespace {

// 128 bits hold 18 decimal digits of a fraction times the largest unit (2^60).
__extension__ using Wide = unsigned __int128;
constexpr std::size_t most_fraction_digits = 18;

struct Unit {
  std::string_view name;  // lower case
  std::uint64_t factor;
};

constexpr std::array byte_units{
    Unit{"", 1},
    Unit{"b", 1},
    Unit{"ki", 1ull << 10},
    Unit{"kib", 1ull << 10},
    Unit{"mi", 1ull << 20},
    Unit{"mib", 1ull << 20},
    Unit{"gi", 1ull << 30},
    Unit{"gib", 1ull << 30},
    Unit{"ti", 1ull << 40},
    Unit{"tib", 1ull << 40},
    Unit{"pi", 1ull << 50},
    Unit{"pib", 1ull << 50},
    Unit{"kb", 1000},
    Unit{"mb", 1'000'000},
    Unit{"gb", 1'000'000'000},
    Unit{"tb", 1'000'000'000'000},
};

constexpr std::array count_units{
    Unit{"", 1}, Unit{"ki", 1ull << 10}, Unit{"mi", 1ull << 20}, Unit{"gi", 1ull << 30}, Unit{"ti", 1ull << 40},
};

// The functions of <cctype> depend on the locale, so they are not used.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || c == '\t'; }

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// The parts of a text such as "1.5 GiB".
struct Decimal {
  std::string_view whole;
  std::string_view fraction;
  std::string_view unit;
};
// Returns nullopt when the text does not start with a decimal number.
std::optional<Decimal> split_decimal(std::string_view text) {
  text = trimmed(text);
  const auto take_digits = [&text] {
    std::size_t n = 0;
    while (n < text.size() && is_digit(text[n])) ++n;
    const std::string_view digits = text.substr(0, n);
    text.remove_prefix(n);
    return digits;
  };
  Decimal result;
  result.whole = take_digits();
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    result.fraction = take_digits();
  }
  if (result.whole.empty() && result.fraction.empty()) return std::nullopt;
  result.unit = trimmed(text);
  return result;
}

struct Scaled {
  std::uint64_t value;
  bool exact;  // whether the value was not rounded
};
// The number times `factor`, rounded to a whole number. Returns nullopt when the result needs more than 64 bits.
std::optional<Scaled> scale(const Decimal& decimal, std::uint64_t factor) {
  constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  Wide total = 0;
  for (char c : decimal.whole) {
    total = total * 10 + static_cast<unsigned>(c - '0');
    if (total > largest) return std::nullopt;
  }
  total *= factor;
  Wide numerator = 0;
  Wide denominator = 1;
  bool exact = true;
  for (std::size_t i = 0; i < decimal.fraction.size(); ++i) {
    if (i >= most_fraction_digits) {
      exact = exact && decimal.fraction[i] == '0';
      continue;
    }
    numerator = numerator * 10 + static_cast<unsigned>(decimal.fraction[i] - '0');
    denominator *= 10;
  }
  numerator *= factor;
  exact = exact && numerator % denominator == 0;
  total += (numerator + denominator / 2) / denominator;
  if (total > largest) return std::nullopt;
  return Scaled{static_cast<std::uint64_t>(total), exact};
}

const Unit* find_unit(auto& units, std::string_view name) {
  const std::string wanted = lower(name);
  for (const Unit& unit : units)
    if (unit.name == wanted) return &unit;
  return nullptr;
}

[[noreturn]] void refuse(std::string_view what, std::string_view text, std::string_view why) {
  throw UsageError(fmt::format("{}: \"{}\" {}", what, text, why));
}

// Four significant digits with trailing zeros. Only values below 1e-6 are written in scientific notation.
std::string four_digits(double value) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  if (value == 0) return "0";
  // Rounding may add a digit (9.9996 → 10.00), so the exponent is read from the rounded text.
  const std::string rounded = fmt::format("{:.3e}", value);
  const int exponent = std::atoi(rounded.c_str() + rounded.find('e') + 1);
  if (exponent < -6) return rounded;
  return fmt::format("{:.{}f}", value, exponent >= 3 ? 0 : 3 - exponent);
}

}  // namespace

std::string to_string(Bytes bytes) {
  constexpr std::array names{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  while (unit + 1 < names.size() && (bytes.count >> (10 * (unit + 1))) != 0) ++unit;
  const std::uint64_t factor = 1ull << (10 * unit);
  if (bytes.count % factor == 0) return fmt::format("{} {}", bytes.count / factor, names[unit]);
  std::string digits = fmt::format("{:.4g}", static_cast<double>(bytes.count) / static_cast<double>(factor));
  // 1023.99 of a unit rounds to 1024, which is 1 of the next unit.
  if (digits == "1024" && unit + 1 < names.size()) {
    digits = "1";
    ++unit;
  }
  return fmt::format("{} {}", digits, names[unit]);
}

std::string to_string(Seconds time) {
  const double seconds = time.count();
  // The unit is chosen by the rounded value: 999.96 µs is printed as 1.000 ms.
  const double magnitude = std::abs(seconds);
  if (constexpr double picosecond = 1e-12; magnitude < picosecond / 2) return "0 µs";  // nobody measured that
  if (magnitude < 0.99995e-3) return four_digits(seconds * 1e6) + " µs";
  if (magnitude < 0.99995) return four_digits(seconds * 1e3) + " ms";
  return four_digits(seconds) + " s";
}

std::string to_string(Bandwidth rate) { return four_digits(in_gigabytes_per_second(rate)) + " GB/s"; }

Bytes parse_bytes(std::string_view text, std::string_view what) {
  const auto decimal = split_decimal(text);
  if (!decimal) refuse(what, text, "is not a size; write for example 64MiB, 1.5GiB, 1GB or 4096");
  const Unit* unit = find_unit(byte_units, decimal->unit);
  if (!unit)
    refuse(what, text,
           fmt::format("is not a size: \"{}\" is no unit; write for example 64MiB (binary) or 64MB (decimal)",
                       decimal->unit));
  const auto scaled = scale(*decimal, unit->factor);
  if (!scaled) refuse(what, text, "does not fit into 64 bits");
  if (unit->factor == 1 && !scaled->exact) refuse(what, text, "is not a whole number of bytes");
  if (scaled->value == 0) refuse(what, text, "must be a positive size");
  return {scaled->value};
}

std::uint64_t parse_count(std::string_view text, std::string_view what) {
  const auto decimal = split_decimal(text);
  if (!decimal) refuse(what, text, "is not a count; write for example 1000 or 64Mi");
  const Unit* unit = find_unit(count_units, decimal->unit);
  if (!unit)
    refuse(what, text,
           fmt::format("is not a count: \"{}\" is no suffix; counts take the binary suffixes Ki, Mi, Gi and Ti",
                       decimal->unit));
  const auto scaled = scale(*decimal, unit->factor);
  if (!scaled) refuse(what, text, "does not fit into 64 bits");
  if (!scaled->exact) refuse(what, text, "is not a whole number");
  return scaled->value;
}

Seconds parse_seconds(std::string_view text, std::string_view what) {
  constexpr std::string_view examples = "write for example 12ms, 3.5us, 200ns or 1s";
  const std::string_view trimmed_text = trimmed(text);
  const bool plain = !trimmed_text.empty() && (is_digit(trimmed_text.front()) || trimmed_text.front() == '.');
  double value = 0;
  const char* const end = trimmed_text.data() + trimmed_text.size();
  const auto [rest, failure] = std::from_chars(trimmed_text.data(), end, value);
  if (failure == std::errc::result_out_of_range) refuse(what, text, "is out of range");
  if (!plain || failure != std::errc{}) refuse(what, text, fmt::format("is not a time of 0 or more; {}", examples));
  const std::string_view unit = trimmed(trimmed_text.substr(static_cast<std::size_t>(rest - trimmed_text.data())));
  // The list has both code points that look like µ: micro sign (U+00B5) and Greek mu (U+03BC). Dividing by an exact
  // power of ten gives the double that is nearest to the text.
  for (const auto& [name, divisor] : {std::pair<std::string_view, double>{"s", 1},
                                      {"ms", 1e3},
                                      {"us", 1e6},
                                      {"\u00b5s", 1e6},
                                      {"\u03bcs", 1e6},
                                      {"ns", 1e9}})
    if (unit == name) {
      if (Seconds{value / divisor} > longest_time) refuse(what, text, "is out of range: a time is at most 1e9 s");
      return Seconds{value / divisor};
    }
  if (unit.empty() && value == 0) return Seconds{0};  // in every unit
  if (unit.empty()) refuse(what, text, fmt::format("has no unit; {}", examples));
  refuse(what, text, fmt::format("is not a time: \"{}\" is no unit; {}", unit, examples));
}

Bandwidth parse_bandwidth(std::string_view text, std::string_view what) {
  constexpr std::string_view examples = "write for example 25GB/s, 900MB/s or 200Gbit/s";
  const std::string_view trimmed_text = trimmed(text);
  const bool plain = !trimmed_text.empty() && (is_digit(trimmed_text.front()) || trimmed_text.front() == '.');
  double value = 0;
  const auto [rest, failure] = std::from_chars(trimmed_text.data(), trimmed_text.data() + trimmed_text.size(), value);
  if (failure == std::errc::result_out_of_range) refuse(what, text, "is out of range");
  if (!plain || failure != std::errc{} || !(value > 0))
    refuse(what, text, fmt::format("is not a bandwidth of more than 0; {}", examples));
  const std::string_view unit = trimmed(trimmed_text.substr(static_cast<std::size_t>(rest - trimmed_text.data())));
  for (const auto& [name, bytes] :
       {std::pair<std::string_view, double>{"GB/s", 1e9}, {"MB/s", 1e6}, {"Gbit/s", 1e9 / 8}, {"Mbit/s", 1e6 / 8}})
    if (unit == name) {
      if (!std::isfinite(value * bytes)) refuse(what, text, "is out of range");
      return {value * bytes};
    }
  if (unit.empty()) refuse(what, text, fmt::format("has no unit; {}", examples));
  refuse(what, text, fmt::format("is not a bandwidth: \"{}\" is no unit; {}", unit, examples));
}

double parse_fraction(std::string_view text, std::string_view what) {
  const std::string_view trimmed_text = trimmed(text);
  const bool plain = !trimmed_text.empty() && (is_digit(trimmed_text.front()) || trimmed_text.front() == '.');
  double value = 0;
  const auto [rest, failure] = std::from_chars(trimmed_text.data(), trimmed_text.data() + trimmed_text.size(), value);
  const std::string_view unit = trimmed(trimmed_text.substr(static_cast<std::size_t>(rest - trimmed_text.data())));
  if (!plain || failure != std::errc{} || (!unit.empty() && unit != "%"))
    refuse(what, text, "is not a fraction of 0 or more; write for example 5% or 0.05");
  if (unit.empty() && value > 1) refuse(what, text, fmt::format("is above 1; write {}% for per cent", trimmed_text));
  return unit.empty() ? value : value / 100;
}

}  // namespace shiplap
