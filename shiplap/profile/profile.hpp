// A profile: what is known of one node, as a value. Fitted parameters with their intervals, and the raw measurements
// they came from. JSON in and out; a built-in profile is the same file, shipped. Schema:
// docs/schema/profile.schema.json.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/core/json.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/core/units.hpp"

namespace shiplap {

/// Where the figures of a profile come from. `planted` is a test's own truth.
enum class Origin : std::uint8_t { measured, published, derived, planted };
/// Its name in files.
std::string to_string(Origin);

/// A parameter that may be missing; what is missing is listed in `Profile::missing` with the reason.
template <class T>
using Parameter = std::optional<Interval<T>>;

/// Fixed costs of a copy of `size` bytes; between two sizes they are interpolated linearly in the size, outside they
/// stay.
struct CopyCost {
  Bytes size;                          ///< of the copy
  Interval<Seconds> latency_overhead;  ///< L+o: from ready to the first byte, event-timed; overlaps an earlier transfer
  Interval<Seconds> gap;               ///< g: engine time that a further copy costs beyond its bytes
};
/// g of copies of `size` bytes; interpolated as CopyCost is.
struct GapAt {
  Bytes size;             ///< of the copy
  Interval<Seconds> gap;  ///< g
};
/// One direction while the opposite one is busy all the time.
struct DuplexModel {
  Interval<PerByte> per_byte;  ///< G of large copies, gap-free
  std::vector<GapAt> gaps;     ///< by increasing size
};
/// Copies of one direction over one link: T(k, n copies) = L+o + k·G + (n − 1)·g (van Werkhoven 2014 §V), with L+o and
/// g as functions of the size of a copy.
struct DirectionModel {
  Interval<PerByte> per_byte;         ///< G of large copies
  std::vector<CopyCost> costs;        ///< at least one, by increasing size
  std::optional<DuplexModel> duplex;  ///< while the other direction is busy; none: never measured
  std::vector<GapAt> batched{};       ///< behind a copy of the same batch (cudaMemcpyBatchAsync)
};

/// What a copy takes longer.
struct Slowdown {
  Interval<Seconds> gap;       ///< for each copy
  Interval<PerByte> per_byte;  ///< for each of its bytes
};
/// How much slower copies are while kernels of two or more queues wait for other engines. One queue that waits costs
/// nothing, and more than two are taken to cost no more than two.
struct WaitingQueues {
  Slowdown h2d;     ///< of copies to the GPU, while none go the other way
  Slowdown d2h;     ///< of copies to the host, while none go the other way
  Slowdown duplex;  ///< of each direction, while copies move both ways
};
/// The members with their names in files and tables.
struct WaitingQueuesName {
  std::string_view name;            ///< in files and tables
  Slowdown WaitingQueues::*member;  ///< what it names
};
/// All members.
inline constexpr std::array waiting_queues_names{WaitingQueuesName{"h2d", &WaitingQueues::h2d},
                                                 WaitingQueuesName{"d2h", &WaitingQueues::d2h},
                                                 WaitingQueuesName{"duplex", &WaitingQueues::duplex}};

/// What kernels move over the link by accessing page-locked host memory, by the bytes they have under way at once:
/// threads that run at once, times the width of an access.
struct MappedRate {
  Bytes in_flight;           ///< under way at once
  Interval<Bandwidth> rate;  ///< what the kernel moves
};
/// The same beside copies by a copy engine, and what that does to the copies: rows by the bytes under way.
struct MappedBeside {
  Bytes in_flight;             ///< under way at once
  Interval<Bandwidth> kernel;  ///< what the kernel moves while a copy moves
  Interval<Bandwidth> copy;    ///< what a copy moves meanwhile
};
/// What kernels that do nothing but move bytes of page-locked host memory move, by themselves and beside copies of what
/// they leave to them. For kernels that were not measured themselves (KernelCost::zero_copy).
struct ZeroCopyModel {
  std::vector<MappedRate> read;                ///< of kernels that read host memory
  std::vector<MappedRate> write;               ///< of kernels that write host memory
  std::vector<MappedRate> both;                ///< each way, of a kernel that reads as much as it writes
  std::vector<MappedBeside> read_beside_d2h;   ///< kernels that read host memory beside copies to the host
  std::vector<MappedBeside> write_beside_h2d;  ///< kernels that write host memory beside copies to the GPU
};
/// The tables with their names in files.
struct MappedRateName {
  std::string_view name;                          ///< in files
  std::vector<MappedRate> ZeroCopyModel::*table;  ///< what it names
};
/// All of these tables.
inline constexpr std::array mapped_rate_names{MappedRateName{"read", &ZeroCopyModel::read},
                                              MappedRateName{"write", &ZeroCopyModel::write},
                                              MappedRateName{"both", &ZeroCopyModel::both}};
/// One of the tables of kernels beside copies, with its name in files.
struct MappedBesideName {
  std::string_view name;                            ///< in files
  std::vector<MappedBeside> ZeroCopyModel::*table;  ///< what it names
};
/// All of these tables.
inline constexpr std::array mapped_beside_names{MappedBesideName{"read_beside_d2h", &ZeroCopyModel::read_beside_d2h},
                                                MappedBesideName{"write_beside_h2d", &ZeroCopyModel::write_beside_h2d}};

/// How long something takes for `size` bytes. Between two rows time grows by a power of the size; below the first it
/// stays, beyond the last it grows in proportion.
struct TimeAt {
  Bytes size;              ///< how many bytes
  Interval<Seconds> time;  ///< how long
};
/// What several host threads move together.
struct RateOfThreads {
  unsigned threads = 1;      ///< how many
  Interval<Bandwidth> rate;  ///< of all together
};

/// Copies between pageable memory and the GPU, which the driver stages through its own buffers while the host waits.
struct PageableModel {
  std::vector<TimeAt> h2d;   ///< of a copy to the GPU
  std::vector<TimeAt> d2h;   ///< of a copy to the host
  std::vector<TimeAt> both;  ///< until a copy each way, submitted by two threads at once, have both ended
};
/// Managed memory.
struct ManagedModel {
  std::vector<TimeAt> prefetch_h2d;       ///< of pages moved to the GPU ahead of their use
  std::vector<TimeAt> prefetch_d2h;       ///< of pages moved to the host
  std::vector<TimeAt> demand_h2d;         ///< of a kernel that touches every page, which faults them over
  std::vector<RateOfThreads> demand_d2h;  ///< of host threads that touch every page
};

/// The link between a host NUMA node and a GPU, for pinned memory where nothing else is said.
struct LinkModel {
  std::uint16_t numa_node = 0;                    ///< of the host
  std::uint16_t gpu = 0;                          ///< its index in Profile::gpus
  DirectionModel h2d;                             ///< copies to the GPU
  DirectionModel d2h;                             ///< copies to the host
  std::optional<WaitingQueues> waiting_queues{};  ///< none: they cost nothing
  std::optional<ZeroCopyModel> zero_copy{};       ///< kernels that access pinned host memory
  std::optional<PageableModel> pageable{};        ///< copies of memory as it comes from malloc
  std::optional<ManagedModel> managed{};          ///< pages that move
};

/// Copies from one GPU to another: directly, where they address each other's memory, and through the host.
struct PeerModel {
  std::uint16_t from = 0;      ///< its index in Profile::gpus
  std::uint16_t to = 0;        ///< its index in Profile::gpus
  std::vector<TimeAt> direct;  ///< empty where they cannot
  std::vector<TimeAt> staged;  ///< through the host
};

/// What several host threads copy together between pageable memory and page-locked rings of so many bytes in all, from
/// which or to which copy engines copy meanwhile. Rings that fit into the caches of the CPU spare its memory.
struct RateThroughRings {
  unsigned threads = 1;      ///< how many
  Bytes rings;               ///< all rings together
  Interval<Bandwidth> rate;  ///< of all threads together
};

/// What host threads do themselves.
struct HostModel {
  std::vector<RateOfThreads> copy;          ///< memcpy between pageable and page-locked memory, in no cache
  std::vector<RateThroughRings> staging{};  ///< by threads, then by rings; empty: as `copy`
  /// What a copy to the GPU takes longer from page-locked memory that threads have just written: the copy engine reads
  /// it out of the caches of their cores, more slowly than out of memory. Read by `written_at`; empty: nothing.
  std::vector<GapAt> written{};
  /// By name: "pin", "unpin", "flush", "allocate KIND" and "release KIND" of each kind of memory, and "create queue"
  /// and "destroy queue", whose only row is that of 1 byte.
  std::map<std::string, std::vector<TimeAt>> calls;
};

/// Which waiting op a copy engine takes next: the first that was submitted (it blocks the engine until it is ready),
/// or the first that became ready.
enum class EngineOrder : std::uint8_t { submission, readiness };

/// Devices with implicit synchronisation hold a device-to-host copy until the last kernel submitted before it has
/// started all its blocks (the hardware's rule) or has ended (what the papers' equations assume).
enum class ImplicitSync : std::uint8_t { none, until_started, until_ended };

/// From the end of an op until one on another engine, or in another queue, that waits for it is ready.
struct Handover {
  Interval<Seconds> idle;  ///< while no copies move the other way
  Interval<Seconds> busy;  ///< while copies move the other way; between kernels, while any copies move
};
/// Between a copy and a kernel, in either order, and between kernels of different queues. "Same queue": the engine of
/// the waiting op served that op's queue last; else the GPU has to bring another queue up.
struct HandoverModel {
  Handover h2d_same_queue;   ///< of a copy to the GPU and a kernel
  Handover h2d_other_queue;  ///< of a copy to the GPU and a kernel
  Handover d2h_same_queue;   ///< of a kernel and a copy to the host
  Handover d2h_other_queue;  ///< of a kernel and a copy to the host
  Handover kernels;          ///< between kernels of different queues
};
/// The members with their names in files and tables.
struct HandoverName {
  std::string_view name;            ///< in files and tables
  Handover HandoverModel::*member;  ///< what it names
};
/// All members.
inline constexpr std::array handover_names{HandoverName{"h2d_same_queue", &HandoverModel::h2d_same_queue},
                                           HandoverName{"h2d_other_queue", &HandoverModel::h2d_other_queue},
                                           HandoverName{"d2h_same_queue", &HandoverModel::d2h_same_queue},
                                           HandoverName{"d2h_other_queue", &HandoverModel::d2h_other_queue},
                                           HandoverName{"kernels", &HandoverModel::kernels}};

/// What an event that is recorded behind a kernel, and one that the next kernel of its queue waits for and that came
/// long before, add to `GpuModel::kernel_gap` between the two.
struct EventGap {
  Interval<Seconds> idle;  ///< while no copies move
  Interval<Seconds> busy;  ///< while copies move
};
/// The members with their names in files.
struct EventGapName {
  std::string_view name;                ///< in files
  Interval<Seconds> EventGap::*member;  ///< what it names
};
/// All members.
inline constexpr std::array event_gap_names{EventGapName{"idle", &EventGap::idle},
                                            EventGapName{"busy", &EventGap::busy}};

/// What is known of one GPU. Parameters without a value are in Profile::missing.
struct GpuModel {
  std::string name;                                   ///< "NVIDIA H200"
  Bytes memory;                                       ///< total
  unsigned multiprocessors = 0;                       ///< of the whole GPU
  unsigned copy_engines = 2;                          ///< 1: both directions share it; 2: one each
  EngineOrder engine_order = EngineOrder::readiness;  ///< of its copy engines
  /// A copy engine serves queues in so many groups, every n-th queue in the same one: one group until none of its
  /// copies is ready, then the next. Only by readiness. None: taken as one group.
  std::optional<unsigned> queue_groups{};
  ImplicitSync implicit_sync = ImplicitSync::none;  ///< what a copy to the host waits for beyond its dependencies
  bool concurrent_kernels = true;                   ///< kernels of different queues can run at the same time
  Parameter<Seconds> launch_latency;                ///< event-timed empty kernel
  Parameter<Seconds> kernel_gap;  ///< time between a kernel's end and the start of the next that waited for it to end
  std::optional<EventGap> event_gap{};     ///< none: taken as no time
  std::optional<HandoverModel> handovers;  ///< none: taken as no time
  Parameter<double> resident_threads;      ///< threads that the GPU holds at once
  Parameter<Bandwidth> memory_bandwidth;   ///< of a kernel that reads and writes device memory
  Parameter<Bandwidth> copy_bandwidth{};   ///< of large copies inside device memory, counting each byte once
  Parameter<double> flop_rate;             ///< fp32 flop/s of fused multiply-adds
};

/// Host time of one call, per kind of call.
struct SubmissionModel {
  Parameter<Seconds> copy;            ///< cudaMemcpyAsync
  Parameter<Seconds> launch;          ///< of a kernel
  Parameter<Seconds> event_record;    ///< cudaEventRecord
  Parameter<Seconds> event_wait;      ///< cudaStreamWaitEvent
  Parameter<Seconds> batched_copy{};  ///< of a batch (cudaMemcpyBatchAsync), each but the first
  Parameter<Seconds> graph_launch{};  ///< cudaGraphLaunch, without its ops
  Parameter<Seconds> graph_op{};      ///< each op of a graph that is launched
};

/// What a fit could not explain: the largest |fit − measured| / measured of the points behind one parameter.
struct Residual {
  std::string parameter;  ///< "links[0].h2d.costs"
  double worst = 0;       ///< a fraction
  std::string at;         ///< the point where it is worst: "4 MiB x 64"
};

/// Raw samples of one measured point, so that every figure can be fitted again.
struct Measurement {
  std::string primitive;                    ///< "copy.pinned.h2d"
  std::map<std::string, double> arguments;  ///< {"bytes": 4096, "copies": 16}
  std::string clock;                        ///< "events" or "host"
  std::vector<double> samples_us;           ///< in the order in which they were taken, in microseconds
  bool verified = false;                    ///< the bytes that moved were compared and equal
  std::string held_by{};  ///< what held the GPU's clocks down meanwhile; empty when nothing did, or nothing is known
  /// 2: the second half of the samples was taken much later. Disturbances only add time, and may last longer than all
  /// samples of one visit: see `figure_samples`.
  unsigned visits = 1;
};

/// The samples that the figure of a measurement comes from: all of them, or only those of the faster visit when the
/// intervals of the two visits' medians lie apart.
std::span<const double> figure_samples(const Measurement&);

/// A parameter without a value. Reading and saving refuse an absent parameter that is not named here.
struct Missing {
  std::string parameter;  ///< its path in the file: "gpus[0].launch_latency", "links[0].h2d.duplex", "submission.copy"
  std::string reason;     ///< why there is no value
};

/// Free-text facts about the node at the time of measuring: driver, CPU, clocks.
using Conditions = std::map<std::string, std::string>;
/// What stands for a fact that cannot be read.
inline constexpr const char* unknown_fact = "unknown";
/// The condition of that name; `unknown_fact` when it was not recorded.
std::string condition(const Conditions&, const std::string& name);

/// What is known of one node.
struct Profile {
  static constexpr std::string_view schema = "shiplap/profile";  ///< what a file says it is
  static constexpr std::uint64_t version = 1;                    ///< of the file format

  std::string name;                       ///< "h200"
  Origin origin = Origin::measured;       ///< of its figures
  std::string source;                     ///< how it was obtained: the command, or the publication and its table
  Conditions conditions;                  ///< under which it was measured
  std::vector<GpuModel> gpus;             ///< of the node, in the order of the device's numbers
  std::vector<LinkModel> links;           ///< one for each pair that was measured
  std::vector<PeerModel> peers;           ///< of nodes with several GPUs
  std::optional<HostModel> host;          ///< none: nothing is known of its threads
  SubmissionModel submission;             ///< host time of calls
  std::vector<Missing> missing;           ///< every parameter without a value
  std::vector<Residual> residuals;        ///< of the fits
  std::vector<Measurement> measurements;  ///< what was fitted; empty for profiles that were not measured

  /// Throws Unsupported naming the pair when the profile has no such link.
  const LinkModel& link(std::uint16_t gpu, std::uint16_t numa_node = 0) const;
};

/// Throws Error naming the source, the key and what was expected: unknown schema or version, missing or unknown key,
/// NaN, negative or zero where it makes no sense, sizes that do not increase, low > value or value > high.
Profile profile_from_json(const Json&, const std::string& source);
/// What profile_from_json reads.
Json to_json(const Profile&);
/// The JSON Schema of files of profiles, made from the table of parameters.
Json profile_schema();
/// Reads a file. Throws Error as profile_from_json does, and when there is no such file.
Profile load_profile(const std::filesystem::path&);
/// Writes a file, whole or not at all. Throws Error naming the path, and what load_profile would not take.
void save_profile(const Profile&, const std::filesystem::path&);

/// 16 hex digits over the fitted parameters (not over measurements or conditions): two profiles that predict alike have
/// the same.
std::string parameter_hash(const Profile&);

/// "NVIDIA H200" becomes "nvidia-h200": for names of profiles and of their files. Empty where there is neither letter
/// nor digit.
std::string kebab_case(std::string_view text);

/// Names of the profiles compiled into the library.
std::vector<std::string> built_in_profiles();
/// A built-in name ("h200") or the path of a profile file. Throws UsageError that lists the built-in names.
Profile find_profile(std::string_view name_or_path);

/// The costs of a copy of `size` bytes by the table's interpolation.
struct CostAt {
  Seconds latency_overhead;  ///< L+o
  Seconds gap;               ///< g
};
/// Throws Error when there is no row.
CostAt cost_at(const DirectionModel&, Bytes size);
/// Rows of a zero-copy table are interpolated over the logarithm of the bytes under way; constant beyond the last, in
/// proportion below the first.
Bandwidth rate_at(const std::vector<MappedRate>&, double in_flight);
/// What the kernel moves while a copy moves.
Bandwidth kernel_rate_at(const std::vector<MappedBeside>&, double in_flight);
/// What a copy moves beside the kernel; beside less than in the first row as much as there.
Bandwidth copy_rate_at(const std::vector<MappedBeside>&, double in_flight);
/// By the rule of TimeAt. Throws Error when there is no row.
Seconds time_at(const std::vector<TimeAt>&, Bytes size);
/// Between two rows in proportion to the threads, outside as in the nearest. Throws Error when there is no row.
Bandwidth rate_of(const std::vector<RateOfThreads>&, unsigned threads);
/// Through rings of so many bytes: between two rows of a number of threads in proportion to the logarithm of the rings,
/// outside as in the nearest; `copy` where there are no rows.
std::vector<RateOfThreads> staging_rates(const HostModel&, Bytes rings);
/// HostModel::written at a size: between two rows linear in the size, below the first in proportion to it, beyond the
/// last as there.
Seconds written_at(const HostModel&, Bytes size);
/// By the rule of GapAt. Throws Error when there is no row.
Seconds gap_at(const std::vector<GapAt>&, Bytes size);
/// g under duplex load; the one-way gap when the profile has no duplex model.
Seconds duplex_gap_at(const DirectionModel&, Bytes size);

}  // namespace shiplap
