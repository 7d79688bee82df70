# Configures shiplap without its experiments: with the option, and as a part of another project, where that is the default.
# No source, test or program of the experiments may be left, and the tests of the rest must be there. Nobody gives a
# build type: shiplap alone is a release, and another project keeps its own.
# Wants: source, work, generator, compiler.
cmake_minimum_required(VERSION 3.22)
file(REMOVE_RECURSE ${work})

function(configure_and_look folder build)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${folder} -B ${build} -G ${generator} -D CMAKE_CXX_COMPILER=${compiler}
                          -D SHIPLAP_CUDA=off -D CMAKE_EXPORT_COMPILE_COMMANDS=ON ${ARGN}
                  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "configuring ${folder} ended with ${status}:\n${output}")
  endif()
  file(READ ${build}/compile_commands.json commands)
  foreach(folder experiments tests/experiments)
    string(FIND "${commands}" "${source}/${folder}/" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "a source of ${folder}/ is compiled, and the experiments are off")
    endif()
  endforeach()
  foreach(file cli/reproduce.cpp tests/plan/ranking_test.cpp tests/cli/cli_test.cpp)
    string(FIND "${commands}" "${source}/${file}" at)
    if(at EQUAL -1)
      message(FATAL_ERROR "${file} is left out, which is none of the experiments")
    endif()
  endforeach()
endfunction()

# The build type of a folder, by its cache.
function(require_build_type build expected)
  file(STRINGS ${build}/CMakeCache.txt line REGEX "^CMAKE_BUILD_TYPE:")
  if(NOT line MATCHES "=${expected}$")
    message(FATAL_ERROR "${build} has \"${line}\" and not the build type '${expected}'")
  endif()
endfunction()

configure_and_look(${source} ${work}/off -D SHIPLAP_EXPERIMENTS=OFF)
require_build_type(${work}/off Release)

file(WRITE ${work}/parent/CMakeLists.txt
     "cmake_minimum_required(VERSION 3.22)\nproject(parent LANGUAGES CXX)\nadd_subdirectory(${source} shiplap)\n")
configure_and_look(${work}/parent ${work}/inside)
require_build_type(${work}/inside "")
