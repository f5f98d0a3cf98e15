// Turns facts as text into the index that the virtual GPU maps: vgpu_index_facts FACTS INDEX (at build time).
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "vgpu/workspaces/facts_text.h"

namespace {

using namespace torchmem::vgpu;

void write_index(FactsText facts, const char* path) {
  std::sort(facts.convolutions.begin(), facts.convolutions.end(), [](const auto& a, const auto& b) {
    return memcmp(&a.problem, &b.problem, sizeof a.problem) < 0;
  });
  std::sort(facts.named.begin(), facts.named.end(),
            [](const auto& a, const auto& b) { return strcmp(a.key, b.key) < 0; });
  FactsHeader header{};
  memcpy(header.magic, facts_magic, sizeof header.magic);
  strncpy(header.gpu, facts.gpu.c_str(), sizeof header.gpu - 1);
  header.cudnn_version = facts.cudnn_version;
  header.convolutions = static_cast<uint32_t>(facts.convolutions.size());
  header.named = static_cast<uint32_t>(facts.named.size());
  std::ofstream index(path, std::ios::binary | std::ios::trunc);
  auto write = [&](const void* data, size_t size) {
    index.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
  };
  write(&header, sizeof header);
  write(facts.convolutions.data(), facts.convolutions.size() * sizeof(ConvolutionFact));
  write(facts.named.data(), facts.named.size() * sizeof(NamedFact));
  index.close();
  if (!index) throw std::runtime_error(std::string("cannot write ") + path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: vgpu_index_facts FACTS INDEX\n");
    return 2;
  }
  try {
    std::ifstream text(argv[1]);
    if (!text) throw std::runtime_error("cannot open it");
    write_index(torchmem::vgpu::read_facts_text(text), argv[2]);
    return 0;
  } catch (const std::exception& error) {
    fprintf(stderr, "vgpu_index_facts: %s: %s\n", argv[1], error.what());
    return 2;
  }
}
