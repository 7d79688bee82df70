#include "cli/parameter_names.hpp"

#include <algorithm>
#include <array>

namespace shiplap::cli {
namespace {

struct Named {
  std::string_view parameter;
  std::string_view flag;
};
constexpr std::array names{Named{".reads", "--reads"},
                           Named{".takes", "--kernel"},
                           Named{".zero_copy_suits", "--access once"},
                           Named{"batched", "--batched"},
                           Named{"block", "--block"},
                           Named{"check_reach", "--check-reach"},
                           Named{"chunks", "--chunks"},
                           Named{"device_memory", "--device-memory"},
                           Named{"gpu", "--gpu"},
                           Named{"gpus", "--gpus"},
                           Named{"graph", "--graph"},
                           Named{"halo", "--halo"},
                           Named{"in", "--in"},
                           Named{"in_flight", "--in-flight"},
                           Named{"item", "--item"},
                           Named{"kernel", "--kernel"},
                           Named{"layout", "--layout"},
                           Named{"max_grid", "--max-grid"},
                           Named{"max_slowdown", "--max-slowdown"},
                           Named{"memory_bound", "--memory-bound"},
                           Named{"network_bandwidth", "--network-bandwidth"},
                           Named{"network_latency", "--network-latency"},
                           Named{"nodes", "--nodes"},
                           Named{"only", "--only"},
                           Named{"order", "--order"},
                           Named{"out", "--out"},
                           Named{"pinned_vector", "--memory pinned"},
                           Named{"quick", "--quick"},
                           Named{"race", "--race"},
                           Named{"ramp", "--ramp"},
                           Named{"range", "--from"},
                           Named{"relay", "--relay"},
                           Named{"relays", "--relay"},
                           Named{"repeats", "--repeat"},
                           Named{"runs", "--reuse"},
                           Named{"save_kernel_profile", "shiplap tune WORKLOAD --write-kernel FILE"},
                           Named{"stated_workload", "--in, --out and --kernel"},
                           Named{"strategies", "--strategy"},
                           Named{"threads", "--threads"},
                           Named{"tolerance", "--tolerance"},
                           Named{"what_if", "--scale"},
                           Named{"with_link", "--link"}};

}  // namespace

std::string in_flags(std::string_view text) {
  std::string out;
  while (true) {
    const std::size_t open = text.find('`');
    const std::size_t close = open == text.npos ? text.npos : text.find('`', open + 1);
    if (close == text.npos) return out.append(text);
    const std::string_view parameter = text.substr(open + 1, close - open - 1);
    const auto named = std::ranges::find(names, parameter, &Named::parameter);
    out.append(text.substr(0, open));
    out.append(named == names.end() ? text.substr(open, close + 1 - open) : named->flag);
    text.remove_prefix(close + 1);
  }
}

}  // namespace shiplap::cli
