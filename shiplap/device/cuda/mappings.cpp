#include "shiplap/device/cuda/mappings.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <tuple>

namespace shiplap {

std::vector<std::byte*> kinds_of_mapping(std::span<std::byte> memory) {
  const auto first = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::uintptr_t end = first + memory.size();
  std::vector<std::byte*> found;
  std::set<std::tuple<std::string, std::string, std::string>> kinds;
  std::ifstream list("/proc/self/maps");
  for (std::string line; std::getline(list, line);) {
    // "7f0c5a000000-7f0c5a021000 rw-p 00000000 00:00 0", then the path of a file
    std::istringstream fields(line);
    std::uintptr_t from = 0;
    std::uintptr_t to = 0;
    char dash = 0;
    std::string permissions;
    std::string offset;
    std::string device;
    std::string inode;
    fields >> std::hex >> from >> dash >> to >> permissions >> offset >> device >> inode;
    if (!fields || from >= end || to <= first) continue;
    if (kinds.emplace(permissions, device, inode).second)
      found.push_back(memory.data() + (std::max(from, first) - first));
  }
  return found;
}

}  // namespace shiplap
