// A program that clears LD_PRELOAD for a child takes the virtual GPU away from it, and nothing that the child
// does could tell. So the functions that start programs are wrapped: when the new environment has lost the
// library, a note is left for the launcher (`cleared-<pid>` in TORCHMEM_RUN_DIR, holding the program's name).
// Nothing else changes. What a child between fork and exec may call makes the system call itself: the loader,
// asked for libc's function, could wait there for a lock that a thread of the parent held.
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "device.h"
#include "export.h"

extern char** environ;

namespace {

constexpr const char* core_name = "libtorchmem_vgpu.so";

bool keeps_library(char* const* environment) {
  for (; environment && *environment; ++environment)
    if (std::strncmp(*environment, "LD_PRELOAD=", 11) == 0 && std::strstr(*environment, core_name))
      return true;
  return false;
}

// Async-signal-safe as far as it goes: exec is called between fork and exec.
void note(const char* program, char* const* environment) {
  const char* directory = std::getenv("TORCHMEM_RUN_DIR");
  if (!directory || !program || keeps_library(environment)) return;
  if (std::strchr(program, '/') && access(program, X_OK) != 0) return;  // a place where it was looked for
  char path[4096];
  if (std::snprintf(path, sizeof path, "%s/cleared-%ld", directory, static_cast<long>(getpid())) >=
      static_cast<int>(sizeof path))
    return;
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return;
  ssize_t written = write(file, program, std::strlen(program));
  (void)written;
  close(file);
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

constexpr size_t most_arguments = 4096;

// The arguments of execl and its kin, up to and with the null that ends them.
size_t collect(char** arguments, const char* first, va_list rest) {
  size_t count = 0;
  arguments[count++] = const_cast<char*>(first);
  while (arguments[count - 1] && count < most_arguments) arguments[count++] = va_arg(rest, char*);
  arguments[count - 1] = nullptr;
  return count;
}

}  // namespace

TMV_EXPORT int execve(const char* path, char* const* arguments, char* const* environment) {
  note(path, environment);
  return static_cast<int>(syscall(SYS_execve, path, arguments, environment));
}

TMV_EXPORT int execv(const char* path, char* const* arguments) { return execve(path, arguments, environ); }

TMV_EXPORT int execvp(const char* file, char* const* arguments) {
  note(file, environ);
  return next<int (*)(const char*, char* const*)>("execvp")(file, arguments);
}

TMV_EXPORT int execvpe(const char* file, char* const* arguments, char* const* environment) {
  note(file, environment);
  return next<int (*)(const char*, char* const*, char* const*)>("execvpe")(file, arguments, environment);
}

TMV_EXPORT int execl(const char* path, const char* first, ...) {
  char* arguments[most_arguments];
  va_list rest;
  va_start(rest, first);
  collect(arguments, first, rest);
  va_end(rest);
  return execv(path, arguments);
}

TMV_EXPORT int execlp(const char* file, const char* first, ...) {
  char* arguments[most_arguments];
  va_list rest;
  va_start(rest, first);
  collect(arguments, first, rest);
  va_end(rest);
  return execvp(file, arguments);
}

TMV_EXPORT int execle(const char* path, const char* first, ...) {
  char* arguments[most_arguments];
  va_list rest;
  va_start(rest, first);
  collect(arguments, first, rest);
  char* const* environment = va_arg(rest, char* const*);
  va_end(rest);
  return execve(path, arguments, environment);
}

TMV_EXPORT int fexecve(int file, char* const* arguments, char* const* environment) {
  note(arguments[0] ? arguments[0] : "a program", environment);
  return static_cast<int>(syscall(SYS_execveat, file, "", arguments, environment, AT_EMPTY_PATH));
}

TMV_EXPORT int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                           const posix_spawnattr_t* attributes, char* const* arguments,
                           char* const* environment) {
  note(path, environment);
  return next<decltype(&posix_spawn)>("posix_spawn")(pid, path, actions, attributes, arguments, environment);
}

TMV_EXPORT int posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                            const posix_spawnattr_t* attributes, char* const* arguments,
                            char* const* environment) {
  note(file, environment);
  return next<decltype(&posix_spawnp)>("posix_spawnp")(pid, file, actions, attributes, arguments,
                                                       environment);
}
