#include "capture/saves.h"

#include "capture/python_function.h"
#include "capture/saves_py.h"

namespace torchmem::capture {

std::string what_it_saves(std::uint64_t address) {
  static PythonFunction saves(saves_py, "saves");
  return saves.ask(address).value_or("");
}

}  // namespace torchmem::capture
