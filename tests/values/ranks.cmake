# What ranks send to each other, through the command line; included by CMakeLists.txt.
if(TARGET torchmem AND TORCHMEM_WITH_TORCH)
  add_test(NAME values.ranks COMMAND Python3::Interpreter "${CMAKE_CURRENT_LIST_DIR}/ranks.py")
  set_tests_properties(
    values.ranks PROPERTIES LABELS "values" TIMEOUT 1200
    ENVIRONMENT "TORCHMEM=$<TARGET_FILE:torchmem>;TEST_PYTHON=${TORCHMEM_TEST_PYTHON}"
  )
endif()
