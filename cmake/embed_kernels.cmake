# embed_kernels(DIR OUT): makes OUT, a C++ file that holds every DIR/*.cuh as text.
function(embed_kernels dir out)
  file(GLOB files CONFIGURE_DEPENDS ${dir}/*.cuh)
  set(entries "")
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME_WLE)
    file(READ ${file} content)
    string(FIND "${content}" ")KERNEL\"" end)
    if(NOT end EQUAL -1)
      message(FATAL_ERROR "${file}: contains )KERNEL\", which ends the C++ literal it is embedded in")
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    string(APPEND entries "    {\"${name}\", R\"KERNEL(${content})KERNEL\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${out} @ONLY CONTENT
"// Made from the CUDA headers in shiplap/workload by CMake.
#include \"shiplap/workload/program_text.hpp\"

namespace shiplap {
std::vector<KernelFile> kernel_files() {
  return {
@entries@  };
}
}  // namespace shiplap
")
endfunction()
