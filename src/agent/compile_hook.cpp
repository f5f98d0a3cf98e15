#include "agent/compile_hook.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

// Python's C interface is looked up by name, since a program need not have it. Its audit events are the only
// place from which the compiler can be seen to start, without changing anything that the program sees: its
// front is imported where a function is only decorated, and this part of it when the first one is compiled.
namespace torchmem::agent {
namespace {

struct Object;  // PyObject
using Hook = int (*)(const char* event, Object* arguments, void* user);

constexpr const char* compiler = "torch._inductor.codegen.cuda_combined_scheduling";

struct Python {
  int (*add_pending_call)(int (*)(void*), void*);
  int (*add_audit_hook)(Hook, void*);
  Object* (*tuple_item)(Object*, long);
  const char* (*text)(Object*);
  Object* (*modules)();
  Object* (*dictionary_item)(Object*, const char*);
  void (*clear_error)();
};
Python python;

template <class Function>
bool look_up(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

void leave_note() {
  const char* directory = std::getenv("TORCHMEM_RUN_DIR");
  char path[4096];
  if (directory == nullptr || std::snprintf(path, sizeof path, "%s/compiles-%ld", directory,
                                            static_cast<long>(getpid())) >= static_cast<int>(sizeof path))
    return;
  const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file >= 0) close(file);
}

int on_audit_event(const char* event, Object* arguments, void*) {
  if (std::strcmp(event, "import") != 0) return 0;
  Object* module = python.tuple_item(arguments, 0);
  const char* name = module == nullptr ? nullptr : python.text(module);
  if (name == nullptr)
    python.clear_error();
  else if (std::strcmp(name, compiler) == 0)
    leave_note();
  return 0;
}

// On Python's main thread, with its lock held.
int install_hook(void*) {
  Object* modules = python.modules();
  if (modules != nullptr && python.dictionary_item(modules, compiler) != nullptr) leave_note();
  if (python.add_audit_hook(on_audit_event, nullptr) != 0) python.clear_error();
  return 0;
}

}  // namespace

void hook_compilation() {
  if (look_up(python.add_pending_call, "Py_AddPendingCall") &&
      look_up(python.add_audit_hook, "PySys_AddAuditHook") && look_up(python.tuple_item, "PyTuple_GetItem") &&
      look_up(python.text, "PyUnicode_AsUTF8") && look_up(python.modules, "PyImport_GetModuleDict") &&
      look_up(python.dictionary_item, "PyDict_GetItemString") && look_up(python.clear_error, "PyErr_Clear")) {
    python.add_pending_call(install_hook, nullptr);
  }
}

}  // namespace torchmem::agent
