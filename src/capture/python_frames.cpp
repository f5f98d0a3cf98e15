#include "capture/python_frames.h"

#include <cstring>
#include <utility>
#include <vector>

#include "capture/python_api.h"

namespace torchmem::capture {
namespace {

constexpr std::size_t most_frames = 64;

using Object = PythonObject;

struct Site {
  Object* code;
  int line;
};

// Each with a reference to its code object.
std::vector<Site> sites_of_this_thread() {
  std::vector<Site> sites;
  Object* frame = python().current_frame();
  if (frame != nullptr) python().keep(frame);
  while (frame != nullptr && sites.size() < most_frames) {
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
  if (!runs_python()) return false;
  const PythonLock lock;
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
