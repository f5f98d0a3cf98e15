# The core as a library for others: headers, torchmem::core, and a package for find_package(torchmem). The component
# `development` is that alone.
include(CMakePackageConfigHelpers)

set_target_properties(torchmem_core PROPERTIES EXPORT_NAME core)
install(
  TARGETS torchmem_core
  EXPORT torchmem-targets
  ARCHIVE DESTINATION lib COMPONENT development
  INCLUDES DESTINATION include
)
install(DIRECTORY include/torchmem DESTINATION include COMPONENT development FILES_MATCHING PATTERN "*.h")
set(package_dir lib/cmake/torchmem)
install(EXPORT torchmem-targets NAMESPACE torchmem:: DESTINATION ${package_dir} COMPONENT development)
configure_package_config_file(
  cmake/torchmem-config.cmake.in "${PROJECT_BINARY_DIR}/torchmem-config.cmake" INSTALL_DESTINATION ${package_dir}
)
# Before 1.0 a minor version may change the API.
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/torchmem-config-version.cmake" COMPATIBILITY SameMinorVersion
)
install(
  FILES "${PROJECT_BINARY_DIR}/torchmem-config.cmake" "${PROJECT_BINARY_DIR}/torchmem-config-version.cmake"
  DESTINATION ${package_dir}
  COMPONENT development
)
