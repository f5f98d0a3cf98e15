#include "capture/python_api.h"

#include <dlfcn.h>

namespace torchmem::capture {
namespace {

template <class Function>
bool find(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

}  // namespace

Python::Python() {
  if (!find(is_finalizing, "Py_IsFinalizing")) find(is_finalizing, "_Py_IsFinalizing");  // before 3.13
  found = find(is_initialized, "Py_IsInitialized") && find(this_thread, "PyGILState_GetThisThreadState") &&
          find(lock, "PyGILState_Ensure") && find(unlock, "PyGILState_Release") &&
          find(current_frame, "PyEval_GetFrame") && find(outer_frame, "PyFrame_GetBack") &&
          find(code_of, "PyFrame_GetCode") && find(line_of, "PyFrame_GetLineNumber") &&
          find(attribute, "PyObject_GetAttrString") && find(utf8, "PyUnicode_AsUTF8") &&
          find(keep, "Py_IncRef") && find(release, "Py_DecRef") && find(clear_error, "PyErr_Clear") &&
          find(error, "PyErr_Occurred") && find(make_dictionary, "PyDict_New") && find(run, "PyRun_String") &&
          find(item, "PyDict_GetItemString") && find(call, "PyObject_CallFunction") &&
          find(add_pending_call, "Py_AddPendingCall");
}

const Python& python() {
  static const Python instance;
  return instance;
}

bool runs_python() {
  return python().found && python().is_initialized() &&
         (python().is_finalizing == nullptr || !python().is_finalizing()) &&
         python().this_thread() != nullptr;
}

}  // namespace torchmem::capture
