# Where the programs lie, in the build tree as when installed, and the target that builds them all and nothing else.
# Programs find their parts from their own place: bin/, lib/torchmem/, share/torchmem/.
add_custom_target(torchmem_programs)

foreach(program torchmem torchmem-engine)
  if(TARGET ${program})
    set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${TORCHMEM_BIN_DIR}")
    install(TARGETS ${program} RUNTIME DESTINATION bin)
    add_dependencies(torchmem_programs ${program})
  endif()
endforeach()

if(TARGET torchmem_agent)
  set_target_properties(
    torchmem_agent PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${TORCHMEM_LIB_DIR}" TORCHMEM_PRELOADED ON
  )
  install(TARGETS torchmem_agent LIBRARY DESTINATION lib/torchmem)
  add_dependencies(torchmem_programs torchmem_agent)
endif()

get_property(vgpu_targets GLOBAL PROPERTY TORCHMEM_VGPU_TARGETS)
if(vgpu_targets)
  add_dependencies(torchmem_programs ${vgpu_targets})
endif()
