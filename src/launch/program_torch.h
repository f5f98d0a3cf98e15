// Which PyTorch a program will use, told before it is started and without importing it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace torchmem {

// A Python interpreter that a program runs in.
struct Interpreter {
  std::string path;
  bool is_certain =
      false;           // the program is Python; otherwise it may start this interpreter, or another, or none
  std::string script;  // the script that it runs, if known: its folder is searched for modules
};

struct ProgramTorch {
  std::string path;     // of its folder
  std::string version;  // "2.11.0+cu130"
  std::string cuda;     // "13.0"; empty for a build without CUDA
};

// The interpreter of a program with its arguments: itself when it is python, the one that its first line (#!)
// names, else the python3 in PATH; nothing when there is none.
std::optional<Interpreter> find_interpreter(const std::vector<std::string>& program);

// The torch that this interpreter imports; nothing when it has none or cannot be asked.
std::optional<ProgramTorch> find_torch(const Interpreter& interpreter);

// The file that a program's name stands for, as the shell finds it; empty when there is none.
std::string find_in_path(const std::string& name);

}  // namespace torchmem
