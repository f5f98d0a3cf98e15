include(GoogleTest)

# All of the programs that torchmem_unit_test makes.
add_custom_target(unit_tests)

# torchmem_unit_test(NAME SOURCES file... [LIBS target...] [LABELS label...] [WHOLE])
# A GoogleTest program and its tests in CTest as NAME.Suite.Test; with WHOLE the program is a single test (for programs
# that are slow to start, such as those that load LibTorch). The tests run in the folder of their sources.
function(torchmem_unit_test name)
  cmake_parse_arguments(arg "WHOLE" "" "SOURCES;LIBS;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  add_dependencies(unit_tests ${name})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} GTest::gtest GTest::gtest_main)
  # Tests run once for each time that they are built: optimizing them takes longer than it saves.
  target_compile_options(${name} PRIVATE -O0)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  if(arg_WHOLE)
    add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
    set_tests_properties(${name} PROPERTIES LABELS "unit;${arg_LABELS}")
  else()
    gtest_discover_tests(
      ${name}
      TEST_PREFIX "${name}."
      WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
      DISCOVERY_MODE PRE_TEST
      PROPERTIES LABELS "unit"
    )
  endif()
endfunction()
