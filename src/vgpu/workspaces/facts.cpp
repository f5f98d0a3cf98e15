#include "vgpu/workspaces/facts.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace torchmem::vgpu {

Facts::~Facts() {
  if (header_) munmap(const_cast<FactsHeader*>(header_), size_);
}

bool Facts::open(const char* path) {
  int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  struct stat status {};
  void* memory = MAP_FAILED;
  if (fstat(file, &status) == 0 && static_cast<size_t>(status.st_size) >= sizeof(FactsHeader))
    memory = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  ::close(file);
  if (memory == MAP_FAILED) return false;
  auto* header = static_cast<const FactsHeader*>(memory);
  auto size = static_cast<size_t>(status.st_size);
  if (memcmp(header->magic, facts_magic, sizeof facts_magic) != 0 ||
      size != sizeof(FactsHeader) + header->convolutions * sizeof(ConvolutionFact) +
                  header->named * sizeof(NamedFact)) {
    munmap(memory, size);
    return false;
  }
  header_ = header;
  size_ = size;
  convolutions_ = reinterpret_cast<const ConvolutionFact*>(header + 1);
  named_ = reinterpret_cast<const NamedFact*>(convolutions_ + header->convolutions);
  return true;
}

const ConvolutionFact* Facts::find(const ConvolutionProblem& problem) const {
  Range all = convolutions();
  auto* at = std::lower_bound(all.first, all.last, problem, [](const auto& fact, const auto& wanted) {
    return memcmp(&fact.problem, &wanted, sizeof wanted) < 0;
  });
  return at != all.last && memcmp(&at->problem, &problem, sizeof problem) == 0 ? at : nullptr;
}

const NamedFact* Facts::find(const char* key) const {
  if (!header_) return nullptr;
  auto* last = named_ + header_->named;
  auto* at = std::lower_bound(named_, last, key, [](const NamedFact& fact, const char* wanted) {
    return strcmp(fact.key, wanted) < 0;
  });
  return at != last && strcmp(at->key, key) == 0 ? at : nullptr;
}

Facts::Range Facts::with_first_bytes_of(const ConvolutionProblem& problem, size_t bytes) const {
  Range all = convolutions();
  auto before = [bytes](const auto& fact, const auto& wanted) {
    return memcmp(&fact.problem, &wanted, bytes) < 0;
  };
  auto after = [bytes](const auto& wanted, const auto& fact) {
    return memcmp(&wanted, &fact.problem, bytes) < 0;
  };
  auto* first = std::lower_bound(all.first, all.last, problem, before);
  return {first, std::upper_bound(first, all.last, problem, after)};
}

Facts::Range Facts::class_of(const ConvolutionProblem& problem) const {
  return with_first_bytes_of(problem, ConvolutionProblem::class_bytes);
}

Facts::Range Facts::geometry_of(const ConvolutionProblem& problem) const {
  return with_first_bytes_of(problem, ConvolutionProblem::geometry_bytes);
}

Facts::Range Facts::convolutions() const {
  if (!header_) return {nullptr, nullptr};
  return {convolutions_, convolutions_ + header_->convolutions};
}

Facts::NamedRange Facts::starting_with(const char* prefix) const {
  if (!header_) return {nullptr, nullptr};
  size_t length = strlen(prefix);
  auto* last = named_ + header_->named;
  auto* first = std::lower_bound(named_, last, prefix, [](const NamedFact& fact, const char* wanted) {
    return strcmp(fact.key, wanted) < 0;
  });
  auto* end = std::find_if(first, last,
                           [&](const NamedFact& fact) { return strncmp(fact.key, prefix, length) != 0; });
  return {first, end};
}

}  // namespace torchmem::vgpu
