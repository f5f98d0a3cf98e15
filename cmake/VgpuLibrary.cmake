# The virtual GPU's libraries. torchmem_vgpu_flags(TARGET) gives a target what all of them share: they are loaded into
# any program, so they need nothing but libc, libm and the loader, export only what is meant to be, and throw nothing.
function(torchmem_vgpu_flags target)
  target_compile_options(
    ${target}
    PRIVATE -fvisibility=hidden $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden -fno-exceptions -fno-rtti>
            -ffunction-sections -fdata-sections
  )
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src/vgpu/device")
  target_link_libraries(${target} PRIVATE torchmem::cuda_runtime)
  set_target_properties(${target} PROPERTIES TORCHMEM_PRELOADED ON)
endfunction()

# torchmem_vgpu_shared(TARGET): the same for a shared library, and its place in the tree.
function(torchmem_vgpu_shared target)
  torchmem_vgpu_flags(${target})
  target_link_options(
    ${target} PRIVATE -static-libstdc++ -static-libgcc "LINKER:--as-needed,--gc-sections,--exclude-libs,ALL"
  )
  set_target_properties(
    ${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${TORCHMEM_VGPU_DIR}" LINKER_LANGUAGE CXX
  )
  install(TARGETS ${target} LIBRARY DESTINATION lib/torchmem/vgpu)
  set_property(GLOBAL APPEND PROPERTY TORCHMEM_VGPU_LIBRARIES "$<TARGET_FILE_NAME:${target}>")
  set_property(GLOBAL APPEND PROPERTY TORCHMEM_VGPU_TARGETS ${target})
endfunction()

# What PyTorch needs of each library, read from the installed one (scripts/vgpu_symbols.py).
set(TORCHMEM_VGPU_SYMBOLS_DIR "${PROJECT_BINARY_DIR}/vgpu_symbols")
set(TORCHMEM_VGPU_ASKED "${PROJECT_SOURCE_DIR}/src/vgpu/asked_by_name.txt")

# torchmem_vgpu_symbols(LIBRARY...): the rule that makes LIBRARY.map, LIBRARY.symbols and LIBRARY_unmodelled.c.
function(torchmem_vgpu_symbols)
  set(outputs)
  foreach(library IN LISTS ARGN)
    set(base "${TORCHMEM_VGPU_SYMBOLS_DIR}/${library}")
    list(APPEND outputs "${base}.map" "${base}.symbols" "${base}_unmodelled.c")
  endforeach()
  set(script "${PROJECT_SOURCE_DIR}/scripts/vgpu_symbols.py")
  add_custom_command(
    OUTPUT ${outputs}
    COMMAND Python3::Interpreter "${script}" --torch "${TORCH_DIR}" --asked "${TORCHMEM_VGPU_ASKED}" --output
            "${TORCHMEM_VGPU_SYMBOLS_DIR}"
    DEPENDS "${script}" "${TORCHMEM_VGPU_ASKED}" "${TORCH_DIR}/version.py"
    COMMENT "Reading what PyTorch needs of the vendor's libraries"
    VERBATIM
  )
  add_custom_target(torchmem_vgpu_symbols DEPENDS ${outputs})
endfunction()

# torchmem_vgpu_library(TARGET name SONAME libx.so.N LIBRARY key SOURCES file... [LIBS target...])
# A library with the vendor's file name and version node, which exports every function that PyTorch needs of it: the
# ones in SOURCES that are marked TMV_EXPORT, and for the others a stub that counts itself and returns the library's
# not-supported status. LIBRARY is its key in scripts/vgpu_symbols.py. SOURCES are also there as the object library
# TARGET_objects, for tests of what is inside. tmv_* is left undefined: the core is always loaded first.
function(torchmem_vgpu_library)
  cmake_parse_arguments(arg "" "TARGET;SONAME;LIBRARY" "SOURCES;LIBS" ${ARGN})
  set(base "${TORCHMEM_VGPU_SYMBOLS_DIR}/${arg_LIBRARY}")
  add_library(${arg_TARGET} SHARED "${base}_unmodelled.c")
  if(arg_SOURCES)
    add_library(${arg_TARGET}_objects OBJECT ${arg_SOURCES})
    torchmem_vgpu_flags(${arg_TARGET}_objects)
    target_include_directories(${arg_TARGET}_objects PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}")
    target_link_libraries(${arg_TARGET}_objects PRIVATE ${arg_LIBS})
    target_sources(${arg_TARGET} PRIVATE $<TARGET_OBJECTS:${arg_TARGET}_objects>)
  endif()
  target_compile_options(${arg_TARGET} PRIVATE $<$<COMPILE_LANGUAGE:C>:-fno-builtin>)
  torchmem_vgpu_shared(${arg_TARGET})
  add_dependencies(${arg_TARGET} torchmem_vgpu_symbols)
  target_link_options(
    ${arg_TARGET} PRIVATE "LINKER:-soname,${arg_SONAME}" "SHELL:-Xlinker --version-script -Xlinker \"${base}.map\""
  )
  set_target_properties(
    ${arg_TARGET} PROPERTIES PREFIX "" SUFFIX "" OUTPUT_NAME "${arg_SONAME}" NO_SONAME ON LINK_DEPENDS "${base}.map"
  )
endfunction()
