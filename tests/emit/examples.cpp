#include "tests/emit/examples.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/emit/cuda_program.hpp"

namespace shiplap::testing {
namespace {

Example make(std::string name, const std::string& workload, Choice choice, Limits limits = {.device_memory = 1_GiB}) {
  Example example{std::move(name), find_workload(workload), std::move(choice), limits};
  Job& job = example.workload.job;
  job.cost = {.points = {{job.items, Interval<Seconds>::exact(milliseconds(1))}}, .origin = "stated"};
  const ArrayMemory memory = find_strategy(example.choice.strategy).memory;
  for (Array& array : job.arrays)
    array.memory = memory == ArrayMemory::pageable  ? MemoryKind::pageable
                   : memory == ArrayMemory::managed ? MemoryKind::managed
                                                    : MemoryKind::pinned;
  return example;
}

Example stated(std::string name, const StatedJob& job) {
  return {std::move(name), stated_workload(job), {.strategy = "streams", .chunks = 5}, {.device_memory = 1_GiB}};
}

// All roles, a ring that holds few chunks, and a kernel of which there is no text.
Example roles(const char* of, bool batched) {
  Example example = make(of, "saxpy:n=100000", {.chunks = 7, .ring = 3, .batched = batched});
  example.workload.real_kernel = false;
  example.workload.program = {};
  const auto array = [](const char* name, Role role, std::uint64_t element) {
    return Array{.name = name, .role = role, .size = Bytes{100000 * element}, .element = Bytes{element}};
  };
  example.workload.job.arrays = {array("table", Role::broadcast, 4), array("c", Role::in, 4),
                                 array("first", Role::inout, 8), array("items", Role::out, 4),
                                 array("odd one", Role::out, 2)};
  return example;
}

// An item of saxpy as `per_item` blocks of `floats` elements of a pool.
struct PoolShape {
  std::uint64_t items = 0;
  std::uint64_t per_item = 1;
  std::uint64_t floats = 0;
  std::uint64_t pitch = 0;  // bytes
  std::uint64_t pool_blocks = 0;
  bool regular = false;
};

Blocks blocks_of(const PoolShape& shape) {
  // Programs make lists of their own, so only the presence of indices matters.
  static const std::uint32_t any_index = 0;
  const std::uint64_t count = shape.items * shape.per_item;
  const Bytes block{4 * shape.floats};
  constexpr Bytes unused_tail{12};
  return {.indices = shape.regular ? IndexList{} : IndexList{.data = &any_index, .count = count},
          .count = count,
          .block = block,
          .pitch = Bytes{shape.pitch},
          .pool = Bytes{shape.pitch} * (shape.pool_blocks - 1) + block + unused_tail};
}

// saxpy with x and y in blocks of pools.
Example pages(std::string name, const PoolShape& shape, Choice choice) {
  const std::uint64_t floats = shape.per_item * shape.floats;
  Example example = make(std::move(name), fmt::format("saxpy:n={}", shape.items * floats), std::move(choice));
  Job& job = example.workload.job;
  job.items = shape.items;
  job.items_per_block = 1;
  job.cost.points.front().items = shape.items;
  for (Array& array : job.arrays) array.blocks = blocks_of(shape);
  std::string& launch = example.workload.program.launch;
  launch.replace(launch.find("{items}"), 7, fmt::format("{{items}} * {}", floats));
  return example;
}

}  // namespace

std::string Example::program() const {
  std::string text = cuda_program(workload, choice, schedule());
  constexpr std::string_view first_fill = "  make_ready();\n  fill();\n";
  if (!mistake.empty()) text.insert(text.find(first_fill) + first_fill.size(), "  " + mistake + "\n");
  return text;
}

namespace {

// Kernels that only a GPU runs.
std::vector<Example> examples_for_gpus() {
  std::vector<Example> all{
      make("matmul", "matmul:m=300,n=200,p=100", {.chunks = 3}),
      make("histogram", "histogram:frames=13,width=64,height=32,data=mixed", {.chunks = 4, .ring = 2}),
      make("grayscale", "grayscale:frames=13,width=37,height=32,output=both", {.chunks = 4}),
      make("pop_state", "pop-state:nx=33,ny=32,nz=12,outputs=3", {.chunks = 5, .ring = 2}),
      make("pop_buoydiff", "pop-buoydiff:nx=34,ny=32,nz=12", {.chunks = 5, .layout = Layout::per_chunk}),
      make("arccos", "arccos:n=100003,calls=33", {.strategy = "hybrid", .chunks = 3, .max_grid = 16}),
      make("diffusion", "diffusion:nx=67,ny=64,nz=12,steps=3", {.chunks = 6, .layout = Layout::per_chunk, .ring = 3}),
      make("diffusion_steps", "diffusion:nx=67,ny=64,nz=3,steps=6,split=steps", {.chunks = 3}),
      make("convolution", "convolution:height=100,width=133", {.chunks = 7, .ring = 3}),
      make("spmv", "spmv:rows=2000,nonzeros=40000", {.chunks = 6}),
      make("pop_state_batched", "pop-state:nx=33,ny=32,nz=12,outputs=3", {.chunks = 5, .ring = 2, .batched = true})};
  for (Example& example : all) example.faked = false;
  return all;
}

std::vector<Example> interpreted_examples() {
  const std::string saxpy = "saxpy:n=1000003";
  const std::string add = "scalar-add:in=4MiB,out=4MiB,iterations=3";
  const std::string ratio = "scalar-add:in=5MiB,out=3MiB,iterations=3";
  const Ramp ramp{.first = 0.25, .last = 0.125, .growth = 1.5};
  return {make("explicit", saxpy, {.strategy = "explicit"}),
          make("three", saxpy, {.chunks = 12, .ramp = ramp}),
          make("three_ring", add, {.chunks = 8, .ring = 3}),
          make("breadth_ring", add, {.chunks = 7, .order = IssueOrder::breadth, .ring = 3}),
          make("few", saxpy, {.chunks = 10, .layout = Layout::few, .streams = 4, .ring = 6}),
          make("per_chunk", saxpy, {.chunks = 6, .layout = Layout::per_chunk, .order = IssueOrder::breadth}),
          make("graph", saxpy, {.chunks = 6, .layout = Layout::few, .streams = 4, .graph = true}),
          make("graph_three", add, {.chunks = 8, .ring = 4, .graph = true}),
          make("batched", saxpy, {.chunks = 7, .ring = 3, .batched = true}),
          make("implicit_sync", saxpy, {.chunks = 6, .layout = Layout::implicit_sync, .order = IssueOrder::breadth}),
          make("implicit", ratio, {.strategy = "implicit", .max_grid = 24}),
          make("hybrid", saxpy, {.strategy = "hybrid", .chunks = 5, .max_grid = 32}),
          make("hybrid_mirror", ratio, {.strategy = "hybrid-mirror", .chunks = 5, .max_grid = 16}),
          make("pageable", saxpy, {.strategy = "pageable"}),
          make("staged", saxpy, {.strategy = "staged", .chunks = 17, .threads = 3}),
          make("staged_ring", add, {.strategy = "staged", .chunks = 16, .ring = 5, .threads = 2}),
          make("managed", saxpy, {.strategy = "managed", .threads = 2}),
          make("managed_prefetch", add, {.strategy = "managed-prefetch", .chunks = 4}),
          make("managed_implicit", add, {.strategy = "managed-implicit"}),
          stated("stated", {.in = 1_MiB, .out = 512_KiB, .kernel = microseconds(200)}),
          stated("stated_halo", {.in = 1_MiB,
                                 .out = 512_KiB,
                                 .kernel = microseconds(200),
                                 .each_byte_once = true,
                                 .item = 4_KiB,
                                 .before = 2,
                                 .after = 1}),
          roles("roles", false),
          roles("roles_batched", true)};
}

}  // namespace

namespace {

constexpr PoolShape large_pages{.items = 40, .per_item = 3, .floats = 256, .pitch = 1024, .pool_blocks = 150};

std::vector<Example> examples_of_blocks() {
  const Mover copies{.kind = Mover::Kind::copies}, batch{.kind = Mover::Kind::batch};
  const Mover strided{.kind = Mover::Kind::strided}, kernel{.kind = Mover::Kind::kernel, .grid = 3};
  const PoolShape rows{.items = 30, .floats = 100, .pitch = 512, .pool_blocks = 30, .regular = true};
  const PoolShape odd{.items = 50, .floats = 5, .pitch = 28, .pool_blocks = 70};
  // More indices than a launch can have as an argument.
  const PoolShape many{.items = 9000, .floats = 3, .pitch = 16, .pool_blocks = 10000};
  Example one_array = pages("blocks_of_one_array", odd, {.chunks = 5, .mover_h2d = copies, .mover_d2h = batch});
  one_array.workload.job.arrays.front().blocks.reset();
  Example stated = pages("blocks_stated", odd, {.chunks = 5, .mover_h2d = kernel, .mover_d2h = batch});
  stated.workload.real_kernel = false;
  stated.workload.program = {};
  return {
      pages("blocks_kernel_batch", large_pages, {.chunks = 7, .ring = 3, .mover_h2d = kernel, .mover_d2h = batch}),
      pages("blocks_batch_kernel", odd, {.chunks = 6, .layout = Layout::few, .mover_h2d = batch, .mover_d2h = kernel}),
      pages("blocks_copies", odd, {.chunks = 5, .layout = Layout::per_chunk, .mover_h2d = copies, .mover_d2h = copies}),
      pages("blocks_strided", rows, {.chunks = 4, .ring = 2, .mover_h2d = strided, .mover_d2h = strided}),
      pages("blocks_regular", rows, {.chunks = 4, .mover_h2d = kernel, .mover_d2h = kernel}),
      pages("blocks_explicit", many, {.strategy = "explicit", .mover_h2d = kernel, .mover_d2h = kernel}),
      pages("blocks_staged", odd, {.strategy = "staged", .chunks = 12, .ring = 4, .threads = 2}),
      std::move(one_array),
      std::move(stated)};
}

}  // namespace

std::vector<Example> wrong_examples() {
  const Choice by_kernel{.chunks = 4,
                         .mover_h2d = Mover{.kind = Mover::Kind::kernel, .grid = 3},
                         .mover_d2h = Mover{.kind = Mover::Kind::kernel, .grid = 3}};
  std::vector<Example> all(3, pages("", large_pages, by_kernel));
  all[0].name = "index_outside";
  all[0].mistake = "indices_x[41] = blocks_in_pool_x;";
  all[1].name = "index_twice";
  all[1].mistake = "indices_y[41] = indices_y[7];";
  all[2].name = "index_missing";
  all[2].mistake = "indices_x.pop_back();";
  return all;
}

std::vector<Example> small_examples() {
  std::vector<Example> all = interpreted_examples();
  for (Example& example : examples_of_blocks()) all.push_back(std::move(example));
  for (Example& example : examples_for_gpus()) all.push_back(std::move(example));
  return all;
}

std::vector<Example> large_examples() {
  const std::string saxpy = "saxpy:n=64Mi";
  const Ramp ramp{.first = 1, .last = 0.15, .growth = 1.07};
  const Limits limits{.device_memory = 8_GiB, .resident_threads = 132 * 2048};
  return {make("large_explicit", saxpy, {.strategy = "explicit"}, limits),
          make("large_three", saxpy, {.chunks = 29, .ramp = ramp}, limits),
          make("large_few", saxpy, {.chunks = 16, .layout = Layout::few}, limits),
          make("large_graph", saxpy, {.chunks = 16, .graph = true}, limits),
          make("large_hybrid", saxpy, {.strategy = "hybrid", .chunks = 16, .max_grid = 64}, limits),
          make("large_staged", saxpy, {.strategy = "staged", .chunks = 128, .threads = 6}, limits)};
}

Example example(const std::string& name) {
  for (const auto& examples : {small_examples(), wrong_examples(), large_examples()}) {
    const auto found = std::ranges::find(examples, name, &Example::name);
    if (found != examples.end()) return *found;
  }
  throw Error("there is no example " + name);
}

}  // namespace shiplap::testing
