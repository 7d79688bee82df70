# embed_profiles(DIR OUT): makes OUT, a C++ file that holds every DIR/*.json as text.
function(embed_profiles dir out)
  file(GLOB files CONFIGURE_DEPENDS ${dir}/*.json)
  set(entries "")
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME_WLE)
    file(READ ${file} content)
    string(FIND "${content}" ")PROFILE\"" end)
    if(NOT end EQUAL -1)
      message(FATAL_ERROR "${file}: contains )PROFILE\", which ends the C++ literal it is embedded in")
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    string(APPEND entries "    {\"${name}\", R\"PROFILE(${content})PROFILE\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${out} @ONLY CONTENT
"// Made from the JSON files in profiles/ by CMake.
#include \"shiplap/profile/built_in.hpp\"

namespace shiplap {
std::vector<BuiltInProfile> built_in_profile_texts() {
  return {
@entries@  };
}
}  // namespace shiplap
")
endfunction()
