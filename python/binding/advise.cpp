// Advice for the recording of a program.
#include <nanobind/stl/string.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "binding/parts.hpp"
#include "shiplap/advise/advice.hpp"
#include "shiplap/advise/advice_view.hpp"
#include "shiplap/advise/recorded_link.hpp"
#include "shiplap/advise/recording_file.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/document/text.hpp"
#include "shiplap/report/advice_pictures.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap::python {
namespace {

struct PyAdvice {
  Advised advised;
  document::Section section;

  std::string text(bool all) const {
    return document::text(section, {}, all ? document::Detail::all : document::Detail::figures);
  }
  std::string picture() const { return advised.recorded.schedule.ops.empty() ? "" : advice_svg(advised); }
};

PyAdvice advise_file(const std::string& file, const std::string& range) {
  return with_python_errors([&] {
    const GilReleased released;
    const Recording recording = read_recording_file(file);
    const RecordedLink node = profile_of_recording(recording);
    Advised advised = advise(recording, node.profile, {.range = range, .link = node.note});
    document::Section section = document::advice_section(advice_view(advised));
    return PyAdvice{.advised = std::move(advised), .section = std::move(section)};
  });
}

}  // namespace

void bind_advise(nb::module_& m) {
  nb::class_<PyAdvice>(m, "Advice")
      .def("text", &PyAdvice::text, nb::arg("all"))
      .def("line", [](const PyAdvice& self) { return self.section.headlines.front().sentence; })
      .def("picture", &PyAdvice::picture)
      .def("to_json", [](const PyAdvice& self) { return json_text(to_json(advice_view(self.advised))); });
  m.def("advise_file", &advise_file, nb::arg("file"), nb::arg("range"));
}

}  // namespace shiplap::python
