# The libraries that the build uses, each as its usual imported target: an installed one if there is one and the
# pinned release otherwise (always the pinned one with TORCHMEM_BUNDLED). THIRD_PARTY.md lists them.
include(FetchContent)

# torchmem_dependency(NAME PACKAGE name VERSION minimum TARGET target URL url SHA256 hash [OPTIONS name=value...])
function(torchmem_dependency name)
  cmake_parse_arguments(arg "" "PACKAGE;VERSION;TARGET;URL;SHA256" "OPTIONS" ${ARGN})
  if(NOT TORCHMEM_BUNDLED)
    find_package(${arg_PACKAGE} ${arg_VERSION} QUIET GLOBAL)
    if(TARGET ${arg_TARGET})
      message(STATUS "${name}: installed, ${${arg_PACKAGE}_VERSION}")
      return()
    endif()
  endif()
  message(STATUS "${name}: downloading ${arg_URL}")
  foreach(option IN LISTS arg_OPTIONS)
    string(REGEX MATCH "^([^=]+)=(.*)$" matched "${option}")
    set(${CMAKE_MATCH_1} "${CMAKE_MATCH_2}" CACHE INTERNAL "set for ${name}")
  endforeach()
  FetchContent_Declare(
    ${name}
    URL "${arg_URL}"
    URL_HASH SHA256=${arg_SHA256}
    DOWNLOAD_EXTRACT_TIMESTAMP OFF
  )
  FetchContent_MakeAvailable(${name})
  # Our warnings are not for other people's headers.
  get_target_property(library ${arg_TARGET} ALIASED_TARGET)
  get_target_property(headers ${library} INTERFACE_INCLUDE_DIRECTORIES)
  set_target_properties(${library} PROPERTIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${headers}")
endfunction()

torchmem_dependency(
  cli11 PACKAGE CLI11 VERSION 2.1 TARGET CLI11::CLI11
  URL https://github.com/CLIUtils/CLI11/archive/refs/tags/v2.5.0.tar.gz
  SHA256 17e02b4cddc2fa348e5dbdbb582c59a3486fa2b2433e70a0c3bacb871334fd55
  OPTIONS CLI11_BUILD_TESTS=OFF CLI11_BUILD_EXAMPLES=OFF CLI11_BUILD_DOCS=OFF
)
torchmem_dependency(
  nlohmann_json PACKAGE nlohmann_json VERSION 3.10 TARGET nlohmann_json::nlohmann_json
  URL https://github.com/nlohmann/json/releases/download/v3.11.3/json.tar.xz
  SHA256 d6c65aca6b1ed68e7a182f4757257b107ae403032760ed6ef121c9d55e81757d
  # Our own package needs it where it is installed.
  OPTIONS JSON_BuildTests=OFF JSON_Install=ON
)
torchmem_dependency(
  spdlog PACKAGE spdlog VERSION 1.9 TARGET spdlog::spdlog
  URL https://github.com/gabime/spdlog/archive/refs/tags/v1.14.1.tar.gz
  SHA256 1586508029a7d0670dfcb2d97575dcdc242d3868a259742b69f100801ab4e16b
  OPTIONS SPDLOG_INSTALL=OFF
)
if(TORCHMEM_TESTS)
  torchmem_dependency(
    googletest PACKAGE GTest VERSION 1.11 TARGET GTest::gtest_main
    URL https://github.com/google/googletest/archive/refs/tags/v1.14.0.tar.gz
    SHA256 8ad598c73ad796e0d8280b082cebd82a630d73e73cd3c70057938a6501bba5d7
    OPTIONS INSTALL_GTEST=OFF
  )
endif()
if(TORCHMEM_BENCHMARKS)
  torchmem_dependency(
    benchmark PACKAGE benchmark VERSION 1.6 TARGET benchmark::benchmark
    URL https://github.com/google/benchmark/archive/refs/tags/v1.8.3.tar.gz
    SHA256 6bc180a57d23d4d9515519f92b0c83d61b05b5bab188961f36ac7b06b0d9e9ce
    OPTIONS BENCHMARK_ENABLE_TESTING=OFF BENCHMARK_ENABLE_INSTALL=OFF
  )
endif()
