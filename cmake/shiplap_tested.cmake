# The target `shiplap_tested`: what tests run that need no GPU. The rest of the build is only compiled without one.
add_custom_target(shiplap_tested)

# shiplap_only_compiled(TARGET…): no test without a GPU needs these.
function(shiplap_only_compiled)
  set_property(TARGET ${ARGN} PROPERTY SHIPLAP_ONLY_COMPILED ON)
endfunction()

# shiplap_add_to_tested(FOLDER): adds the targets of a folder and of those below it.
function(shiplap_add_to_tested folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    get_target_property(only_compiled ${target} SHIPLAP_ONLY_COMPILED)
    if(NOT only_compiled AND type MATCHES "EXECUTABLE|STATIC_LIBRARY|SHARED_LIBRARY|MODULE_LIBRARY")
      add_dependencies(shiplap_tested ${target})
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS folders)
    shiplap_add_to_tested(${below})
  endforeach()
endfunction()
