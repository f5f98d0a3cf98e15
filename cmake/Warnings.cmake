# Flags of our own code; included after the dependencies, which are built before with their own.
add_compile_options(-Wall -Wextra -Werror)

# The virtual GPU and the agent are loaded into programs that know nothing of sanitizers: a target with the property
# TORCHMEM_PRELOADED is built without them.
if(TORCHMEM_SANITIZE)
  set(instrumented "$<NOT:$<BOOL:$<TARGET_PROPERTY:TORCHMEM_PRELOADED>>>")
  add_compile_options("$<${instrumented}:-fsanitize=address,undefined;-fno-omit-frame-pointer>")
  add_link_options("$<${instrumented}:-fsanitize=address,undefined;-static-libasan>")
endif()
