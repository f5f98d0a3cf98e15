# torchmem::torch, the LibTorch of the `torch` wheel, and torchmem::cuda_runtime, the headers of the CUDA runtime's.
#
# TORCH_DIR is the folder of the Python package; by default that of the environment that scripts/setup makes. The
# package's own CMake files are not used: they ask for nvcc and a CUDA toolkit. Nothing here links, or leaves a path to,
# the vendor's libraries: which ones a program uses is decided when it is started.
set(TORCH_DIR "" CACHE PATH "Folder of the Python package torch (has include/ and lib/)")
if(NOT TORCH_DIR)
  file(GLOB found "${PROJECT_SOURCE_DIR}/.deps/venv/lib/python3*/site-packages/torch")
  list(LENGTH found count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "No PyTorch in ${PROJECT_SOURCE_DIR}/.deps/venv. Run scripts/setup, or give the folder of an "
                        "installed torch package with -DTORCH_DIR=..., or build the core alone with "
                        "-DTORCHMEM_WITH_TORCH=OFF.")
  endif()
  set(TORCH_DIR "${found}" CACHE PATH "" FORCE)
endif()
if(NOT EXISTS "${TORCH_DIR}/lib/libtorch_cuda.so")
  message(FATAL_ERROR "TORCH_DIR is ${TORCH_DIR}, which has no lib/libtorch_cuda.so: a CUDA build of torch is needed. "
                      "Run scripts/setup to get one, and remove TORCH_DIR from the cache of this build tree.")
endif()

# torchmem_torch_fact(VARIABLE NAME): a quoted value of torch/version.py.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${TORCH_DIR}/version.py")
file(READ "${TORCH_DIR}/version.py" version_py)
function(torchmem_torch_fact variable name)
  if(NOT version_py MATCHES "(^|\n)${name}[^=\n]*= *'([^']*)'")
    message(FATAL_ERROR "${TORCH_DIR}/version.py names no ${name}: a CUDA build of PyTorch is needed.")
  endif()
  set(${variable} "${CMAKE_MATCH_2}" PARENT_SCOPE)
endfunction()
torchmem_torch_fact(TORCHMEM_TORCH_VERSION __version__)
torchmem_torch_fact(TORCHMEM_TORCH_GIT git_version)
torchmem_torch_fact(TORCHMEM_TORCH_CUDA cuda)
message(STATUS "torch: ${TORCHMEM_TORCH_VERSION}, CUDA ${TORCHMEM_TORCH_CUDA}, in ${TORCH_DIR}")

# What the engine and the agent were built against; `torchmem run` compares it with a program's own.
file(
  CONFIGURE
  OUTPUT "${TORCHMEM_LIB_DIR}/torch.json"
  CONTENT [[{
  "version": "@TORCHMEM_TORCH_VERSION@",
  "git_version": "@TORCHMEM_TORCH_GIT@",
  "cuda": "@TORCHMEM_TORCH_CUDA@"
}
]]
  @ONLY
)
install(FILES "${TORCHMEM_LIB_DIR}/torch.json" DESTINATION lib/torchmem)

string(REGEX MATCH "^[0-9]+" cuda_major "${TORCHMEM_TORCH_CUDA}")
cmake_path(GET TORCH_DIR PARENT_PATH site_packages)
find_path(
  TORCHMEM_CUDA_INCLUDE_DIR cuda_runtime_api.h
  PATHS "${site_packages}/nvidia/cu${cuda_major}/include"
  NO_DEFAULT_PATH
)
if(NOT TORCHMEM_CUDA_INCLUDE_DIR)
  message(FATAL_ERROR "No cuda_runtime_api.h in ${site_packages}/nvidia/cu${cuda_major}/include: install "
                      "nvidia-cuda-runtime there (scripts/setup does), or give -DTORCHMEM_CUDA_INCLUDE_DIR=...")
endif()
add_library(torchmem_cuda_runtime INTERFACE)
add_library(torchmem::cuda_runtime ALIAS torchmem_cuda_runtime)
target_include_directories(torchmem_cuda_runtime SYSTEM INTERFACE "${TORCHMEM_CUDA_INCLUDE_DIR}")

add_library(torchmem_torch INTERFACE)
add_library(torchmem::torch ALIAS torchmem_torch)
target_include_directories(
  torchmem_torch SYSTEM INTERFACE "${TORCH_DIR}/include" "${TORCH_DIR}/include/torch/csrc/api/include"
)
target_link_libraries(torchmem_torch INTERFACE torchmem::cuda_runtime)
# The wheel is built so, and at::RecordFunction has a member more without: a debug build would read other fields.
target_compile_definitions(torchmem_torch INTERFACE NDEBUG)
# Without --no-as-needed the linker drops libtorch_cuda, and CUDA is never registered. The libraries' own needs (the
# vendor's) are not looked for.
#
# The run path is relative ($ORIGIN) to bin/ and tests/ (one level down in the build tree) and to lib/torchmem/ (two),
# as a colon in an absolute one would split it; for installed programs the absolute one follows where it can.
file(RELATIVE_PATH torch_from_bin "${TORCHMEM_BIN_DIR}" "${TORCH_DIR}/lib")
file(RELATIVE_PATH torch_from_lib "${TORCHMEM_LIB_DIR}" "${TORCH_DIR}/lib")
set(run_path "$$ORIGIN/${torch_from_bin}:$$ORIGIN/${torch_from_lib}")
if(NOT TORCH_DIR MATCHES ":")
  string(APPEND run_path ":${TORCH_DIR}/lib")
endif()
set(CMAKE_SKIP_RPATH ON)
target_link_options(
  torchmem_torch
  INTERFACE
  "-L${TORCH_DIR}/lib"
  "LINKER:--push-state,--no-as-needed,-ltorch,-ltorch_cuda,-ltorch_cpu,-lc10_cuda,-lc10,--pop-state"
  "LINKER:--unresolved-symbols=ignore-in-shared-libs"
)
# Given as a library, since CMake passes these on as they are; in an option it doubles the dollar sign once too often.
target_link_libraries(torchmem_torch INTERFACE "-Wl,-rpath,'${run_path}'")
