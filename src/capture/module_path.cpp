#include "capture/module_path.h"

namespace torchmem::capture {
namespace {

// The part's name for a part of a module, e.g. "0" of "0(Linear)::forward"; empty for the root (TOP), a
// module's call of its own method (SELF) and a function (CALL_FUNCTION).
std::string step_name(const std::string& part) {
  const auto parenthesis = part.find('(');
  const std::string name = part.substr(0, parenthesis);
  if (parenthesis == std::string::npos || name == "TOP" || name == "SELF" ||
      name.rfind("CALL_FUNCTION", 0) == 0)
    return "";
  return name;
}

}  // namespace

std::string module_path(const std::vector<std::string>& hierarchy) {
  std::string path;
  std::string type;
  for (const auto& part : hierarchy) {
    const std::string name = step_name(part);
    if (name.empty()) continue;
    path += (path.empty() ? "" : ".") + name;
    const auto begin = part.find('(') + 1;
    type = part.substr(begin, part.find(')', begin) - begin);
  }
  return path.empty() ? "" : path + " (" + type + ")";
}

}  // namespace torchmem::capture
