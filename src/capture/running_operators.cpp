#include "capture/running_operators.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

namespace torchmem::capture {
namespace {

constexpr std::size_t deepest = 256;

// "to_dtype" of at::_ops::to_dtype::call(...), as the compiler writes it; empty of other functions.
std::string_view structure_of(std::string_view symbol) {
  constexpr std::string_view begin = "_ZN2at4_ops";
  constexpr std::string_view call = "4call";
  if (!symbol.starts_with(begin)) return {};
  symbol.remove_prefix(begin.size());
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(symbol.data(), symbol.data() + symbol.size(), length);
  if (error != std::errc()) return {};
  symbol.remove_prefix(static_cast<std::size_t>(end - symbol.data()));
  if (length > symbol.size() || !symbol.substr(length).starts_with(call)) return {};
  return symbol.substr(0, length);
}

// Such a structure is named after an operator and its overload, "to" and "dtype"; both may have underscores.
std::optional<std::string> operator_of(std::string_view structure) {
  for (auto end = structure.size(); end != std::string_view::npos && end > 0;
       end = structure.rfind('_', end - 1)) {
    const std::string name = "aten::" + std::string(structure.substr(0, end));
    const std::string overload(structure.substr(std::min(end + 1, structure.size())));
    if (c10::Dispatcher::singleton().findSchema({name, overload})) return name;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> running_operators() {
  std::array<void*, deepest> frames{};
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  std::vector<std::string> operators;
  for (int i = count; i-- > 0;) {
    Dl_info info{};
    if (dladdr(frames[static_cast<std::size_t>(i)], &info) == 0 || info.dli_sname == nullptr) continue;
    const auto structure = structure_of(info.dli_sname);
    if (structure.empty()) continue;
    if (auto name = operator_of(structure)) operators.push_back(std::move(*name));
  }
  return operators;
}

}  // namespace torchmem::capture
