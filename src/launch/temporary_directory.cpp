#include "launch/temporary_directory.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "torchmem/error.h"

namespace torchmem {

TemporaryDirectory::TemporaryDirectory(bool plain_name) {
  const char* given = plain_name ? nullptr : std::getenv("TMPDIR");
  std::string name = std::string(given && *given ? given : "/tmp") + "/torchmem-XXXXXX";
  if (!mkdtemp(name.data())) {
    throw Error(ErrorKind::unavailable, "cannot make a temporary folder " + name + ": " +
                                            std::strerror(errno) +
                                            ".\nSet TMPDIR to a folder that can be written.");
  }
  path_ = std::filesystem::absolute(name);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace torchmem
