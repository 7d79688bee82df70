// The file formats of shiplap. A file names its format in "schema" and "version"; readers refuse any other version.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace shiplap {

/// One file format.
struct FileFormat {
  std::string_view schema;  ///< the value of "schema"
  std::uint64_t version;    ///< the value of "version", which a change of the format raises
};

/// Every file format by its name.
namespace formats {
inline constexpr FileFormat adaptation{"shiplap/adaptation", 3};                ///< log of an adaptive run
inline constexpr FileFormat adaptation_replay{"shiplap/adaptation-replay", 3};  ///< decisions made again from a log
inline constexpr FileFormat adaptive_run{"shiplap/adaptive-run", 3};            ///< result of an adaptive run
inline constexpr FileFormat advice{"shiplap/advice", 2};                        ///< advice for a recorded program
inline constexpr FileFormat check{"shiplap/check", 3};                          ///< check of a node
inline constexpr FileFormat comparison{"shiplap/comparison", 2};                ///< two profiles compared
inline constexpr FileFormat evaluation{"shiplap/evaluation", 3};                ///< predictions judged by runs
inline constexpr FileFormat fleet{"shiplap/fleet", 2};                          ///< nodes of a cluster compared
inline constexpr FileFormat fleet_history{"shiplap/fleet-history", 1};          ///< earlier figures of GPUs
inline constexpr FileFormat kernel_profile{"shiplap/kernel-profile", 2};        ///< measured cost of a kernel
inline constexpr FileFormat layer_plan{"shiplap/layer-plan", 1};                ///< plan of a model in layers
inline constexpr FileFormat layers{"shiplap/layers", 1};                        ///< a model in layers
inline constexpr FileFormat movers{"shiplap/movers", 1};                        ///< movers by size of a block
inline constexpr FileFormat plan{"shiplap/plan", 4};                            ///< ranked plan of a job
inline constexpr FileFormat prediction{"shiplap/prediction", 3};                ///< simulation and closed forms
inline constexpr FileFormat profile{"shiplap/profile", 1};                      ///< parameters of a node
inline constexpr FileFormat published_evaluation{"shiplap/published-evaluation", 1};  ///< models on published times
inline constexpr FileFormat race{"shiplap/race", 3};                                  ///< result of a race
inline constexpr FileFormat races{"shiplap/races", 3};                                ///< cache of the winners of races
inline constexpr FileFormat rank_message{"shiplap/rank-message", 1};  ///< what ranks of a check tell each other
inline constexpr FileFormat recording{"shiplap/recording", 1};        ///< CUDA calls of a program
inline constexpr FileFormat regret{"shiplap/regret", 3};              ///< plans of random jobs judged
inline constexpr FileFormat reproduction{"shiplap/reproduction", 3};  ///< experiments of a paper
inline constexpr FileFormat run{"shiplap/run", 4};                    ///< predicted beside observed
inline constexpr FileFormat scaling{"shiplap/scaling", 1};            ///< predicted strong scaling
inline constexpr FileFormat shares{"shiplap/shares", 1};              ///< shares of a job over many ranks
inline constexpr FileFormat step{"shiplap/step", 1};                  ///< plan of a step of several kernels
inline constexpr FileFormat workload{"shiplap/workload", 1};          ///< workload in a file
}  // namespace formats

/// The largest inputs that are read. Files come from others, so whatever is larger is refused with a message, and no
/// reader takes more memory than `memory_of_text` times the bytes it has read, and `free_name_bytes` for names that
/// occur once in a file and many times in what is read.
namespace limits {
inline constexpr std::uint64_t document_bytes = 64ull << 20;    ///< a document of JSON, and a file that is read whole
inline constexpr std::uint64_t log_bytes = 1ull << 30;          ///< a file with a value on each line: recording, log
inline constexpr std::uint64_t line_bytes = 1ull << 20;         ///< a line of such a file
inline constexpr std::size_t nesting = 64;                      ///< objects and arrays within each other
inline constexpr std::uint64_t memory_of_text = 32;             ///< bytes of memory for a byte of JSON
inline constexpr std::uint64_t free_name_bytes = 256ull << 20;  ///< names in a recording, see `name_bytes`
inline constexpr std::uint64_t gpus = 64;                       ///< GPUs of a profile
inline constexpr std::uint64_t explanations = 4096;             ///< entries of "missing" in a profile
/// The most bytes of the names of all records that are read from this number of bytes.
constexpr std::uint64_t name_bytes(std::uint64_t read) { return free_name_bytes + read * (memory_of_text / 2); }
}  // namespace limits

/// All of `formats`, sorted by schema.
inline constexpr std::array file_formats{formats::adaptation,
                                         formats::adaptation_replay,
                                         formats::adaptive_run,
                                         formats::advice,
                                         formats::check,
                                         formats::comparison,
                                         formats::evaluation,
                                         formats::fleet,
                                         formats::fleet_history,
                                         formats::kernel_profile,
                                         formats::layer_plan,
                                         formats::layers,
                                         formats::movers,
                                         formats::plan,
                                         formats::prediction,
                                         formats::profile,
                                         formats::published_evaluation,
                                         formats::race,
                                         formats::races,
                                         formats::rank_message,
                                         formats::recording,
                                         formats::regret,
                                         formats::reproduction,
                                         formats::run,
                                         formats::scaling,
                                         formats::shares,
                                         formats::step,
                                         formats::workload};

}  // namespace shiplap
