#include "report/table.h"

#include <gtest/gtest.h>

namespace torchmem {
namespace {

using Kind = TableColumn::Kind;

Table names(const std::string& name) {
  Table table({{.title = "who", .kind = Kind::name, .width = 8, .least = 12},
               {.title = "bytes", .width = 13},
               {.title = "own", .width = 13, .is_optional = true}});
  table.add({name, bytes_cell(2048), bytes_cell(std::nullopt)}).mark = "new";
  table.add_note("and so on");
  return table;
}

TextStyle terminal(size_t width) {
  TextStyle style;
  style.width = width;
  style.cuts = true;
  return style;
}

TEST(Table, TextIsInColumns) {
  EXPECT_EQ(names("a").text({}),
            "who             bytes          own\n"
            "a            2.00 KiB            -  new\n"
            "  and so on\n");
}

TEST(Table, ColumnsGiveWayWhereTheyMust) {
  const std::string name = "a_name_of_22_characters";
  auto head = [&](const TextStyle& style) {
    std::string text = names(name).text(style);
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(head({}), "who                            bytes          own");
  // The name to its least, then the gaps, then a column; with room for what stands behind the row.
  EXPECT_EQ(head(terminal(40)), "who                 bytes       own");
  EXPECT_EQ(head(terminal(30)), "who             bytes own");
  EXPECT_EQ(head(terminal(24)), "who           bytes");
}

TEST(Table, WordsHaveLinesOfTheirOwn) {
  Table table({{.title = "variant", .kind = Kind::words, .width = 10}, {.title = "bytes", .width = 9}});
  table.add({"short", bytes_cell(1)});
  table.add({"longer_than_that", bytes_cell(2)});
  table.add({"none"}).below = "  it failed\n";
  EXPECT_EQ(table.text({}),
            "variant       bytes\n"
            "short           1 B\n"
            "longer_than_that\n"
            "                2 B\n"
            "none\n"
            "  it failed\n");
}

TEST(Table, NamesAreNoMarkup) {
  Table table({{.title = "who", .kind = Kind::name}, {.title = "bytes"}});
  table.add({"<b>|*x*", bytes_cell(5000)});
  EXPECT_EQ(table.markdown(),
            "| who | bytes |\n"
            "|:---|---:|\n"
            "| &lt;b&gt;\\|\\*x\\* | 4.88 KiB |\n");
  EXPECT_EQ(table.html(),
            "<table>\n<tr><th class=\"why\">who</th><th>bytes</th></tr>\n"
            "<tr><td class=\"why\">&lt;b&gt;|*x*</td><td title=\"5,000 B\">4.88 KiB</td></tr>\n</table>\n");
}

}  // namespace
}  // namespace torchmem
