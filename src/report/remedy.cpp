#include "report/remedy.h"

#include <string>

namespace torchmem {

namespace {

std::string library_note(const RunError& error) {
  const nlohmann::json detail = error.detail.value("detail", nlohmann::json::object());
  return detail.value("operator", "").starts_with("torchvision::")
             ? " (for torchvision it is torchvision/_C.so of the Python package)"
             : "";
}

std::string remedy_text(const RunError& error, bool is_scenario) {
  switch (error.remedy) {
    case Remedy::none:
      return "";
    case Remedy::choose_method:
      return is_scenario ? " Choose one with \"method\"." : " Choose one with --method NAME.";
    case Remedy::choose_loss:
      return is_scenario ? " Choose another with \"kind\", or another tensor with \"on\"."
                         : " Choose another with --loss, or another tensor with --loss-on.";
    case Remedy::give_library:
      return (is_scenario
                  ? "\nIt comes from an extension library, which scenarios cannot load; profile can, with "
                    "--library FILE.so"
                  : "\nIt comes from an extension library: give that library with --library FILE.so") +
             library_note(error) + ".";
  }
  return "";
}

}  // namespace

void add_remedy(RunError& error, Asked asked) {
  error.message += remedy_text(error, asked == Asked::by_scenario);
  error.remedy = Remedy::none;
}

}  // namespace torchmem
