#include "capture/python_frames.h"

#include <dlfcn.h>

#include <cstring>
#include <utility>
#include <vector>

namespace torchmem::capture {
namespace {

constexpr std::size_t kMostFrames = 64;

using Object = void;  // PyObject, PyFrameObject, PyCodeObject

struct Python {
  int (*is_initialized)() = nullptr;
  Object* (*this_thread)() = nullptr;
  int (*lock)() = nullptr;
  void (*unlock)(int) = nullptr;
  Object* (*current_frame)() = nullptr;       // borrowed
  Object* (*outer_frame)(Object*) = nullptr;  // new
  Object* (*code_of)(Object*) = nullptr;      // new
  int (*line_of)(Object*) = nullptr;
  Object* (*attribute)(Object*, const char*) = nullptr;  // new
  const char* (*utf8)(Object*) = nullptr;
  void (*keep)(Object*) = nullptr;
  void (*release)(Object*) = nullptr;
  void (*clear_error)() = nullptr;
  bool found = true;

  Python() {
    find(is_initialized, "Py_IsInitialized");
    find(this_thread, "PyGILState_GetThisThreadState");
    find(lock, "PyGILState_Ensure");
    find(unlock, "PyGILState_Release");
    find(current_frame, "PyEval_GetFrame");
    find(outer_frame, "PyFrame_GetBack");
    find(code_of, "PyFrame_GetCode");
    find(line_of, "PyFrame_GetLineNumber");
    find(attribute, "PyObject_GetAttrString");
    find(utf8, "PyUnicode_AsUTF8");
    find(keep, "Py_IncRef");
    find(release, "Py_DecRef");
    find(clear_error, "PyErr_Clear");
  }

 private:
  template <class Function>
  void find(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
    found = found && function != nullptr;
  }
};

const Python& python() {
  static const Python instance;
  return instance;
}

class Lock {
 public:
  Lock() : state_(python().lock()) {}
  ~Lock() { python().unlock(state_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int state_;
};

struct Site {
  Object* code;
  int line;
};

/// Each with a reference to its code object.
std::vector<Site> sites_of_this_thread() {
  std::vector<Site> sites;
  Object* frame = python().current_frame();
  if (frame != nullptr) python().keep(frame);
  while (frame != nullptr && sites.size() < kMostFrames) {
    sites.push_back({python().code_of(frame), python().line_of(frame)});
    Object* outer = python().outer_frame(frame);
    python().release(frame);
    frame = outer;
  }
  if (frame != nullptr) python().release(frame);
  return sites;
}

std::string text_of(Object* code, const char* name) {
  Object* value = python().attribute(code, name);
  const char* text = value == nullptr ? nullptr : python().utf8(value);
  std::string copy = text == nullptr ? "" : text;
  if (value != nullptr) python().release(value);
  if (text == nullptr) python().clear_error();
  return copy;
}

}  // namespace

bool python_stack(std::string& key, const std::function<bool(const std::string&)>& is_known, Stack& frames) {
  if (!python().found || !python().is_initialized() || python().this_thread() == nullptr) return false;
  const Lock lock;
  const auto sites = sites_of_this_thread();
  if (sites.empty()) return false;
  for (const auto& site : sites) {
    char bytes[sizeof site.code + sizeof site.line];
    std::memcpy(bytes, &site.code, sizeof site.code);
    std::memcpy(bytes + sizeof site.code, &site.line, sizeof site.line);
    key.append(bytes, sizeof bytes);
  }
  if (is_known(key)) {
    for (const auto& site : sites) python().release(site.code);
    return true;
  }
  // The references to the code objects are kept: what a key says must stay true.
  for (const auto& site : sites) {
    frames.push_back({text_of(site.code, "co_filename"), static_cast<std::uint64_t>(site.line),
                      text_of(site.code, "co_name")});
  }
  return true;
}

}  // namespace torchmem::capture
