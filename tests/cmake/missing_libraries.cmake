# Configures shiplap where libraries are missing: one message names all of them, with the packages that have them.
# Wants: source, work, generator, compiler.
cmake_minimum_required(VERSION 3.22)
file(REMOVE_RECURSE ${work})
execute_process(COMMAND ${CMAKE_COMMAND} -S ${source} -B ${work} -G ${generator} -D CMAKE_CXX_COMPILER=${compiler}
                        -D SHIPLAP_CUDA=off -D CMAKE_DISABLE_FIND_PACKAGE_fmt=ON -D CMAKE_DISABLE_FIND_PACKAGE_CLI11=ON
                RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(status EQUAL 0)
  message(FATAL_ERROR "configuring without two libraries has succeeded")
endif()
foreach(expected libfmt-dev libcli11-dev CMAKE_PREFIX_PATH)
  if(NOT output MATCHES "${expected}")
    message(FATAL_ERROR "nothing says ${expected}:\n${output}")
  endif()
endforeach()
if(output MATCHES "libhwloc-dev")
  message(FATAL_ERROR "hwloc is there and called missing:\n${output}")
endif()
