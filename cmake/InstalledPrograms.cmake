# torchmem_installed(TARGET): puts a program where the layout has it, in the build tree (bin/) and when installed.
# torchmem_installed_library(TARGET): the same for a shared library of lib/torchmem/.
function(torchmem_installed target)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${TORCHMEM_BIN_DIR}")
  install(TARGETS ${target} RUNTIME DESTINATION bin)
endfunction()

function(torchmem_installed_library target)
  set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${TORCHMEM_LIB_DIR}")
  install(TARGETS ${target} LIBRARY DESTINATION lib/torchmem)
endfunction()
