// Types for sizes, times and rates, so that bytes cannot be added to seconds. Units are converted only for printing.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace shiplap {

/// A time span in seconds, double precision. Any std::chrono duration converts to it: `Seconds t = 5us;`
using Seconds = std::chrono::duration<double>;

/// The longest time that is read: 30 years. Sums of longer times lose the microseconds that they are made of.
inline constexpr Seconds longest_time{1e9};

/// A time given in microseconds.
constexpr Seconds microseconds(double us) { return Seconds{us * 1e-6}; }
/// A time given in milliseconds.
constexpr Seconds milliseconds(double ms) { return Seconds{ms * 1e-3}; }
/// The time as a number of microseconds.
constexpr double in_microseconds(Seconds t) { return t.count() * 1e6; }
/// The time as a number of milliseconds.
constexpr double in_milliseconds(Seconds t) { return t.count() * 1e3; }

/// A number of bytes.
struct Bytes {
  std::uint64_t count = 0;  ///< number of bytes

  friend constexpr bool operator==(Bytes, Bytes) = default;  // nvcc 13 warns of the one that C++ adds by itself
  friend constexpr auto operator<=>(Bytes, Bytes) = default;
  /// Adds `other` to this size.
  constexpr Bytes& operator+=(Bytes other) {
    count += other.count;
    return *this;
  }
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return {a.count + b.count}; }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return {a.count - b.count}; }
  friend constexpr Bytes operator*(Bytes a, std::uint64_t k) { return {a.count * k}; }
  friend constexpr Bytes operator/(Bytes a, std::uint64_t k) { return {a.count / k}; }
};

/// The number of bytes as a double, for formulas.
constexpr double in_bytes(Bytes n) { return static_cast<double>(n.count); }

/// A rate in bytes per second. It is printed as decimal GB/s (1e9 bytes per second).
struct Bandwidth {
  double bytes_per_second = 0;  ///< rate in bytes per second
  friend constexpr auto operator<=>(Bandwidth, Bandwidth) = default;
};

/// The inverse of a bandwidth: seconds per byte. LogGP calls it G (van Werkhoven et al. 2014, §V).
struct PerByte {
  double seconds = 0;  ///< seconds per byte
  friend constexpr auto operator<=>(PerByte, PerByte) = default;
};

/// The time that `n` bytes take at the bandwidth `b`.
constexpr Seconds operator/(Bytes n, Bandwidth b) { return Seconds{in_bytes(n) / b.bytes_per_second}; }
/// The bandwidth of `n` bytes in the time `t`.
constexpr Bandwidth operator/(Bytes n, Seconds t) { return {in_bytes(n) / t.count()}; }
/// The time that `n` bytes take.
constexpr Seconds operator*(Bytes n, PerByte g) { return Seconds{in_bytes(n) * g.seconds}; }
/// The bandwidth with this time per byte.
constexpr Bandwidth bandwidth(PerByte g) { return {1.0 / g.seconds}; }
/// The time per byte at this bandwidth.
constexpr PerByte per_byte(Bandwidth b) { return {1.0 / b.bytes_per_second}; }
/// A bandwidth given in GB/s (1e9 bytes per second).
constexpr Bandwidth gigabytes_per_second(double gb) { return {gb * 1e9}; }
/// The bandwidth as a number of GB/s (1e9 bytes per second).
constexpr double in_gigabytes_per_second(Bandwidth b) { return b.bytes_per_second * 1e-9; }

inline namespace literals {
/// A size in bytes: `64_B`.
constexpr Bytes operator""_B(unsigned long long n) { return {n}; }
/// A size in KiB (1024 bytes): `64_KiB`.
constexpr Bytes operator""_KiB(unsigned long long n) { return {n << 10}; }
/// A size in MiB (2^20 bytes): `64_MiB`.
constexpr Bytes operator""_MiB(unsigned long long n) { return {n << 20}; }
/// A size in GiB (2^30 bytes): `64_GiB`.
constexpr Bytes operator""_GiB(unsigned long long n) { return {n << 30}; }
}  // namespace literals

/// The size in binary units: "64 MiB", "1.5 GiB", "17 B". It is exact for whole multiples of the unit and has 4
/// significant digits otherwise.
std::string to_string(Bytes);
/// The time with 4 significant digits and its unit: "5.573 ms", "4.600 µs", "1.204 s".
std::string to_string(Seconds);
/// The rate in decimal GB/s with 4 significant digits: "55.40 GB/s".
std::string to_string(Bandwidth);

/// Reads "64Mi", "64MiB", "1.5GiB", "4096", "512 KiB" (binary) and "1GB" (decimal).
/// Throws UsageError that names `what` when the text is not a positive size or does not fit into 64 bits.
Bytes parse_bytes(std::string_view text, std::string_view what);
/// Reads a count with an optional binary suffix: "64Mi" is 67108864. Throws UsageError that names `what`.
std::uint64_t parse_count(std::string_view text, std::string_view what);
/// Reads "12ms", "3.5 us", "3.5 µs", "200ns", "1s"; a unit is required. Throws UsageError that names `what`.
Seconds parse_seconds(std::string_view text, std::string_view what);
/// Reads "25GB/s", "900 MB/s" and "200Gbit/s" (decimal, 8 bits to a byte) as a bandwidth of more than 0; a unit is
/// required. Throws UsageError that names `what`.
Bandwidth parse_bandwidth(std::string_view text, std::string_view what);
/// Reads "5%", "0.5 %" and "0.05" as a fraction: 5 % is 0.05. Throws UsageError that names `what` for anything that is
/// not 0 or more, and for numbers above 1 without a %.
double parse_fraction(std::string_view text, std::string_view what);

}  // namespace shiplap
