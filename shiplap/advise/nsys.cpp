#include "shiplap/advise/nsys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

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

/// A row of a table. Each read takes the next column.
class Row {
 public:
  explicit Row(sqlite3_stmt* statement) : statement_(statement) {}

  std::int64_t integer(std::int64_t if_null = 0) {
    const int column = next_++;
    return sqlite3_column_type(statement_, column) == SQLITE_NULL ? if_null : sqlite3_column_int64(statement_, column);
  }
  std::uint64_t count() { return static_cast<std::uint64_t>(integer()); }
  std::uint32_t number() { return static_cast<std::uint32_t>(integer()); }
  std::string text() {
    const int column = next_++;
    const unsigned char* text = sqlite3_column_text(statement_, column);
    return text ? reinterpret_cast<const char*>(text) : "";
  }

 private:
  sqlite3_stmt* statement_;
  int next_ = 0;
};

/// A database file that is only read.
class Database {
 public:
  using Columns = std::vector<std::string>;
  using Use = std::function<void(Row&)>;

  explicit Database(const std::filesystem::path& file) : file_(file.string()) {
    sqlite3* database = nullptr;
    const int status = sqlite3_open_v2(file_.c_str(), &database, SQLITE_OPEN_READONLY, nullptr);
    database_.reset(database);
    if (status != SQLITE_OK) fail(sqlite3_errmsg(database), "check that the file exists and may be read");
  }

  bool has(const std::string& table) const { return !columns_of(table).empty(); }
  /// Calls `use` for each row of the table; the row has these columns.
  void read(const std::string& table, const Columns& columns, const Use& use) const { run(table, columns, "", use); }
  void read_by_start(const std::string& table, const Columns& columns, const Use& use) const {
    run(table, columns, " ORDER BY start", use);
  }
  /// Throws Error: what is the case, and what to do about it.
  [[noreturn]] void fail(const std::string& what, const std::string& remedy) const {
    throw Error(fmt::format("{}: {}, so it cannot be imported; {}", file_, what, remedy));
  }
  [[noreturn]] void fail_as_no_export(const std::string& what) const {
    fail(what, "export the report of Nsight Systems with `nsys export --type sqlite` and give that file");
  }

 private:
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };

  /// Runs a query. The first one finds out whether the file is a database.
  void query(const std::string& sql, const Use& use) const {
    sqlite3_stmt* prepared = nullptr;
    int status = sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &prepared, nullptr);
    const std::unique_ptr<sqlite3_stmt, Close> statement(prepared);
    while (status == SQLITE_OK || status == SQLITE_ROW) {
      status = sqlite3_step(prepared);
      if (status != SQLITE_ROW) break;
      Row row(prepared);
      use(row);
    }
    if (status == SQLITE_NOTADB) fail_as_no_export("it is no SQLite database");
    if (status != SQLITE_DONE) fail(sqlite3_errmsg(database_.get()), "export the report again");
  }
  std::set<std::string> columns_of(const std::string& table) const {
    std::set<std::string> columns;
    query(fmt::format("SELECT name FROM pragma_table_info('{}')", table),
          [&](Row& row) { columns.insert(row.text()); });
    return columns;
  }
  void run(const std::string& table, const Columns& columns, const char* order, const Use& use) const {
    const std::set<std::string> present = columns_of(table);
    if (present.empty()) return;
    for (const std::string& column : columns)
      if (!present.contains(column))
        fail(fmt::format("table {} has no column {}", table, column),
             "export the report again with Nsight Systems 2023 or newer: `nsys export --type sqlite`");
    query(fmt::format("SELECT \"{}\" FROM \"{}\"{}", fmt::join(columns, "\", \""), table, order), use);
  }

  std::string file_;
  std::unique_ptr<sqlite3, Close> database_;
};

/// The process in a globalPid or globalTid, whose lowest 24 bits are the thread.
std::int64_t process_of(std::int64_t global) { return global >> 24; }
/// The number that the operating system gave to the process. The bits above it are those of the machine.
std::int64_t pid_of(std::int64_t process) { return process & 0xffffff; }

/// The process whose work took the GPUs longest, or without work the one with most calls.
std::int64_t busiest_process(const Database& database) {
  struct Load {
    std::int64_t gpu_time = 0;  ///< ns
    std::int64_t calls = 0;
    auto operator<=>(const Load&) const = default;
  };
  std::map<std::int64_t, Load> loads;
  for (const char* table : {copy_table, kernel_table, fill_table})
    database.read(table, {"globalPid", "start", "end"}, [&](Row& row) {
      Load& load = loads[process_of(row.integer())];
      const std::int64_t start = row.integer();
      load.gpu_time += row.integer() - start;
    });
  database.read(call_table, {"globalTid"}, [&](Row& row) { ++loads[process_of(row.integer())].calls; });
  const auto busiest = std::ranges::max_element(loads, {}, [](const auto& entry) { return entry.second; });
  return busiest == loads.end() ? 0 : busiest->first;
}

/// "cudaMemcpyAsync_ptsz_v7000" → "cudaMemcpyAsync"
std::string_view without_version(std::string_view name) {
  for (auto mark = name.rfind('_'); mark != name.npos; mark = name.rfind('_')) {
    const std::string_view suffix = name.substr(mark + 1);
    const bool is_version =
        suffix.size() > 1 && suffix[0] == 'v' && suffix.find_first_not_of("0123456789", 1) == suffix.npos;
    if (!is_version && suffix != "ptsz" && suffix != "ptds") break;
    name = name.substr(0, mark);
  }
  return name;
}

/// Whether a call of the function costs time that is worth a look: it puts work into a stream, orders or awaits work,
/// or makes, pins or frees memory.
bool matters(std::string_view function) {
  constexpr std::array beginnings{"Memcpy",          "Memset",       "Launch",          "GraphLaunch",
                                  "StreamWaitEvent", "EventRecord",  "Malloc",          "Free",
                                  "HostAlloc",       "HostRegister", "HostUnregister",  "MemAlloc",
                                  "MemFree",         "MemHostAlloc", "MemHostRegister", "MemHostUnregister"};
  if (!function.starts_with("cu")) return false;
  const std::string_view verb = function.substr(function.starts_with("cuda") ? 4 : 2);
  return verb.find("Synchronize") != verb.npos ||
         std::ranges::any_of(beginnings, [&](const char* beginning) { return verb.starts_with(beginning); });
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
std::map<std::int64_t, MemoryKind> memory_kinds(const Database& database) {
  if (!database.has("ENUM_CUDA_MEM_KIND"))
    return {{0, MemoryKind::pageable}, {1, MemoryKind::pinned}, {2, MemoryKind::device}, {3, MemoryKind::device},
            {4, MemoryKind::managed},  {5, MemoryKind::device}, {6, MemoryKind::managed}};
  constexpr std::array words{std::pair{"PAGEABLE", MemoryKind::pageable}, std::pair{"PINNED", MemoryKind::pinned},
                             std::pair{"MANAGED", MemoryKind::managed}, std::pair{"DEVICE", MemoryKind::device},
                             std::pair{"ARRAY", MemoryKind::device}};
  std::map<std::int64_t, MemoryKind> kinds;
  database.read("ENUM_CUDA_MEM_KIND", {"id", "name"}, [&](Row& row) {
    const std::int64_t id = row.integer();
    const std::string name = row.text();
    for (const auto& [word, kind] : words)
      if (name.find(word) != name.npos) kinds.try_emplace(id, kind);
  });
  return kinds;
}

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
std::string program_of(const Database& database, std::int64_t process) {
  constexpr std::string_view argument = "PROCESS_0:ARGUMENT_";
  std::string command;
  std::map<std::uint64_t, std::string> arguments;
  database.read("META_DATA_CAPTURE", {"name", "value"}, [&](Row& row) {
    const std::string name = row.text();
    if (name == "PROCESS_0:COMMAND") command = row.text();
    if (!name.starts_with(argument)) return;
    std::uint64_t place = 0;
    std::from_chars(name.data() + argument.size(), name.data() + name.size(), place);
    arguments[place] = row.text();
  });
  if (command.empty())
    database.read("PROCESSES", {"globalPid", "name"}, [&](Row& row) {
      if (process_of(row.integer()) == process) command = row.text();
    });
  for (const auto& [place, text] : arguments) command += " " + text;
  return command;
}

/// The name of a GPU that a process knows by its number. CUDA_VISIBLE_DEVICES makes these numbers differ from those of
/// the machine.
std::string gpu_name(const Database& database, std::int64_t process, std::int64_t gpu) {
  std::int64_t gpu_of_machine = gpu;
  database.read("TARGET_INFO_CUDA_DEVICE", {"pid", "cudaId", "gpuId"}, [&](Row& row) {
    if (row.integer() == pid_of(process) && row.integer() == gpu) gpu_of_machine = row.integer(gpu);
  });
  std::string found;
  database.read("TARGET_INFO_GPU", {"id", "name"}, [&](Row& row) {
    if (row.integer() == gpu_of_machine) found = row.text();
  });
  return found.empty() ? "unknown GPU" : found;
}

/// Reads what one process did.
class Import {
 public:
  explicit Import(const Database& database)
      : database_(database), process_(busiest_process(database)), memory_kinds_(memory_kinds(database)) {
    database_.read(name_table, {"id", "value"}, [&](Row& row) {
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
    return {program_of(database_, process_), gpu_name(database_, process_, first_gpu_.value_or(0)), std::move(records_),
            true};
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
    const Database::Columns columns{"globalTid", "nameId", "correlationId", "start", "end"};
    database_.read_by_start(call_table, columns, [&](Row& row) {
      const std::int64_t thread = row.integer();
      const std::string& function = function_named(row.integer());
      const std::uint64_t call = row.count();
      if (process_of(thread) != process_ || function.empty() || call == 0) return;
      records_.push_back(RecordedCall{call, number_of_thread(thread), next_time(call_table, row), function});
    });
  }

  void read_ops(const char* table, Database::Columns columns, const std::function<void(const Op&, Row&)>& use) {
    columns.insert(columns.begin(), {"globalPid", "correlationId", "streamId", "deviceId", "start", "end"});
    database_.read(table, columns, [&](Row& row) {
      if (process_of(row.integer()) != process_) return;
      const Op op{row.count(), stream_of(row.number()), row.number(), next_time(table, row)};
      first_gpu_ = std::min(first_gpu_.value_or(op.gpu), op.gpu);
      use(op, row);
    });
  }
  void read_copies() {
    constexpr std::int64_t unknown = -1;
    read_ops(copy_table, {"bytes", "copyKind", "srcKind", "dstKind"}, [&](const Op& op, Row& row) {
      const Bytes size{row.count()};
      const auto kind = static_cast<CopyKind>(row.integer());
      if (is_migration(kind)) {
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
    const Database::Columns columns{"demangledName", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"};
    read_ops(kernel_table, columns, [&](const Op& op, Row& row) {
      RecordedKernel kernel{
          .call = op.call, .stream = op.stream, .time = op.time, .name = name(row.integer()), .gpu = op.gpu};
      for (int dimension = 0; dimension < 3; ++dimension) kernel.blocks *= row.count();
      for (int dimension = 0; dimension < 3; ++dimension) kernel.threads *= row.number();
      records_.push_back(std::move(kernel));
    });
  }
  void read_fills() {
    read_ops(fill_table, {"bytes"}, [&](const Op& op, Row& row) {
      records_.push_back(RecordedFill{op.call, op.stream, op.time, Bytes{row.count()}, op.gpu});
    });
  }

  void read_waits() {
    const Database::Columns columns{"globalPid", "syncType", "correlationId", "streamId", "eventId"};
    database_.read_by_start(wait_table, columns, [&](Row& row) {
      if (process_of(row.integer()) != process_) return;
      if (const auto kind = wait_of(row.integer()))
        records_.push_back(RecordedOrder{row.count(), *kind, stream_of(row.number()), number_or_none(row.number())});
    });
  }
  void read_events() {
    database_.read(event_table, {"globalPid", "correlationId", "streamId", "eventId"}, [&](Row& row) {
      if (process_of(row.integer()) != process_) return;
      records_.push_back(RecordedOrder{row.count(), RecordedOrder::Kind::record, stream_of(row.number()),
                                       number_or_none(row.number())});
    });
  }

  void read_ranges() {
    constexpr std::int64_t push_pop = 59;
    constexpr std::int64_t start_end = 60;
    constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min();
    const Database::Columns columns{"globalTid", "eventType", "text", "textId", "start", "end"};
    database_.read_by_start(range_table, columns, [&](Row& row) {
      const std::int64_t thread = row.integer();
      const std::int64_t type = row.integer();
      std::string text = row.text();
      const std::int64_t registered = row.integer();
      const std::int64_t start = row.integer();
      const std::int64_t end = row.integer(never);
      if (process_of(thread) != process_ || (type != push_pop && type != start_end) || end == never) return;
      if (text.empty()) text = name(registered);
      records_.push_back(RecordedRange{number_of_thread(thread), time(range_table, start, end), std::move(text)});
    });
  }

  /// The time since the start of the profile, which is negative for what happened before.
  Nanoseconds time(const char* table, std::int64_t start, std::int64_t end) {
    if (end < start)
      database_.fail(fmt::format("table {} has a row that starts at {} ns and ends at {} ns", table, start, end),
                     "export the report again, or profile the program again");
    first_start_ = std::min(first_start_, start);
    return {static_cast<std::uint64_t>(start), static_cast<std::uint64_t>(end)};
  }
  Nanoseconds next_time(const char* table, Row& row) {
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
  std::string name(std::int64_t id) const {
    const auto found = names_.find(id);
    return found == names_.end() ? "" : found->second;
  }
  /// The name of a function without its version; empty when its calls are left out.
  const std::string& function_named(std::int64_t id) {
    const auto [function, is_new] = functions_.try_emplace(id);
    if (is_new) {
      const std::string full = name(id);
      if (const std::string_view plain = without_version(full); matters(plain)) function->second = plain;
    }
    return function->second;
  }
  std::uint32_t number_of_thread(std::int64_t global_tid) {
    return threads_.try_emplace(global_tid, static_cast<std::uint32_t>(threads_.size())).first->second;
  }

  const Database& database_;
  std::int64_t process_;
  std::map<std::int64_t, MemoryKind> memory_kinds_;
  std::unordered_map<std::int64_t, std::string> names_;
  std::unordered_map<std::int64_t, std::string> functions_;
  std::unordered_map<std::int64_t, std::uint32_t> threads_;
  std::optional<std::uint32_t> first_gpu_;
  std::int64_t first_start_ = std::numeric_limits<std::int64_t>::max();
  std::vector<Record> records_;
};

}  // namespace

Recording read_nsys(const std::filesystem::path& file) {
  const Database database(file);
  if (!database.has(name_table))
    database.fail_as_no_export(fmt::format("it is no export of Nsight Systems: it has no table {}", name_table));
  return Import(database).recording();
}

}  // namespace shiplap
