#include "peer_process.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace torchmem::vgpu::nccl {

uint64_t process_start(pid_t process) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%ld/stat", static_cast<long>(process));
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[1024];
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return 0;
  text[length] = '\0';
  // "pid (name) state ...": the name may have blanks and brackets. The start is the 22nd, the state the 3rd.
  const char* at = std::strrchr(text, ')');
  if (!at || std::strlen(at) < 3) return 0;
  at += 2;
  if (*at == 'Z' || *at == 'X') return 0;
  for (int field = 3; field < 22 && at; ++field) {
    at = std::strchr(at, ' ');
    if (at) ++at;
  }
  return at ? std::strtoull(at, nullptr, 10) : 0;
}

void say(const char* format, ...) {
  char line[1024] = "torchmem: ";
  const size_t begin = std::strlen(line);
  va_list arguments;
  va_start(arguments, format);
  int length = std::vsnprintf(line + begin, sizeof line - begin - 1, format, arguments);
  va_end(arguments);
  if (length < 0) return;
  size_t end = std::strlen(line);
  line[end++] = '\n';
  ssize_t put = write(STDERR_FILENO, line, end);
  (void)put;
}

}  // namespace torchmem::vgpu::nccl
