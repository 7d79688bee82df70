# embed_files(DIR EXTENSION OUT HEADER TYPE FUNCTION [NAMESPACE]): makes OUT, a C++ file in which FUNCTION() gives a vector of TYPE with
# name and text of every DIR/*.EXTENSION; HEADER declares both.
function(embed_files dir extension out header type function)
  set(space shiplap)
  if(ARGC GREATER 6)
    set(space ${ARGV6})
  endif()
  file(GLOB files CONFIGURE_DEPENDS ${dir}/*.${extension})
  set(entries "")
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME_WLE)
    file(READ ${file} content)
    string(FIND "${content}" ")EMBEDDED\"" end)
    if(NOT end EQUAL -1)
      message(FATAL_ERROR "${file}: contains )EMBEDDED\", which ends the C++ literal it is embedded in")
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    string(APPEND entries "    {\"${name}\", R\"EMBEDDED(${content})EMBEDDED\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${out} @ONLY CONTENT
"// Made from files of the project by CMake.
#include \"@header@\"

namespace @space@ {
std::vector<@type@> @function@() {
  return {
@entries@  };
}
}  // namespace @space@
")
endfunction()
