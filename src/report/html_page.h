// The page of the HTML report without its data, from src/report/html; made by scripts/make_html_page.py as
// the programs are built.
#pragma once

#include <string_view>

namespace torchmem {

extern const std::string_view html_page_start;
extern const std::string_view html_page_end;

}  // namespace torchmem
