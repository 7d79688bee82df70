// A profile describes one node. It holds fitted parameters with their intervals and the raw measurements behind them.
// Its file format is JSON (docs/schema/profile.schema.json). Built-in profiles are such files, compiled into the
// library.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/core/interval.hpp"
#include "shiplap/core/json_forward.hpp"
#include "shiplap/core/numa.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/profile/block_model.hpp"
#include "shiplap/profile/conditions.hpp"

namespace shiplap {

/// The origin of the figures of a profile.
enum class Origin : std::uint8_t {
  measured,   ///< on a GPU
  simulated,  ///< measured on a virtual device: the figures describe the simulation, and no hardware
  imported,   ///< on a GPU by another tool; what it does not measure is absent, or assumed as `missing` says
  published,  ///< by others
  derived,    ///< from published times, or from the published facts of a GPU
  assumed,    ///< the link is imagined, or the GPU unknown; all other figures are those of another profile
  planted,    ///< chosen by a test
};
/// The name of the origin in files.
std::string to_string(Origin);

/// A parameter that may be absent. `Profile::missing` lists absent parameters with the reason.
template <class T>
using Parameter = std::optional<Interval<T>>;

/// Fixed costs of a copy of `size` bytes. They are linear in the size between two rows and constant outside the rows.
struct CopyCost {
  Bytes size;                          ///< size of the copy
  Interval<Seconds> latency_overhead;  ///< L+o: time from ready to the first byte; overlaps with earlier transfers
  Interval<Seconds> gap;               ///< g: engine time that each further copy takes in addition to its bytes
};
/// g of copies of `size` bytes, interpolated as in CopyCost.
struct GapAt {
  Bytes size;             ///< size of the copy
  Interval<Seconds> gap;  ///< g
};
/// Costs of copies of one direction while the opposite direction is busy all the time.
struct DuplexModel {
  Interval<PerByte> per_byte;  ///< G of large copies, without the gap
  std::vector<GapAt> gaps;     ///< g, by increasing size
};
/// Costs of copies of one direction over one link: n copies of k bytes in total take L+o + k·G + (n − 1)·g (van
/// Werkhoven et al. 2014, §V). L+o and g depend on the size of a copy.
struct DirectionModel {
  Interval<PerByte> per_byte;         ///< G of large copies
  std::vector<CopyCost> costs;        ///< L+o and g, by increasing size; at least one row
  std::optional<DuplexModel> duplex;  ///< costs while the opposite direction is busy; none: not measured
  std::vector<GapAt> batched{};       ///< g after a copy of the same batch (cudaMemcpyBatchAsync)
};

/// Time that is added to copies.
struct Slowdown {
  Interval<Seconds> gap;       ///< time added for each copy
  Interval<PerByte> per_byte;  ///< time added for each byte
};
/// Time that is added to copies while kernels of two or more streams wait. One such stream adds nothing. More than two
/// are assumed to add as much as two.
struct WaitingStreams {
  Slowdown h2d;     ///< for H2D copies alone
  Slowdown d2h;     ///< for D2H copies alone
  Slowdown duplex;  ///< for each direction in duplex
};
/// A member of WaitingStreams with its name in files and tables.
struct WaitingStreamsName {
  std::string_view name;             ///< name in files and tables
  Slowdown WaitingStreams::*member;  ///< the member
};
/// All members of WaitingStreams.
inline constexpr std::array waiting_streams_names{WaitingStreamsName{"h2d", &WaitingStreams::h2d},
                                                  WaitingStreamsName{"d2h", &WaitingStreams::d2h},
                                                  WaitingStreamsName{"duplex", &WaitingStreams::duplex}};

/// Rate of kernels that access pinned host memory, by their bytes in flight: resident threads times bytes per access.
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
/// Rates of kernels that only access pinned host memory, alone and concurrent with copies. They are used for kernels
/// that were not measured themselves (KernelCost::zero_copy).
struct ZeroCopyModel {
  std::vector<ZeroCopyRate> read;                ///< kernels that read host memory
  std::vector<ZeroCopyRate> write;               ///< kernels that write host memory
  std::vector<ZeroCopyRate> both;                ///< kernels that read as much as they write: rate in each direction
  std::vector<ZeroCopyBeside> read_beside_d2h;   ///< kernels that read host memory concurrent with copies to the host
  std::vector<ZeroCopyBeside> write_beside_h2d;  ///< kernels that write host memory concurrent with copies to the GPU
};
/// A table of kernels alone, with its name in files.
struct ZeroCopyRateName {
  std::string_view name;                            ///< name in files
  std::vector<ZeroCopyRate> ZeroCopyModel::*table;  ///< the table
};
/// All tables of kernels alone.
inline constexpr std::array zero_copy_rate_names{ZeroCopyRateName{"read", &ZeroCopyModel::read},
                                                 ZeroCopyRateName{"write", &ZeroCopyModel::write},
                                                 ZeroCopyRateName{"both", &ZeroCopyModel::both}};
/// A table of kernels concurrent with copies, with its name in files.
struct ZeroCopyBesideName {
  std::string_view name;                              ///< name in files
  std::vector<ZeroCopyBeside> ZeroCopyModel::*table;  ///< the table
};
/// All tables of kernels concurrent with copies.
inline constexpr std::array zero_copy_beside_names{
    ZeroCopyBesideName{"read_beside_d2h", &ZeroCopyModel::read_beside_d2h},
    ZeroCopyBesideName{"write_beside_h2d", &ZeroCopyModel::write_beside_h2d}};

/// Time for `size` bytes. Between two rows it follows a power law of the size. It is constant below the first row and
/// proportional to the size above the last row.
struct TimeAt {
  Bytes size;              ///< number of bytes
  Interval<Seconds> time;  ///< time for all of these bytes
};
/// Rate of several host threads together.
struct RateOfThreads {
  unsigned threads = 1;      ///< number of threads
  Interval<Bandwidth> rate;  ///< rate of all threads together
};

/// Times of copies between pageable memory and the GPU. The driver stages them through its own buffers while the host
/// waits.
struct PageableModel {
  std::vector<TimeAt> h2d;   ///< an H2D copy
  std::vector<TimeAt> d2h;   ///< a D2H copy
  std::vector<TimeAt> both;  ///< two copies in opposite directions that two threads submit at the same time
};
/// Times of moving pages of managed memory.
struct ManagedModel {
  std::vector<TimeAt> prefetch_h2d;       ///< pages moved to the GPU ahead of their use
  std::vector<TimeAt> prefetch_d2h;       ///< pages moved to the host ahead of their use
  std::vector<TimeAt> demand_h2d;         ///< a kernel that touches every page and so faults it to the GPU
  std::vector<RateOfThreads> demand_d2h;  ///< host threads that touch every page and so fault it to the host
};

/// The link between a host NUMA node and a GPU. Copies are of pinned memory unless stated otherwise.
struct LinkModel {
  std::uint16_t numa_node = 0;                      ///< number of the host NUMA node
  std::uint16_t gpu = 0;                            ///< index of the GPU in Profile::gpus
  DirectionModel h2d;                               ///< H2D copies
  DirectionModel d2h;                               ///< D2H copies
  std::optional<WaitingStreams> waiting_streams{};  ///< absent: waiting streams cost nothing
  std::optional<ZeroCopyModel> zero_copy{};         ///< kernels that access pinned host memory
  std::optional<PageableModel> pageable{};          ///< copies of pageable memory
  std::optional<ManagedModel> managed{};            ///< moves of pages of managed memory
  std::optional<BlockModel> blocks{};               ///< moves of scattered blocks
};

/// Times of copies from one GPU to another.
struct PeerModel {
  std::uint16_t from = 0;      ///< index of the source GPU in Profile::gpus
  std::uint16_t to = 0;        ///< index of the destination GPU in Profile::gpus
  std::vector<TimeAt> direct;  ///< copies between GPUs that address each other's memory; empty: they cannot
  std::vector<TimeAt> staged;  ///< copies through the host
};

/// Rates that several GPUs reach together when all of them copy from or to the host at once: of what they share, such
/// as the host's memory, a socket or an uplink. Where their links reach their own sum, it is this sum.
struct SharedRates {
  std::vector<std::uint16_t> gpus;  ///< indices in Profile::gpus, increasing; at least two
  Interval<Bandwidth> h2d;          ///< H2D copies of all of them together
  Interval<Bandwidth> d2h;          ///< D2H copies of all of them together
  Interval<Bandwidth> both;         ///< both directions of all of them together
};

/// Rate of several host threads that copy between pageable memory and pinned rings while copy engines use the rings. It
/// depends on the size of the rings, because rings that fit into the caches of the CPU do not use the bandwidth of its
/// memory.
struct RateThroughRings {
  unsigned threads = 1;      ///< number of threads
  Bytes rings;               ///< size of all rings together
  Interval<Bandwidth> rate;  ///< rate of all threads together
};

/// Times and rates of work that host threads do themselves.
struct HostModel {
  std::vector<RateOfThreads> copy;          ///< memcpy between pageable and pinned memory that is in no cache
  std::vector<RateThroughRings> staging{};  ///< by threads, then by size of the rings; empty: `copy` is used
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
/// started all its blocks (as GPUs with implicit synchronisation do) or has ended (as the papers' equations assume).
enum class ImplicitSync : std::uint8_t { none, until_started, until_ended };

/// Handovers: times from the end of a copy until a kernel that waits for it is ready, or the other way round. "Same
/// stream": the last op that the waiting op's hardware unit (copy engine or SMs) performed was of the same stream.
/// Otherwise the GPU switches streams.
struct HandoverModel {
  Interval<Seconds> h2d_same_stream;   ///< between an H2D copy and a kernel
  Interval<Seconds> h2d_other_stream;  ///< between an H2D copy and a kernel
  Interval<Seconds> d2h_same_stream;   ///< between a kernel and a D2H copy
  Interval<Seconds> d2h_other_stream;  ///< between a kernel and a D2H copy
};

/// Parameters of one GPU. Profile::missing lists absent parameters.
struct GpuModel {
  std::string name;                                   ///< name as the driver reports it: "NVIDIA H200"
  Bytes memory;                                       ///< size of the device memory
  unsigned sm_count = 0;                              ///< number of SMs
  unsigned copy_engines = 2;                          ///< 1: both directions share one; 2: one for each direction
  EngineOrder engine_order = EngineOrder::readiness;  ///< order in which its copy engines serve copies
  /// Number n of groups of streams. Stream i is in group i mod n. A copy engine serves one group until none of its
  /// copies is ready, and then the next group. It is used with EngineOrder::readiness. Absent: one group.
  std::optional<unsigned> stream_groups{};
  ImplicitSync implicit_sync = ImplicitSync::none;  ///< what a D2H copy waits for in addition to its dependencies
  bool concurrent_kernels = true;                   ///< whether kernels of different streams can run at the same time
  Parameter<Seconds> launch_latency;                ///< time of an empty kernel between two events
  Parameter<Seconds> kernel_gap;           ///< time from the end of a kernel to the start of the next one in its stream
  std::optional<HandoverModel> handovers;  ///< absent: handovers take no time
  Parameter<double> resident_threads;      ///< threads that the GPU holds at once
  Parameter<Bandwidth> memory_bandwidth;   ///< rate of a kernel that accesses device memory; reads and writes count
  Parameter<Bandwidth> copy_bandwidth{};   ///< rate of large copies inside device memory; each copied byte counts once
  Parameter<double> flop_rate;             ///< fp32 flop/s of fused multiply-adds, each of which counts as two
};

/// Host time of one call, per kind of call.
struct SubmissionModel {
  Parameter<Seconds> copy;            ///< cudaMemcpyAsync
  Parameter<Seconds> launch;          ///< launch of a kernel
  Parameter<Seconds> event_record;    ///< cudaEventRecord
  Parameter<Seconds> event_wait;      ///< cudaStreamWaitEvent
  Parameter<Seconds> batched_copy{};  ///< each copy of a batch after the first (cudaMemcpyBatchAsync)
  Parameter<Seconds> graph_launch{};  ///< cudaGraphLaunch, without the time for the ops of the graph
  Parameter<Seconds> graph_op{};      ///< cudaGraphLaunch, time added for each op of the graph
};

/// The error of a fit: the largest |fit − measured| / measured over the points behind one parameter.
struct Residual {
  std::string parameter;  ///< path of the parameter, such as "links[0].h2d.costs"
  double worst = 0;       ///< largest error, as a fraction
  std::string at;         ///< the point with the largest error: "4 MiB x 64"
};

/// Raw samples of one measured point, so that every parameter can be fitted again.
struct Measurement {
  std::string primitive;                    ///< name of the primitive, such as "copy.pinned.h2d"
  std::map<std::string, double> arguments;  ///< the point, such as {"bytes": 4096, "copies": 16}
  std::string clock;                        ///< "events" or "host"
  std::vector<double> samples_us;           ///< samples in microseconds, in the order in which they were taken
  bool verified = false;                    ///< whether the bytes that moved were compared and found equal
  std::string held_by{};  ///< what reduced the GPU's clocks meanwhile; empty: nothing, or it is unknown
  /// Number of visits in which the samples were taken. With 2, the second half was taken much later. A disturbance that
  /// lasts for one whole visit can then be recognised (see `figure_samples`).
  unsigned visits = 1;
};

/// The samples from which the figure of a measurement is computed. These are all samples, or only those of the faster
/// visit when the intervals of the two visits' medians do not overlap.
std::span<const double> figure_samples(const Measurement&);

/// A parameter without a value. Reading and saving refuse a profile with an absent parameter that no entry names.
struct Missing {
  std::string parameter;  ///< its path in the file: "gpus[0].launch_latency", "links[0].h2d.duplex", "submission.copy"
  std::string reason;     ///< why there is no value
};

/// The parameters of one node and the measurements behind them.
struct Profile {
  std::string name;                       ///< name of the profile, such as "h200"
  Origin origin = Origin::measured;       ///< origin of its figures
  std::string source;                     ///< how it was obtained: the command, or the publication and its table
  Conditions conditions;                  ///< facts about the node at the time of measuring
  std::vector<GpuModel> gpus;             ///< the GPUs of the node, in the order of the device's numbers
  std::vector<LinkModel> links;           ///< one for each measured pair of NUMA node and GPU
  std::vector<PeerModel> peers;           ///< copies between the GPUs of the node
  std::vector<SharedRates> shared{};      ///< what several GPUs share; empty: not measured, and taken for nothing
  std::optional<HostModel> host;          ///< work of host threads; absent: not measured
  SubmissionModel submission;             ///< host time of calls
  std::vector<Missing> missing;           ///< every parameter without a value
  std::vector<Residual> residuals;        ///< errors of the fits
  std::vector<Measurement> measurements;  ///< raw samples; empty for profiles that were not measured

  /// The link between a GPU and a NUMA node, for any_numa_node the first link of the GPU; null when there is none.
  const LinkModel* find_link(std::uint16_t gpu, std::uint16_t numa_node = any_numa_node) const;
  /// The link between a GPU and a NUMA node, for any_numa_node the first link of the GPU. Throws Unsupported that names
  /// the pair when the profile has no such link.
  const LinkModel& link(std::uint16_t gpu, std::uint16_t numa_node = any_numa_node) const;
};

/// Reads a profile from JSON. Throws Error that names the source, the key and what was expected. Causes are an unknown
/// schema or version, a missing or unknown key, an invalid number, sizes that do not increase, low > value, and
/// value > high.
Profile profile_from_json(const Json&, const std::string& source);
/// Writes a profile as JSON, for profile_from_json.
Json to_json(const Profile&);
/// The JSON Schema of profile files, made from the table of parameters.
Json profile_schema();
/// Reads a profile file. Throws Error as profile_from_json does, and when the file cannot be read.
Profile load_profile(const std::string&);
/// Writes a profile file, whole or not at all. Throws Error that names the path, and for profiles that load_profile
/// would refuse.
void save_profile(const Profile&, const std::string&);

/// Hash of the parameters as 16 hex digits. Profiles that differ only in measurements, conditions or names have the
/// same hash and give the same predictions.
std::string parameter_hash(const Profile&);

/// Converts "NVIDIA H200" to "nvidia-h200", for names of profiles and of their files. Empty when the text has neither
/// letters nor digits.
std::string kebab_case(std::string_view text);

/// Names of the profiles compiled into the library.
std::vector<std::string> built_in_profiles();
/// The profile with a built-in name ("h200") or at a path. Throws UsageError that lists the built-in names.
Profile find_profile(std::string_view name_or_path);

/// The costs of a copy of one size.
struct CostAt {
  Seconds latency_overhead;  ///< L+o
  Seconds gap;               ///< g
};
/// The costs of a copy of `size` bytes, interpolated as CopyCost says. Throws Error when there is no row.
CostAt cost_at(const DirectionModel&, Bytes size);
/// Rate at this number of bytes in flight. Between two rows it follows a power law. It is constant above the last row
/// and proportional to the bytes in flight below the first row.
Bandwidth rate_at(const std::vector<ZeroCopyRate>&, double in_flight);
/// Rate of the kernel while a copy moves, interpolated as in `rate_at`.
Bandwidth kernel_rate_at(const std::vector<ZeroCopyBeside>&, double in_flight);
/// Rate of a copy concurrent with the kernel, interpolated as in `rate_at` but constant below the first row.
Bandwidth copy_rate_at(const std::vector<ZeroCopyBeside>&, double in_flight);
/// Time for `size` bytes by the rule of TimeAt. Throws Error when there is no row.
Seconds time_at(const std::vector<TimeAt>&, Bytes size);
/// Rate of this number of threads, linear between two rows and constant outside the rows. Throws Error when there is no
/// row.
Bandwidth rate_of(const std::vector<RateOfThreads>&, unsigned threads);
/// Rates of threads that copy through rings of this size, by number of threads. Between two rows they are linear in the
/// logarithm of the size, and outside the rows constant. They are `HostModel::copy` when `HostModel::staging` is empty.
std::vector<RateOfThreads> staging_rates(const HostModel&, Bytes rings);
/// HostModel::written at a size. It is linear between two rows, proportional to the size below the first row, and
/// constant above the last row. It is 0 without rows.
Seconds just_written_delay(const HostModel&, Bytes size);
/// The gap of a copy of this size, interpolated as in CopyCost. Throws Error when there is no row.
Seconds gap_at(const std::vector<GapAt>&, Bytes size);
/// g of a copy of this size in duplex. It is the gap of one direction alone when the profile has no duplex gaps.
Seconds duplex_gap_at(const DirectionModel&, Bytes size);

/// Whether the profile has the rates of kernels that access host memory while no copy moves, so that they can be
/// simulated.
bool knows_zero_copy(const LinkModel&);
/// The least latency (L+o) of a copy of any size in either direction, at the fast end.
Seconds least_latency(const LinkModel&);

}  // namespace shiplap
