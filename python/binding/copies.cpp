// Copies over all links of a node, and copies from files.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "binding/parts.hpp"
#include "shiplap/device/file_bytes.hpp"
#include "shiplap/pipeline/copy.hpp"
#include "shiplap/pipeline/file_copy.hpp"

namespace shiplap::python {
namespace {

std::byte* at(std::uintptr_t address) { return reinterpret_cast<std::byte*>(address); }

/// The GPUs that relay, with their shares, and the size of a piece.
using PyRelay = std::pair<std::vector<std::pair<std::uint16_t, double>>, std::uint64_t>;

PyRelay copy_over_links(Copier& copier, std::uintptr_t destination, std::uintptr_t source, std::uint64_t size,
                        std::uintptr_t stream) {
  PyRelay result;
  with_python_errors([&] {
    const GilReleased released;
    const Relay relay = copier.copy(at(destination), at(source), Bytes{size}, at(stream));
    for (const RelayShare& one : relay.through) result.first.emplace_back(one.gpu, one.share);
    result.second = relay.piece.count;
  });
  return result;
}

/// Descriptor, position in the file, path, size, and position in the destination.
using PyFileParts = std::vector<std::tuple<int, std::uint64_t, std::string, std::uint64_t, std::uint64_t>>;

void copy_from_files(FileCopier& copier, const PyFileParts& parts, std::uintptr_t destination, std::uint64_t size) {
  with_python_errors([&] {
    std::vector<FilePart> files;
    for (const auto& [descriptor, offset, path, bytes, to] : parts)
      files.push_back(
          {.from = {.descriptor = descriptor, .offset = offset, .path = path}, .size = Bytes{bytes}, .to = Bytes{to}});
    const GilReleased released;
    copier.copy(files, at(destination), Bytes{size});
  });
}

}  // namespace

void bind_copies(nb::module_& m) {
  nb::class_<Copier>(m, "Copier")
      .def(
          "__init__",
          [](Copier* self, const PyNode& node, std::optional<std::vector<std::uint16_t>> relays,
             std::optional<double> max_slowdown) {
            with_python_errors(
                [&] { new (self) Copier(node.node, {.relays = std::move(relays), .max_slowdown = max_slowdown}); });
          },
          nb::arg("node"), nb::arg("relays").none(), nb::arg("max_slowdown").none())
      .def("copy", &copy_over_links, nb::arg("destination"), nb::arg("source"), nb::arg("size"), nb::arg("stream"));
  nb::class_<FileCopier>(m, "FileCopier")
      .def(
          "__init__",
          [](FileCopier* self, const PyNode& node, unsigned threads) {
            with_python_errors([&] { new (self) FileCopier(device_of(node), threads); });
          },
          nb::arg("node"), nb::arg("threads") = 0)
      .def("copy", &copy_from_files, nb::arg("parts"), nb::arg("destination"), nb::arg("size"));
  m.def(
      "read_file",
      [](int descriptor, std::uint64_t offset, std::string path, std::uintptr_t destination, std::uint64_t size) {
        with_python_errors([&] {
          const FileBytes file{.descriptor = descriptor, .offset = offset, .path = std::move(path)};
          const GilReleased released;
          read_file(file, Bytes{}, at(destination), Bytes{size});
        });
      },
      nb::arg("descriptor"), nb::arg("offset"), nb::arg("path"), nb::arg("destination"), nb::arg("size"),
      "Reads bytes of an open file into memory.");
}

}  // namespace shiplap::python
