#include "report/html_data.h"
#include "report/html_page.h"
#include "torchmem/report.h"

namespace torchmem {

std::string html_report(const Run& run, const std::string& name, std::optional<int32_t> device) {
  // What models and programs call their parts may be no UTF-8.
  std::string data =
      html_data(run, name, device).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string page(html_page_start);
  page.reserve(page.size() + data.size() + html_page_end.size() + 4096);
  // No name may end the element that the data is in, nor open a comment there.
  for (char c : data) {
    if (c == '<') {
      page += "\\u003c";
    } else {
      page += c;
    }
  }
  return page += html_page_end;
}

}  // namespace torchmem
