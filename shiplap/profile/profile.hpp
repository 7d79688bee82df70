// A profile: what is known of one node, as a value. It holds fitted parameters with their intervals and the raw
// measurements behind them. Its file is JSON (docs/schema/profile.schema.json). A built-in profile is such a file in
// the library.
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

/// Fixed costs of a copy of `size` bytes. They are interpolated linearly between two sizes and constant outside them.
struct CopyCost {
  Bytes size;                          ///< size of the copy
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
  Interval<PerByte> per_byte;  ///< G of large copies, without the gap
  std::vector<GapAt> gaps;     ///< by increasing size
};
/// Copies of one direction over one link: T(k, n copies) = L+o + k·G + (n − 1)·g (van Werkhoven 2014 §V), with L+o and
/// g as functions of the size of a copy.
struct DirectionModel {
  Interval<PerByte> per_byte;         ///< G of large copies
  std::vector<CopyCost> costs;        ///< at least one, by increasing size
  std::optional<DuplexModel> duplex;  ///< while the opposite direction is busy; none: not measured
  std::vector<GapAt> batched{};       ///< g after a copy of the same batch (cudaMemcpyBatchAsync)
};

/// Additional time of copies.
struct Slowdown {
  Interval<Seconds> gap;       ///< for each copy
  Interval<PerByte> per_byte;  ///< for each of its bytes
};
/// Additional time of copies while kernels of two or more streams wait for other engines. One waiting stream costs
/// nothing. More than two waiting streams are assumed to cost as much as two.
struct WaitingStreams {
  Slowdown h2d;     ///< of copies to the GPU alone
  Slowdown d2h;     ///< of copies to the host alone
  Slowdown duplex;  ///< of each direction, while copies move in both directions
};
/// The members with their names in files and tables.
struct WaitingStreamsName {
  std::string_view name;             ///< in files and tables
  Slowdown WaitingStreams::*member;  ///< what it names
};
/// All members.
inline constexpr std::array waiting_streams_names{WaitingStreamsName{"h2d", &WaitingStreams::h2d},
                                                  WaitingStreamsName{"d2h", &WaitingStreams::d2h},
                                                  WaitingStreamsName{"duplex", &WaitingStreams::duplex}};

/// Rate of kernels that access pinned host memory, by the bytes in flight: threads that run at the same time, times the
/// bytes per access.
struct ZeroCopyRate {
  Bytes in_flight;           ///< bytes in flight
  Interval<Bandwidth> rate;  ///< rate of the kernel
};
/// Rates of kernels that access pinned host memory while a copy engine copies, by the bytes in flight of the kernel.
struct ZeroCopyBeside {
  Bytes in_flight;             ///< bytes in flight
  Interval<Bandwidth> kernel;  ///< rate of the kernel
  Interval<Bandwidth> copy;    ///< rate of the copy
};
/// Rates of kernels that do nothing but access pinned host memory, alone and beside copies of their other arrays. They
/// stand for kernels that were not measured themselves (KernelCost::zero_copy).
struct ZeroCopyModel {
  std::vector<ZeroCopyRate> read;                ///< of kernels that read host memory
  std::vector<ZeroCopyRate> write;               ///< of kernels that write host memory
  std::vector<ZeroCopyRate> both;                ///< rate in each direction of a kernel that reads as much as it writes
  std::vector<ZeroCopyBeside> read_beside_d2h;   ///< kernels that read host memory beside copies to the host
  std::vector<ZeroCopyBeside> write_beside_h2d;  ///< kernels that write host memory beside copies to the GPU
};
/// The tables with their names in files.
struct ZeroCopyRateName {
  std::string_view name;                            ///< in files
  std::vector<ZeroCopyRate> ZeroCopyModel::*table;  ///< what it names
};
/// All of these tables.
inline constexpr std::array zero_copy_rate_names{ZeroCopyRateName{"read", &ZeroCopyModel::read},
                                                 ZeroCopyRateName{"write", &ZeroCopyModel::write},
                                                 ZeroCopyRateName{"both", &ZeroCopyModel::both}};
/// One of the tables of kernels beside copies, with its name in files.
struct ZeroCopyBesideName {
  std::string_view name;                              ///< in files
  std::vector<ZeroCopyBeside> ZeroCopyModel::*table;  ///< what it names
};
/// All of these tables.
inline constexpr std::array zero_copy_beside_names{
    ZeroCopyBesideName{"read_beside_d2h", &ZeroCopyModel::read_beside_d2h},
    ZeroCopyBesideName{"write_beside_h2d", &ZeroCopyModel::write_beside_h2d}};

/// Time for `size` bytes. It grows by a power of the size between two rows, is constant below the first row, and grows
/// in proportion to the size beyond the last row.
struct TimeAt {
  Bytes size;              ///< number of bytes
  Interval<Seconds> time;  ///< time for all of them
};
/// Rate of several host threads together.
struct RateOfThreads {
  unsigned threads = 1;      ///< number of threads
  Interval<Bandwidth> rate;  ///< of all threads together
};

/// Times of copies between pageable memory and the GPU. The driver stages them through its own buffers while the host
/// waits.
struct PageableModel {
  std::vector<TimeAt> h2d;   ///< of a copy to the GPU
  std::vector<TimeAt> d2h;   ///< of a copy to the host
  std::vector<TimeAt> both;  ///< of two copies in opposite directions that two threads submit at the same time
};
/// Times of moving pages of managed memory.
struct ManagedModel {
  std::vector<TimeAt> prefetch_h2d;       ///< of pages moved to the GPU ahead of their use
  std::vector<TimeAt> prefetch_d2h;       ///< of pages moved to the host
  std::vector<TimeAt> demand_h2d;         ///< of a kernel that touches every page, which faults them over
  std::vector<RateOfThreads> demand_d2h;  ///< of host threads that touch every page
};

/// The link between a host NUMA node and a GPU. Copies are of pinned memory unless stated otherwise.
struct LinkModel {
  std::uint16_t numa_node = 0;                      ///< of the host
  std::uint16_t gpu = 0;                            ///< its index in Profile::gpus
  DirectionModel h2d;                               ///< copies to the GPU
  DirectionModel d2h;                               ///< copies to the host
  std::optional<WaitingStreams> waiting_streams{};  ///< none: they cost nothing
  std::optional<ZeroCopyModel> zero_copy{};         ///< kernels that access pinned host memory
  std::optional<PageableModel> pageable{};          ///< copies of memory as it comes from malloc
  std::optional<ManagedModel> managed{};            ///< pages that move
};

/// Times of copies from one GPU to another.
struct PeerModel {
  std::uint16_t from = 0;      ///< its index in Profile::gpus
  std::uint16_t to = 0;        ///< its index in Profile::gpus
  std::vector<TimeAt> direct;  ///< empty where the GPUs cannot address each other's memory
  std::vector<TimeAt> staged;  ///< through the host
};

/// Rate of several host threads that copy between pageable memory and pinned rings while copy engines use the rings. It
/// depends on the size of the rings, because rings that fit into the caches of the CPU need no bandwidth of its memory.
struct RateThroughRings {
  unsigned threads = 1;      ///< number of threads
  Bytes rings;               ///< size of all rings together
  Interval<Bandwidth> rate;  ///< of all threads together
};

/// What host threads do themselves.
struct HostModel {
  std::vector<RateOfThreads> copy;          ///< memcpy between pageable and pinned memory that is in no cache
  std::vector<RateThroughRings> staging{};  ///< by threads, then by rings; empty: `copy` holds
  /// Additional time of a copy to the GPU from pinned memory that host threads have just written. The copy engine reads
  /// such memory from the caches of their cores, which is slower than from memory. Read it with `just_written_delay`.
  /// When empty, there is no additional time.
  std::vector<GapAt> written{};
  /// Times of calls by name: "pin", "unpin", "flush", "allocate KIND" and "release KIND" for each kind of memory,
  /// "create stream" and "destroy stream". The calls for streams have a single row, of 1 byte.
  std::map<std::string, std::vector<TimeAt>> calls;
};

/// Which waiting copy a copy engine serves next: the copy that was submitted first, which blocks the engine until it is
/// ready, or the copy that became ready first.
enum class EngineOrder : std::uint8_t { submission, readiness };

/// Implicit synchronisation: the GPU holds a copy from device to host until the last kernel submitted before it has
/// started all its blocks (as the hardware does) or has ended (as the papers' equations assume).
enum class ImplicitSync : std::uint8_t { none, until_started, until_ended };

/// Time from the end of an op until an op that waits for it, on another engine or in another stream, is ready.
struct Handover {
  Interval<Seconds> idle;  ///< while no copies move the other way
  Interval<Seconds> busy;  ///< while copies move the other way; between kernels, while any copies move
};
/// Handovers between a copy and a kernel, in either order, and between kernels of different streams. "Same stream": the
/// last op that the engine of the waiting op served was of the same stream. Otherwise the GPU has to switch streams.
struct HandoverModel {
  Handover h2d_same_stream;   ///< of a copy to the GPU and a kernel
  Handover h2d_other_stream;  ///< of a copy to the GPU and a kernel
  Handover d2h_same_stream;   ///< of a kernel and a copy to the host
  Handover d2h_other_stream;  ///< of a kernel and a copy to the host
  Handover kernels;           ///< between kernels of different streams
};
/// The members with their names in files and tables.
struct HandoverName {
  std::string_view name;            ///< in files and tables
  Handover HandoverModel::*member;  ///< what it names
};
/// All members.
inline constexpr std::array handover_names{HandoverName{"h2d_same_stream", &HandoverModel::h2d_same_stream},
                                           HandoverName{"h2d_other_stream", &HandoverModel::h2d_other_stream},
                                           HandoverName{"d2h_same_stream", &HandoverModel::d2h_same_stream},
                                           HandoverName{"d2h_other_stream", &HandoverModel::d2h_other_stream},
                                           HandoverName{"kernels", &HandoverModel::kernels}};

/// Additional time between two kernels of a stream, beyond `GpuModel::kernel_gap`, when an event is recorded after the
/// first kernel and the second one waits for an event that has occurred long before.
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
  unsigned sm_count = 0;                              ///< of the whole GPU
  unsigned copy_engines = 2;                          ///< 1: both directions share it; 2: one each
  EngineOrder engine_order = EngineOrder::readiness;  ///< of its copy engines
  /// Number n of groups that a copy engine serves streams in. Every n-th stream is in the same group. The engine serves
  /// one group until none of its copies is ready, and then the next group. Holds for EngineOrder::readiness. Absent:
  /// one group.
  std::optional<unsigned> stream_groups{};
  ImplicitSync implicit_sync = ImplicitSync::none;  ///< what a copy to the host waits for beyond its dependencies
  bool concurrent_kernels = true;                   ///< kernels of different streams can run at the same time
  Parameter<Seconds> launch_latency;                ///< of an empty kernel between two events
  Parameter<Seconds> kernel_gap;  ///< time between a kernel's end and the start of the next that waited for it to end
  std::optional<EventGap> event_gap{};     ///< absent: no additional time
  std::optional<HandoverModel> handovers;  ///< absent: no time
  Parameter<double> resident_threads;      ///< threads that the GPU holds at once
  Parameter<Bandwidth> memory_bandwidth;   ///< of a kernel that reads and writes device memory
  Parameter<Bandwidth> copy_bandwidth{};   ///< of large copies inside device memory; each copied byte counts once
  Parameter<double> flop_rate;             ///< fp32 flop/s of fused multiply-adds
};

/// Host time of one call, per kind of call.
struct SubmissionModel {
  Parameter<Seconds> copy;            ///< cudaMemcpyAsync
  Parameter<Seconds> launch;          ///< of a kernel
  Parameter<Seconds> event_record;    ///< cudaEventRecord
  Parameter<Seconds> event_wait;      ///< cudaStreamWaitEvent
  Parameter<Seconds> batched_copy{};  ///< each further copy of a batch (cudaMemcpyBatchAsync)
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
  /// With 2, the second half of the samples was taken much later. A disturbance only adds time, but may last for all
  /// samples of one visit (see `figure_samples`).
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
/// Rate at this number of bytes in flight. It is interpolated over the logarithm between two rows, constant beyond the
/// last row, and proportional to the bytes in flight below the first row.
Bandwidth rate_at(const std::vector<ZeroCopyRate>&, double in_flight);
/// Rate of the kernel while a copy moves, interpolated as in `rate_at`.
Bandwidth kernel_rate_at(const std::vector<ZeroCopyBeside>&, double in_flight);
/// Rate of a copy beside the kernel, interpolated as in `rate_at` but constant below the first row.
Bandwidth copy_rate_at(const std::vector<ZeroCopyBeside>&, double in_flight);
/// Time for `size` bytes by the rule of TimeAt. Throws Error when there is no row.
Seconds time_at(const std::vector<TimeAt>&, Bytes size);
/// Rate of this number of threads. It is linear between two rows and constant outside the rows. Throws Error when there
/// is no row.
Bandwidth rate_of(const std::vector<RateOfThreads>&, unsigned threads);
/// Rates of threads that copy through rings of this size. For each number of threads they are interpolated over the
/// logarithm of the size between two rows and constant outside the rows. Without rows they are `HostModel::copy`.
std::vector<RateOfThreads> staging_rates(const HostModel&, Bytes rings);
/// HostModel::written at a size. It is linear between two rows, proportional to the size below the first row, and
/// constant beyond the last row.
Seconds just_written_delay(const HostModel&, Bytes size);
/// The gap of a copy of this size by the rule of GapAt. Throws Error when there is no row.
Seconds gap_at(const std::vector<GapAt>&, Bytes size);
/// g under duplex load; the one-way gap when the profile has no duplex model.
Seconds duplex_gap_at(const DirectionModel&, Bytes size);

}  // namespace shiplap
