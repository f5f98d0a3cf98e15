#include "engine/inspect.h"

#include "engine/archive.h"
#include "engine/device.h"
#include "engine/model.h"

namespace torchmem::engine {

void run_inspect(const RunRequest& request, capture::StreamWriter& writer) {
  const ArchiveFacts archive = check_archive(request.model);
  load_libraries(request.libraries);
  const auto missing = missing_operators(request.model);
  writer.facts({{"model",
                 {{"path", request.model},
                  {"file_bytes", archive.file_bytes},
                  {"format_version", archive.format_version},
                  {"missing_operators", missing}}}});
  const auto model = load_torchscript(request, c10::Device(c10::DeviceType::CPU), /*weightless=*/true);
  writer.facts({{"model", model->description()}});
}

}  // namespace torchmem::engine
