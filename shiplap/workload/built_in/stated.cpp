// Workloads stated by hand: sizes and kernel time, with a stand-in kernel that takes that time and writes the output.
#include "shiplap/workload/built_in/stated.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "shiplap/core/error.hpp"
#include "shiplap/workload/data.hpp"
#include "shiplap/workload/described_job.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap {
namespace {

std::uint8_t input_byte(std::uint64_t i) { return static_cast<std::uint8_t>(hash_of(i, 5)); }
std::uint8_t output_byte(const StatedShape& s, std::uint64_t i) {
  const std::uint64_t t = i % s.out;
  return s.in == 0 ? static_cast<std::uint8_t>(t * 31 + 7) : input_byte(i / s.out * s.in + t % s.in);
}

constexpr std::uint64_t preferred_item = 4096;  // bytes of both sizes' common divisor in one item
constexpr std::uint64_t fewest_items = 1024;    // least number of items, because chunks are whole items

constexpr std::string_view launcher =
    R"(// >>> PUT YOUR KERNEL HERE, and delete what is above. This is a stand-in that takes the stated time, and makes output
// >>> byte t of an item from its input byte t mod {in_bytes}. `in` and `out` are the parts of the two arrays that
// >>> belong to `items` items of {in_bytes} and {out_bytes} bytes.{about_halo}
void launch_your_kernel(char* in, char* out, {first}std::uint64_t items, cudaStream_t stream) {
  using Unit = {unit};
  static const unsigned blocks = [] {  // number of blocks of one wave
    int device = 0, sm_count = 0, each = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, device));
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, stated<Unit, {index}>, stated_threads, 0));
    return unsigned(sm_count * each);
  }();
  const auto nanoseconds_to_take = std::uint64_t(double(items) * {per_item} + 0.5);
  stated<Unit, {index}><<<blocks, stated_threads, 0, stream>>>(as<Unit>(in), as<Unit>(out),
      {index}(items * {out_bytes} / sizeof(Unit)), {in_bytes} / sizeof(Unit), {out_bytes} / sizeof(Unit), nanoseconds_to_take,
      {halo});
}
)";

ProgramText program_text(const StatedShape& shape, std::uint64_t items) {
  // The kernel uses units of 16 bytes and indices of 32 bits if the sizes allow it.
  const bool vectors = shape.in % 16 == 0 && shape.out % 16 == 0;
  const std::uint64_t largest = std::max(shape.in, items * shape.out);
  const std::string code = filled(
      launcher, {{"in_bytes", std::to_string(shape.in)},
                 {"out_bytes", std::to_string(shape.out)},
                 {"unit", vectors ? "uint4" : "std::uint8_t"},
                 {"index", largest <= std::numeric_limits<std::int32_t>::max() ? "std::uint32_t" : "std::uint64_t"},
                 {"per_item", fmt::format("{}", shape.time.count() * 1e9)},
                 {"first", shape.before == 0 ? "" : "std::uint64_t first, "},
                 {"about_halo", shape.before == 0 ? ""
                                                  : fmt::format(" `in` begins with up to {}\n// >>> items before them, "
                                                                "of which the array has `first`.",
                                                                shape.before)},
                 {"halo", shape.before == 0 ? "0"
                                            : fmt::format("(first < {0} ? first : {0}) * {1} / sizeof(Unit)",
                                                          shape.before, shape.in)}});
  const std::string expected = shape.out == 0 ? "initial_out(i)"
                               : shape.in == 0
                                   ? fmt::format("std::uint8_t(i % {} * 31 + 7)", shape.out)
                                   : fmt::format("initial_in(i / {1} * {0} + i % {1} % {0})", shape.in, shape.out);
  return {.kernel = kernel_text({"grid_stride", "stated"}) + "\n" + code,
          .launch = shape.before == 0 ? "launch_your_kernel({0}, {1}, {items}, {stream})"
                                      : "launch_your_kernel({0}, {1}, {first}, {items}, {stream})",
          .data =
              "std::uint8_t initial_in(std::uint64_t i) { return std::uint8_t(i % 251 + 1); }\n"
              "std::uint8_t initial_out(std::uint64_t i) { return std::uint8_t(i % 249 + 3); }\n"
              "std::uint8_t expected_out(std::uint64_t i) { return " +
              expected + "; }\n",
          .arrays = {{"std::uint8_t", "initial_in", "initial_in"}, {"std::uint8_t", "initial_out", "expected_out"}}};
}

/// The largest divisor of the number that is at most `most`, which is at least 1.
std::uint64_t largest_divisor(std::uint64_t number, std::uint64_t most) {
  std::uint64_t largest = 1;
  for (std::uint64_t d = 1; d <= number / d; ++d) {
    if (number % d != 0) continue;
    for (const std::uint64_t divisor : {d, number / d})
      if (divisor <= most) largest = std::max(largest, divisor);
  }
  return largest;
}

/// The number of items into which the job can be cut.
std::uint64_t items_of(const StatedJob& stated) {
  const std::uint64_t common = std::gcd(stated.in.count, stated.out.count);
  if (stated.item.count == 0)
    return largest_divisor(common, std::max(common / preferred_item, std::min(common, fewest_items)));
  const Bytes cut = stated.in.count > 0 ? stated.in : stated.out;
  const std::uint64_t items = cut.count / stated.item.count;
  if (items == 0 || common % items != 0 || cut.count % stated.item.count != 0)
    throw UsageError(
        fmt::format("`item` {}: {} in and {} out are to be a whole number of items, the same number in both directions",
                    to_string(stated.item), to_string(stated.in), to_string(stated.out)));
  return items;
}

std::string name_of(const StatedJob& stated) {
  std::string name = fmt::format("stated:in={},out={},kernel={}", to_string(stated.in), to_string(stated.out),
                                 to_string(stated.kernel));
  if (stated.each_byte_once) name += fmt::format(",access={}", *stated.each_byte_once ? "once" : "repeated");
  if (stated.item.count > 0) name += fmt::format(",item={}", to_string(stated.item));
  if (stated.before > 0 || stated.after > 0) name += fmt::format(",halo={}:{}", stated.before, stated.after);
  return name;
}

}  // namespace

bool parse_access(std::string_view text, std::string_view what) {
  if (text == "once") return true;
  if (text == "repeated") return false;
  throw UsageError(fmt::format(
      "{} \"{}\": give once, when the kernel reads and writes each byte about once, or repeated", what, text));
}

Workload stated_workload(const StatedJob& stated, const CudaKernels& cuda) {
  if (stated.in.count == 0 && stated.out.count == 0)
    throw UsageError("`in`, `out`: at least one must be larger than 0");
  if (!(stated.kernel.count() >= 0)) throw UsageError("`kernel`: the time must not be negative");
  if ((stated.before > 0 || stated.after > 0) && (stated.item.count == 0 || stated.in.count == 0))
    throw UsageError("`halo` counts items of `in`: state `in` and the bytes of an item with `item`");
  const std::uint64_t items = items_of(stated);
  const StatedShape shape{.in = stated.in.count / items,
                          .out = stated.out.count / items,
                          .time = stated.kernel / static_cast<double>(items),
                          .before = std::min(stated.before, items)};

  Workload w;
  w.real_kernel = false;
  w.job = Job{.items = items,
              .name = name_of(stated),
              .cost = {.points = {{items, Interval<Seconds>::exact(stated.kernel)}}, .limited = {}, .origin = "stated"},
              .threads_per_block = 1024,
              .any_grid = false,  // the stand-in fills the GPU for the stated time
              .each_byte_once = stated.each_byte_once,
              .device_traffic = stated.in + stated.out}
              .shaped<const std::uint8_t>("in", Role::in, stated.in.count,
                                          halo(shape.before, std::min(stated.after, items)))
              .shaped<std::uint8_t>("out", Role::out, stated.out.count)
              .host_kernel([shape](Chunk chunk, View<const std::uint8_t> in, View<std::uint8_t> out) {
                for (std::uint64_t i = chunk.first; i < chunk.end(); ++i)
                  for (std::uint64_t t = 0; t < shape.out; ++t)
                    out[i * shape.out + t] = shape.in == 0 ? output_byte(shape, t) : in[i * shape.in + t % shape.in];
              });
  if (cuda.stated != nullptr) w.job.binding.cuda = cuda.stated(shape);
  w.program = program_text(shape, items);
  w.fill = [](std::span<const std::span<std::byte>> arrays) {
    generate(as_elements<std::uint8_t>(arrays[0]), input_byte);
    generate(as_elements<std::uint8_t>(arrays[1]),
             [](std::uint64_t i) { return static_cast<std::uint8_t>(hash_of(i, 6)); });
  };
  w.verify = [shape](std::span<const std::span<std::byte>> arrays) -> std::string {
    const auto in = as_elements<std::uint8_t>(arrays[0]);
    const auto out = as_elements<std::uint8_t>(arrays[1]);
    const auto expected = [&](std::uint64_t i) { return output_byte(shape, i); };
    if (const auto i = first_difference<std::uint8_t>(in, input_byte); i < in.size())
      return fmt::format("input byte {} was overwritten", i);
    if (const auto i = first_difference<std::uint8_t>(out, expected); i < out.size())
      return fmt::format("output byte {} is {} instead of {}", i, out[i], expected(i));
    return "";
  };
  return w;
}

}  // namespace shiplap
