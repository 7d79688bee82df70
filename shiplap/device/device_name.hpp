// The names of devices that `open` takes: their parts, and the name of a device with more GPUs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shiplap {

inline constexpr std::string_view cuda_prefix = "cuda:";
inline constexpr std::string_view virtual_prefix = "virtual:";

/// The numbers in "0" or "0,1"; nullopt for other text.
std::optional<std::vector<int>> cuda_numbers(std::string_view text);

/// A virtual device by what follows its prefix.
struct VirtualName {
  std::string profile;                  ///< a built-in profile, or a file
  std::optional<std::uint32_t> gpus{};  ///< none: the GPUs that the profile has
};
/// The parts of "h200", "h200:4" and "h200,h200". A text that is the name of a file is a profile as a whole. Throws
/// UsageError for different profiles and for a number of GPUs that there cannot be.
VirtualName virtual_name(std::string_view text);

/// The name of a device with `gpus` GPUs, of which the first are those of the device `name`: "virtual:h200:4" for
/// "virtual:h200", "cuda:2,0,1" for "cuda:2". nullopt for a name that `open` does not take.
std::optional<std::string> name_with_gpus(std::string_view name, std::uint32_t gpus);

}  // namespace shiplap
