#include "shiplap/advise/nsys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "shiplap/advise/cuda_functions.hpp"
#include "shiplap/advise/nsys_database.hpp"
#include "shiplap/advise/polled_waits.hpp"
#include "shiplap/core/error.hpp"

// The tables, columns and numbers are those of NVIDIA's "SQLite Schema Reference" and "SQLite Schema Event Values" in
// the Nsight Systems Analysis Guide.
namespace shiplap {
namespace {

constexpr const char* call_table = "CUPTI_ACTIVITY_KIND_RUNTIME";
constexpr const char* copy_table = "CUPTI_ACTIVITY_KIND_MEMCPY";
constexpr const char* kernel_table = "CUPTI_ACTIVITY_KIND_KERNEL";
constexpr const char* fill_table = "CUPTI_ACTIVITY_KIND_MEMSET";
constexpr const char* wait_table = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
constexpr const char* event_table = "CUPTI_ACTIVITY_KIND_CUDA_EVENT";
constexpr const char* range_table = "NVTX_EVENTS";
constexpr const char* name_table = "StringIds";

/// The process in a globalPid or globalTid, whose lowest 24 bits are the thread.
std::int64_t process_of(std::int64_t global) { return global >> 24; }
/// The number that the operating system gave to the process. The bits above it are those of the machine.
std::int64_t pid_of(std::int64_t process) { return process & 0xffffff; }

/// The process whose work took the GPUs longest, or without work the one with most calls.
std::int64_t busiest_process(const NsysDatabase& database) {
  struct Load {
    std::int64_t gpu_time = 0;  ///< ns
    std::int64_t calls = 0;
    auto operator<=>(const Load&) const = default;
  };
  std::map<std::int64_t, Load> loads;
  for (const char* table : {copy_table, kernel_table, fill_table})
    database.read(table, {"globalPid", "start", "end"}, [&](NsysRow& row) {
      Load& load = loads[process_of(row.integer())];
      const std::int64_t start = row.integer();
      load.gpu_time += row.integer() - start;
    });
  database.read(call_table, {"globalTid"}, [&](NsysRow& row) { ++loads[process_of(row.integer())].calls; });
  const auto busiest = std::ranges::max_element(loads, {}, [](const auto& entry) { return entry.second; });
  return busiest == loads.end() ? 0 : busiest->first;
}

/// The values of copyKind that are told apart.
enum class CopyKind : std::int64_t {
  host_to_device = 1,
  device_to_host = 2,
  host_to_array = 3,
  array_to_host = 4,
  host_to_host = 9,
  migration_to_device = 11,
  migration_to_host = 12,
  migration_between_devices = 13,
};

bool reads_host(CopyKind kind) {
  return kind == CopyKind::host_to_device || kind == CopyKind::host_to_array || kind == CopyKind::host_to_host;
}
bool writes_host(CopyKind kind) {
  return kind == CopyKind::device_to_host || kind == CopyKind::array_to_host || kind == CopyKind::host_to_host;
}
bool is_migration(CopyKind kind) {
  return kind == CopyKind::migration_to_device || kind == CopyKind::migration_to_host ||
         kind == CopyKind::migration_between_devices;
}

/// The kinds of memory by their numbers in srcKind and dstKind. What is unknown has no entry.
std::map<std::int64_t, MemoryKind> memory_kinds(const NsysDatabase& database) {
  if (!database.has("ENUM_CUDA_MEM_KIND"))
    return {{0, MemoryKind::pageable}, {1, MemoryKind::pinned}, {2, MemoryKind::device}, {3, MemoryKind::device},
            {4, MemoryKind::managed},  {5, MemoryKind::device}, {6, MemoryKind::managed}};
  constexpr std::array words{std::pair{"PAGEABLE", MemoryKind::pageable}, std::pair{"PINNED", MemoryKind::pinned},
                             std::pair{"MANAGED", MemoryKind::managed}, std::pair{"DEVICE", MemoryKind::device},
                             std::pair{"ARRAY", MemoryKind::device}};
  std::map<std::int64_t, MemoryKind> kinds;
  database.read("ENUM_CUDA_MEM_KIND", {"id", "name"}, [&](NsysRow& row) {
    const std::int64_t id = row.integer();
    const std::string name = row.text();
    for (const auto& [word, kind] : words)
      if (name.find(word) != name.npos) kinds.try_emplace(id, kind);
  });
  return kinds;
}

/// The order that the function of a call makes; nullopt when it makes none.
std::optional<RecordedOrder::Kind> wait_of(const std::string& function) {
  switch (watched(function).value_or(Reads::nothing)) {
    case Reads::event_wait:
      return RecordedOrder::Kind::event_wait;
    case Reads::stream_wait:
      return RecordedOrder::Kind::stream_wait;
    case Reads::host_wait:
      return RecordedOrder::Kind::host_wait;
    case Reads::device_wait:
      return RecordedOrder::Kind::device_wait;
    default:
      return std::nullopt;
  }
}

/// The order of a row whose call is unknown. Versions of nsys differ in these numbers, so the call counts where it is
/// known.
std::optional<RecordedOrder::Kind> wait_of(std::int64_t sync_type) {
  switch (sync_type) {
    case 1:
      return RecordedOrder::Kind::event_wait;
    case 2:
      return RecordedOrder::Kind::stream_wait;
    case 3:
      return RecordedOrder::Kind::host_wait;
    case 4:
      return RecordedOrder::Kind::device_wait;
    default:
      return std::nullopt;
  }
}

/// A number of a stream or event; 0 for CUPTI_SYNCHRONIZATION_INVALID_VALUE, which says that there is none.
std::uint32_t number_or_none(std::uint32_t number) { return number == 0xffffffffu ? 0 : number; }

std::uint32_t stream_of(std::uint32_t cupti_stream) {
  constexpr std::uint32_t default_stream = 7;
  return cupti_stream == default_stream ? 0 : number_or_none(cupti_stream);
}

/// The start of a record; 0 for records without a time.
std::uint64_t start_of(const Record& record) {
  return std::visit(
      [](const auto& r) -> std::uint64_t {
        if constexpr (requires { r.time; })
          return r.time.start;
        else
          return 0;
      },
      record);
}

/// The command line with which nsys started the program, or the name of the process when nsys did not start it.
std::string program_of(const NsysDatabase& database, std::int64_t process) {
  constexpr std::string_view argument = "PROCESS_0:ARGUMENT_";
  std::string command;
  std::map<std::uint64_t, std::string> arguments;
  database.read("META_DATA_CAPTURE", {"name", "value"}, [&](NsysRow& row) {
    const std::string name = row.text();
    if (name == "PROCESS_0:COMMAND") command = row.text();
    if (!name.starts_with(argument)) return;
    std::uint64_t place = 0;
    std::from_chars(name.data() + argument.size(), name.data() + name.size(), place);
    arguments[place] = row.text();
  });
  if (command.empty())
    database.read("PROCESSES", {"globalPid", "name"}, [&](NsysRow& row) {
      if (process_of(row.integer()) == process) command = row.text();
    });
  for (const auto& [place, text] : arguments) command += " " + text;
  return command;
}

/// The name of a GPU that a process knows by its number. CUDA_VISIBLE_DEVICES makes these numbers differ from those of
/// the machine.
std::string gpu_name(const NsysDatabase& database, std::int64_t process, std::int64_t gpu) {
  std::int64_t gpu_of_machine = gpu;
  database.read("TARGET_INFO_CUDA_DEVICE", {"pid", "cudaId", "gpuId"}, [&](NsysRow& row) {
    if (row.integer() == pid_of(process) && row.integer() == gpu) gpu_of_machine = row.integer(gpu);
  });
  std::string found;
  const char* number = database.has("TARGET_INFO_GPU", "id") ? "id" : "deviceId";  // as nsys before 2022 has it
  database.read("TARGET_INFO_GPU", {number, "name"}, [&](NsysRow& row) {
    if (row.integer() == gpu_of_machine) found = row.text();
  });
  if (found.empty() && database.has("TARGET_INFO_CUDA_GPU", "name"))  // beside which older exports have no other table
    database.read("TARGET_INFO_CUDA_GPU", {"deviceId", "name"}, [&](NsysRow& row) {
      if (row.integer() == gpu_of_machine) found = row.text();
    });
  return found.empty() ? "unknown GPU" : found;
}

/// Reads what one process did.
class Import {
 public:
  explicit Import(const NsysDatabase& database)
      : database_(database), process_(busiest_process(database)), memory_kinds_(memory_kinds(database)) {
    database_.read(name_table, {"id", "value"}, [&](NsysRow& row) {
      const std::int64_t id = row.integer();
      names_[id] = row.text();
    });
  }

  Recording recording() {
    read_calls();
    const std::size_t calls = records_.size();
    read_copies();
    read_kernels();
    read_fills();
    const std::size_t ops = records_.size() - calls;
    read_waits();
    read_events();
    read_ranges();
    count_times_from_first_start();
    std::ranges::stable_sort(std::span(records_).subspan(calls, ops), {}, start_of);
    Recording recording{program_of(database_, process_), gpu_name(database_, process_, first_gpu_.value_or(0)),
                        std::move(records_), true};
    take_polls_for_waits(recording);
    return recording;
  }

 private:
  /// The columns that every op has.
  struct Op {
    std::uint64_t call;
    std::uint32_t stream;
    std::uint32_t gpu;
    Nanoseconds time;
  };

  void read_calls() {
    struct CallRow {
      std::int64_t thread;
      std::uint64_t call;
      const std::string* function;
      std::uint32_t error;
      Nanoseconds time;
    };
    std::vector<CallRow> rows;
    NsysDatabase::Columns columns{"globalTid", "nameId", "correlationId"};
    const bool has_errors = database_.has(call_table, "returnValue");
    if (has_errors) columns.emplace_back("returnValue");
    columns.insert(columns.end(), {"start", "end"});
    database_.read(call_table, columns, [&](NsysRow& row) {
      const std::int64_t thread = row.integer();
      const std::string& function = function_named(row.integer());
      const std::uint64_t call = row.count();
      const std::uint32_t error = has_errors ? row.number() : 0;
      if (process_of(thread) != process_ || function.empty() || call == 0) return;
      rows.push_back({thread, call, &function, error, next_time(call_table, row)});
    });
    sort_by_start(rows);
    for (const CallRow& row : rows)
      records_.push_back(RecordedCall{row.call, number_of_thread(row.thread), row.time, *row.function, row.error});
  }

  void read_ops(const char* table, NsysDatabase::Columns columns, const std::function<void(const Op&, NsysRow&)>& use) {
    columns.insert(columns.begin(), {"globalPid", "correlationId", "streamId", "deviceId", "start", "end"});
    database_.read(table, columns, [&](NsysRow& row) {
      if (process_of(row.integer()) != process_) return;
      const Op op{row.count(), stream_of(row.number()), row.number(), next_time(table, row)};
      first_gpu_ = std::min(first_gpu_.value_or(op.gpu), op.gpu);
      use(op, row);
    });
  }
  void read_copies() {
    constexpr std::int64_t unknown = -1, prefetched_by_program = 1;
    NsysDatabase::Columns columns{"bytes", "copyKind"};
    const bool has_causes = database_.has(copy_table, "migrationCause");
    if (has_causes) columns.emplace_back("migrationCause");
    columns.insert(columns.end(), {"srcKind", "dstKind"});
    read_ops(copy_table, columns, [&](const Op& op, NsysRow& row) {
      const Bytes size{row.count()};
      const auto kind = static_cast<CopyKind>(row.integer());
      const std::int64_t cause = has_causes ? row.integer(unknown) : unknown;
      if (is_migration(kind)) {
        if (cause == prefetched_by_program) return;  // nobody waits for these pages
        records_.push_back(RecordedMigration{op.time, size, kind != CopyKind::migration_to_host, op.gpu});
        return;
      }
      RecordedCopy copy{.call = op.call, .stream = op.stream, .time = op.time, .size = size, .gpu = op.gpu};
      copy.from = memory(row.integer(unknown), reads_host(kind));
      copy.to = memory(row.integer(unknown), writes_host(kind));
      records_.push_back(copy);
    });
  }
  void read_kernels() {
    const NsysDatabase::Columns columns{"demangledName", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"};
    read_ops(kernel_table, columns, [&](const Op& op, NsysRow& row) {
      RecordedKernel kernel{
          .call = op.call, .stream = op.stream, .time = op.time, .name = name(row.integer()), .gpu = op.gpu};
      for (int dimension = 0; dimension < 3; ++dimension) kernel.blocks *= row.count();
      for (int dimension = 0; dimension < 3; ++dimension) kernel.threads *= row.number();
      records_.push_back(std::move(kernel));
    });
  }
  void read_fills() {
    read_ops(fill_table, {"bytes"}, [&](const Op& op, NsysRow& row) {
      records_.push_back(RecordedFill{op.call, op.stream, op.time, Bytes{row.count()}, op.gpu});
    });
  }

  /// Calls `use` for each row of the process, with its GPU, which exports of some versions do not have.
  void read_orders(const char* table, NsysDatabase::Columns columns,
                   const std::function<void(NsysRow&, std::uint32_t)>& use) {
    const bool has_gpu = database_.has(table, "deviceId");
    if (has_gpu) columns.insert(columns.begin(), "deviceId");
    columns.insert(columns.begin(), "globalPid");
    database_.read(table, columns, [&](NsysRow& row) {
      if (process_of(row.integer()) != process_) return;
      const std::uint32_t gpu = has_gpu ? row.number() : RecordedOrder::unknown_gpu;
      use(row, gpu);
    });
  }
  void read_waits() {
    std::unordered_map<std::uint64_t, RecordedOrder::Kind> kinds;  // by the call
    for (const Record& record : records_)
      if (const auto* call = std::get_if<RecordedCall>(&record))
        if (const auto kind = wait_of(call->function)) kinds.emplace(call->call, *kind);
    read_orders(wait_table, {"syncType", "correlationId", "streamId", "eventId"}, [&](NsysRow& row, std::uint32_t gpu) {
      auto kind = wait_of(row.integer());
      const std::uint64_t call = row.count();
      if (const auto known = kinds.find(call); known != kinds.end()) kind = known->second;
      if (kind)
        records_.push_back(RecordedOrder{call, *kind, stream_of(row.number()), number_or_none(row.number()), gpu});
    });
  }
  void read_events() {
    read_orders(event_table, {"correlationId", "streamId", "eventId"}, [&](NsysRow& row, std::uint32_t gpu) {
      records_.push_back(RecordedOrder{row.count(), RecordedOrder::Kind::record, stream_of(row.number()),
                                       number_or_none(row.number()), gpu});
    });
  }

  void read_ranges() {
    constexpr std::int64_t push_pop = 59;
    constexpr std::int64_t start_end = 60;
    constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min();
    struct RangeRow {
      std::int64_t thread;
      Nanoseconds time;
      std::string text;
    };
    std::vector<RangeRow> rows;
    const NsysDatabase::Columns columns{"globalTid", "eventType", "text", "textId", "start", "end"};
    database_.read(range_table, columns, [&](NsysRow& row) {
      const std::int64_t thread = row.integer();
      const std::int64_t type = row.integer();
      std::string text = row.text();
      const std::int64_t registered = row.integer();
      const std::int64_t start = row.integer();
      const std::int64_t end = row.integer(never);
      if (process_of(thread) != process_ || (type != push_pop && type != start_end) || end == never) return;
      if (text.empty()) text = name(registered);
      rows.push_back({thread, time(range_table, start, end), std::move(text)});
    });
    sort_by_start(rows);
    for (RangeRow& row : rows)
      records_.push_back(RecordedRange{number_of_thread(row.thread), row.time, std::move(row.text)});
  }

  /// Sorts rows by their starts, which are negative before the start of the profile.
  template <class Row>
  static void sort_by_start(std::vector<Row>& rows) {
    std::ranges::stable_sort(rows, {}, [](const Row& row) { return static_cast<std::int64_t>(row.time.start); });
  }

  /// The time since the start of the profile, which is negative for what happened before.
  Nanoseconds time(const char* table, std::int64_t start, std::int64_t end) {
    if (end < start)
      database_.fail(fmt::format("table {} has a row that starts at {} ns and ends at {} ns", table, start, end),
                     "export the report again, or profile the program again");
    first_start_ = std::min(first_start_, start);
    return {static_cast<std::uint64_t>(start), static_cast<std::uint64_t>(end)};
  }
  Nanoseconds next_time(const char* table, NsysRow& row) {
    const std::int64_t start = row.integer();
    return time(table, start, row.integer());
  }
  void count_times_from_first_start() {
    const auto first = static_cast<std::uint64_t>(first_start_);
    const auto shift = [&](auto& r) {
      if constexpr (requires { r.time; }) r.time = {r.time.start - first, r.time.end - first};
    };
    for (Record& record : records_) std::visit(shift, record);
  }

  MemoryKind memory(std::int64_t number, bool on_host) const {
    const auto known = memory_kinds_.find(number);
    if (known != memory_kinds_.end()) return known->second;
    return on_host ? MemoryKind::pageable : MemoryKind::device;
  }
  std::string name(std::int64_t id) {
    const auto found = names_.find(id);
    if (found == names_.end()) return "";
    named_ += found->second.size();
    database_.require_few(named_, "the names of its records");
    return found->second;
  }
  /// The name of a function without its version; empty when its calls are left out.
  const std::string& function_named(std::int64_t id) {
    const auto [function, is_new] = functions_.try_emplace(id);
    if (is_new) {
      const std::string full = name(id);
      if (watched(full) || is_query(full)) function->second = name_in_programs(full);
    }
    return function->second;
  }
  std::uint32_t number_of_thread(std::int64_t global_tid) {
    return threads_.try_emplace(global_tid, static_cast<std::uint32_t>(threads_.size())).first->second;
  }

  const NsysDatabase& database_;
  std::int64_t process_;
  std::map<std::int64_t, MemoryKind> memory_kinds_;
  std::unordered_map<std::int64_t, std::string> names_;
  std::uint64_t named_ = 0;  // bytes of the names of all records
  std::unordered_map<std::int64_t, std::string> functions_;
  std::unordered_map<std::int64_t, std::uint32_t> threads_;
  std::optional<std::uint32_t> first_gpu_;
  std::int64_t first_start_ = std::numeric_limits<std::int64_t>::max();
  std::vector<Record> records_;
};

}  // namespace

Recording read_nsys(const std::filesystem::path& file) {
  const NsysDatabase database(file);
  if (!database.has(name_table))
    database.fail_as_no_export(fmt::format("it is no export of Nsight Systems: it has no table {}", name_table));
  return Import(database).recording();
}

}  // namespace shiplap
