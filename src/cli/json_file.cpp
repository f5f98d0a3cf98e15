#include "cli/json_file.h"

#include <fstream>

#include "torchmem/error.h"

namespace torchmem::cli {

nlohmann::json read_json_file(const std::string& path, const std::string& what) {
  std::ifstream in(path);
  if (!in) throw Error(ErrorKind::bad_input, what + " " + path + ": it cannot be read");
  try {
    return nlohmann::json::parse(in);
  } catch (const nlohmann::json::parse_error& error) {
    throw Error(ErrorKind::bad_input, what + " " + path + ": it is not JSON: " + error.what());
  }
}

}  // namespace torchmem::cli
