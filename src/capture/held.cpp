#include "capture/held.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "capture/held_py.h"
#include "capture/python_function.h"

namespace torchmem::capture {
namespace {

std::string_view take_until(char end, std::string_view& text) {
  const auto length = std::min(text.find(end), text.size());
  const auto part = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return part;
}

void read(std::string_view text, const TakeHeld& take) {
  while (!text.empty()) {
    std::string_view line = take_until('\n', text);
    const std::string_view number = take_until(' ', line);
    const std::string_view category = take_until(' ', line);
    std::uintptr_t address = 0;
    std::from_chars(number.data(), number.data() + number.size(), address);
    auto* tensor = reinterpret_cast<c10::TensorImpl*>(address);
    if (tensor == nullptr) continue;
    take(at::Tensor(c10::intrusive_ptr<c10::TensorImpl>::reclaim_copy(tensor)), category, line);
  }
}

void (*the_function)() = nullptr;

int tell_python(void*) {
  static PythonFunction call_at_exit(held_py, "call_at_exit");
  call_at_exit.tell(reinterpret_cast<std::uintptr_t>(the_function));
  return 0;
}

}  // namespace

void held_beside(const at::Tensor& tensor, const TakeHeld& take) {
  PythonObject* object = tensor.unsafeGetTensorImpl()->pyobj_slot()->load_pyobj();
  if (object == nullptr) return;
  static PythonFunction held(held_py, "held");
  held.ask(object, [&](std::string_view text) { read(text, take); });
}

void call_at_python_exit(void (*function)()) {
  the_function = function;
  if (python().found && python().is_initialized() != 0) python().add_pending_call(tell_python, nullptr);
}

void held_at_exit(const TakeHeld& take) {
  static PythonFunction held(held_py, "held_at_exit");
  held.ask([&](std::string_view text) { read(text, take); });
}

}  // namespace torchmem::capture
