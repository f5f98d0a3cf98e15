#pragma once

#include <caffe2/serialize/read_adapter_interface.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace torchmem::engine {

// A TorchScript archive whose large tensor records (data/*, constants/*, stored, above 64 KiB) are never
// read: the destination is left as it is, so that weights cost neither disk reads nor resident memory. Small
// records are read as they are, because values that a model looks at (indices, masks) are small. For devices
// whose memory holds nothing, and for looking at a model.
class WeightlessFile : public caffe2::serialize::ReadAdapterInterface {
 public:
  // Throws std::exception if the file is no archive.
  explicit WeightlessFile(const std::string& path);

  std::size_t size() const override;
  std::size_t read(std::uint64_t position, void* buffer, std::size_t bytes, const char* what) const override;

  // Bytes of tensor records that are passed over.
  std::uint64_t skipped_bytes() const;

 private:
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
  };
  std::shared_ptr<caffe2::serialize::ReadAdapterInterface> file_;
  std::vector<Range> skipped_;  // ascending
};

}  // namespace torchmem::engine
