// Advice on managed memory of the caller, which the driver keeps for the whole process.
#pragma once

#include <compare>
#include <cstddef>

#include "shiplap/device/cuda/handles.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// Holds advice on a range. The first holder gives it; holders of the same advice on a part of that range share it, and
/// the last one gives back the advice that the caller had given, if all of the range had the same.
/// All holders together are thread-safe.
class HeldAdvice {
 public:
  /// Gives the advice, unless the memory has it already. `gpu` is the number of the device that is to access the pages;
  /// `name` is the memory's in messages. A GPU must be selected. The table must outlive the result. Throws Error when a
  /// call fails, and for a range of which only a part is held.
  HeldAdvice(const Api&, std::byte* data, Bytes size, MemoryAdvice, int gpu, const std::string& name);
  HeldAdvice(HeldAdvice&& other) noexcept;
  HeldAdvice& operator=(HeldAdvice&&) = delete;
  ~HeldAdvice();

 private:
  struct Range {
    const std::byte* data = nullptr;
    std::size_t size = 0;
    MemoryAdvice advice = MemoryAdvice::none;
    int location = 0;
    auto operator<=>(const Range&) const = default;
    const std::byte* end() const { return data + size; }
    bool meets(const Range& other) const {
      return advice == other.advice && location == other.location && data < other.end() && other.data < end();
    }
    bool lies_in(const Range& other) const { return other.data <= data && end() <= other.end(); }
  };
  struct Held;
  static Held& held();

  const Api* api_ = nullptr;  // null after a move
  Range range_;
  OwnContext own_;
};

}  // namespace shiplap
