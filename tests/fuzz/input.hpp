// Bytes as the choices of whoever builds a value from them. An input that has ended gives zeros.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shiplap::fuzz {

/// Takes numbers and texts from the bytes, one after the other.
class Input {
 public:
  explicit Input(std::string_view bytes) : bytes_(bytes) {}

  bool ended() const { return bytes_.empty(); }
  std::uint8_t byte() {
    if (bytes_.empty()) return 0;
    const auto value = static_cast<std::uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return value;
  }
  bool flag() { return (byte() & 1u) != 0; }
  /// A number below `count`, which is from 1 to 256.
  std::uint32_t below(std::uint32_t count) { return byte() % count; }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | byte();
    return value;
  }
  /// Mostly a small number, sometimes any.
  std::uint64_t size() {
    const std::uint8_t kind = byte();
    if (kind == 0xff) return number();
    return static_cast<std::uint64_t>(1 + kind % 16) << (kind / 16);
  }
  /// Any bytes up to a zero byte, at most 200.
  std::string text() {
    std::string value;
    while (value.size() < 200 && !ended()) {
      const std::uint8_t next = byte();
      if (next == 0) break;
      value.push_back(static_cast<char>(next));
    }
    return value;
  }
  std::string_view rest() const { return bytes_; }

 private:
  std::string_view bytes_;
};

}  // namespace shiplap::fuzz
