# Flags of our own code; included after the dependencies, which are built before with their own.
add_compile_options(-Wall -Wextra -Werror)
# GCC 12 sees an overlap in std::string's operator+ where there is none (GCC bug 105329).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options(-Wno-restrict -Wno-stringop-overflow)
endif()

# The virtual GPU and the agent are loaded into programs that know nothing of sanitizers: a target with the property
# TORCHMEM_PRELOADED is built without them.
if(TORCHMEM_SANITIZE)
  set(instrumented "$<NOT:$<BOOL:$<TARGET_PROPERTY:TORCHMEM_PRELOADED>>>")
  # Null pointers are the address sanitizer's too; these three are a third of a file's compile time.
  set(flags -fsanitize=address,undefined -fno-sanitize=null,vptr,object-size -fno-omit-frame-pointer)
  add_compile_options("$<${instrumented}:${flags}>")
  # Clang's is static unless told otherwise.
  set(static $<$<CXX_COMPILER_ID:GNU>:-static-libasan>)
  add_link_options("$<${instrumented}:-fsanitize=address,undefined;${static}>")
endif()
