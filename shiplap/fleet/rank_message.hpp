// What ranks tell each other while they check a fleet. Rank 0 collects reports and gives orders.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "shiplap/core/enum_names.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/measure/node_result.hpp"

namespace shiplap {

/// A rank has begun.
struct Hello {
  std::string node;     ///< name of its host
  std::string program;  ///< version of its program
};

/// A GPU that a rank sees.
struct RankDevice {
  std::string name;        ///< "cuda:0", as the rank opens it
  std::string pci_bus_id;  ///< "0000:18:00.0", which two ranks of a node have in common; empty: unknown
  friend bool operator==(const RankDevice&, const RankDevice&) = default;
};

/// The GPUs that a rank sees. Ranks of a node may see the same ones.
struct DeviceList {
  std::vector<RankDevice> devices{};
  std::string failure{};  ///< why they could not be listed; empty: they could
};

/// What a rank was asked to do with a GPU.
enum class Task : std::uint8_t {
  check,         ///< to check it by itself
  copy_at_once,  ///< to copy while the other GPUs of the node copy
};
EnumNames<Task> names_of(Task);

/// A rank has done something with a GPU, or could not.
struct Answer {
  Task task = Task::check;
  std::string device;     ///< RankDevice::name
  NodeResult result{};    ///< figures, unless there is a failure
  std::string failure{};  ///< why it could not be done; empty: it could
};

/// What a rank reports.
struct RankReport {
  Seconds clock{0};  ///< time of its host's clock since 1970, when it was written
  std::variant<Hello, DeviceList, Answer> what{};
};

/// What rank 0 asks of a rank.
struct Order {
  bool end = false;                    ///< nothing more: the rank ends
  bool all_answered = true;            ///< for `end`: no rank has died or hangs
  Task task = Task::check;             ///< what to do otherwise
  std::vector<std::string> devices{};  ///< with these devices
  Seconds begin{0};                    ///< for `copy_at_once`: begin at this time of the host's clock since 1970
};

/// The text of a report, written now; `check` in it is a document `shiplap/check`. Bytes that are no UTF-8 are
/// replaced.
std::string to_text(const Hello&);
std::string to_text(const DeviceList&);
std::string to_text(Task, const std::string& device, const Json& check);
/// The text of a report that something failed.
std::string failure_text(Task, const std::string& device, const std::string& why);
std::string to_text(const Order&);

/// Reads what to_text wrote. `source` is what errors name, as in "rank 3". Throws Error.
RankReport report_from_text(std::string_view text, const std::string& source);
Order order_from_text(std::string_view text, const std::string& source);

}  // namespace shiplap
