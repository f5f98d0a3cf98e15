#include "run/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace torchmem {

namespace {

[[noreturn]] void throw_errno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

// Closes and removes the half-written file when leaving early.
struct Unfinished {
  int file;
  std::string path;
  ~Unfinished() {
    if (file >= 0) close(file);
    if (!path.empty()) unlink(path.c_str());
  }
};

mode_t default_mode() {
  mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw_errno("open " + path.string());
  struct stat status {};
  if (fstat(file, &status) != 0) {
    int error = errno;
    close(file);
    throw std::system_error(error, std::generic_category(), "read " + path.string());
  }
  size_ = static_cast<size_t>(status.st_size);
  if (S_ISREG(status.st_mode) && size_ > 0) {
    void* data = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    if (data == MAP_FAILED) {
      int error = errno;
      close(file);
      throw std::system_error(error, std::generic_category(), "map " + path.string());
    }
    data_ = static_cast<const char*>(data);
  } else {
    size_ = 0;
  }
  close(file);
}

MappedFile::~MappedFile() {
  if (data_) munmap(const_cast<char*>(data_), size_);
}

void write_file_whole(const std::filesystem::path& path, std::string_view text) {
  // A device or pipe (/dev/stdout, /dev/null) cannot be renamed onto: write through it.
  std::error_code ignored;
  auto status = std::filesystem::status(path, ignored);
  bool in_place = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  // Through a symbolic link: the file that it points to is replaced, not the link.
  std::filesystem::path target =
      std::filesystem::is_symlink(path, ignored) ? std::filesystem::weakly_canonical(path, ignored) : path;
  std::string beside = in_place ? path.string() : target.string() + ".XXXXXX";
  int file = in_place ? open(path.c_str(), O_WRONLY | O_CLOEXEC) : mkstemp(beside.data());
  if (file < 0) throw_errno("write " + path.string());
  Unfinished unfinished{file, in_place ? std::string() : beside};
  for (size_t written = 0; written < text.size();) {
    ssize_t count = write(file, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_errno("write " + path.string());
    written += static_cast<size_t>(count);
  }
  if (in_place) return;
  if (fchmod(file, default_mode()) != 0) throw_errno("write " + path.string());
  unfinished.file = -1;
  if (close(file) != 0) throw_errno("write " + path.string());
  if (rename(beside.c_str(), target.c_str()) != 0) throw_errno("write " + path.string());
  unfinished.path.clear();
}

}  // namespace torchmem
