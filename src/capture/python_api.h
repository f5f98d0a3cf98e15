#pragma once

namespace torchmem::capture {

using PythonObject = void;  // PyObject, PyFrameObject, PyCodeObject

// CPython's own functions (3.9 and later), found in the process by name. Nothing is linked, so a process
// without Python has none. "new" and "borrowed" are of the reference that comes back.
struct Python {
  int (*is_initialized)() = nullptr;
  int (*is_finalizing)() = nullptr;  // may be null
  PythonObject* (*this_thread)() = nullptr;
  int (*lock)() = nullptr;
  void (*unlock)(int) = nullptr;
  PythonObject* (*current_frame)() = nullptr;             // borrowed
  PythonObject* (*outer_frame)(PythonObject*) = nullptr;  // new
  PythonObject* (*code_of)(PythonObject*) = nullptr;      // new
  int (*line_of)(PythonObject*) = nullptr;
  PythonObject* (*attribute)(PythonObject*, const char*) = nullptr;  // new
  const char* (*utf8)(PythonObject*) = nullptr;
  void (*keep)(PythonObject*) = nullptr;
  void (*release)(PythonObject*) = nullptr;
  void (*clear_error)() = nullptr;
  int (*add_pending_call)(int (*)(void*), void*) = nullptr;
  PythonObject* (*error)() = nullptr;                                              // borrowed
  PythonObject* (*make_dictionary)() = nullptr;                                    // new
  PythonObject* (*run)(const char*, int, PythonObject*, PythonObject*) = nullptr;  // new
  PythonObject* (*item)(PythonObject*, const char*) = nullptr;                     // borrowed
  PythonObject* (*call)(PythonObject*, const char*, ...) = nullptr;                // new
  bool found = true;

  Python();
};

const Python& python();

// Whether the calling thread is one of Python's, and Python is not about to end: it would end a thread that
// asks for its lock then.
bool runs_python();

// The interpreter's lock; only where `runs_python`.
class PythonLock {
 public:
  PythonLock() : state_(python().lock()) {}
  ~PythonLock() { python().unlock(state_); }
  PythonLock(const PythonLock&) = delete;
  PythonLock& operator=(const PythonLock&) = delete;

 private:
  int state_;
};

}  // namespace torchmem::capture
