#include "launch/program_torch.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "launch/child_process.h"

namespace torchmem {

namespace fs = std::filesystem;

namespace {

// Finds torch as an import would, and reads the text of its version.py.
constexpr const char* question = R"(
import importlib.util, json, os, re, sys
script = sys.argv[1]
sys.path[0:1] = [os.path.dirname(os.path.realpath(script))] if script else ['']
found = importlib.util.find_spec('torch')
folder = os.path.dirname(found.origin) if found and found.origin else ''
answer = {}
if folder:
    text = open(os.path.join(folder, 'version.py')).read()
    def fact(name):
        value = re.search(r'^' + name + r'\b[^=\n]*=\s*[\'"]([^\'"]*)', text, re.M)
        return value.group(1) if value else ''
    answer = {'path': folder, 'version': fact('__version__'), 'cuda': fact('cuda')}
print(json.dumps(answer))
)";

bool is_executable(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

bool is_python(const std::string& path) {
  std::string name = fs::path(path).filename().string();
  return name.starts_with("python") || name.starts_with("pypy");
}

// The interpreter that a script's first line names: "#!/usr/bin/env -S python3 -u" names python3.
std::string shebang_python(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string line(256, '\0');
  in.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<size_t>(in.gcount()));
  line = line.substr(0, line.find('\n'));
  if (!line.starts_with("#!")) return "";
  std::istringstream words(line.substr(2));
  std::string word;
  words >> word;
  if (fs::path(word).filename() == "env") {
    while (words >> word && (word.starts_with('-') || word.find('=') != std::string::npos)) {
    }
  }
  return is_python(word) ? find_in_path(word) : "";
}

// The script among an interpreter's arguments: the first that is no option, unless -c or -m says otherwise.
std::string script_of(const std::vector<std::string>& program) {
  for (size_t i = 1; i < program.size(); ++i) {
    const std::string& argument = program[i];
    if (argument == "-c" || argument == "-m") return "";
    if (argument == "-W" || argument == "-X") {
      ++i;
      continue;
    }
    if (!argument.starts_with('-')) return argument;
  }
  return "";
}

// What a program prints, nothing when it fails.
std::optional<std::string> output_of(const std::vector<std::string>& arguments) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  pid_t child = 0;
  int error = posix_spawn(&child, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string output;
  char buffer[4096];
  for (ssize_t count; error == 0 && (count = read(ends[0], buffer, sizeof buffer)) > 0;) {
    output.append(buffer, static_cast<size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  if (error != 0 || waitpid(child, &status, 0) < 0 || status != 0) return std::nullopt;
  return output;
}

}  // namespace

std::string find_in_path(const std::string& name) {
  if (name.find('/') != std::string::npos) return is_executable(name) ? name : "";
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    fs::path candidate = fs::path(folder.empty() ? "." : folder) / name;
    if (is_executable(candidate)) return candidate.string();
  }
  return "";
}

std::optional<Interpreter> find_interpreter(const std::vector<std::string>& program) {
  std::string path = find_in_path(program.at(0));
  if (is_python(program[0]) && !path.empty()) return Interpreter{path, true, script_of(program)};
  if (std::string python = path.empty() ? "" : shebang_python(path); !python.empty()) {
    return Interpreter{python, true, path};
  }
  std::string python = find_in_path("python3");
  if (python.empty()) return std::nullopt;
  return Interpreter{python, false, ""};
}

std::optional<ProgramTorch> find_torch(const Interpreter& interpreter) {
  std::optional<std::string> output = output_of({interpreter.path, "-c", question, interpreter.script});
  if (!output) return std::nullopt;
  nlohmann::json answer = nlohmann::json::parse(*output, nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object() || !answer.contains("path")) return std::nullopt;
  return ProgramTorch{answer.value("path", ""), answer.value("version", ""), answer.value("cuda", "")};
}

}  // namespace torchmem
