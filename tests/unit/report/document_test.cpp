#include "report/document.h"

#include <gtest/gtest.h>

#include "report/comparison.h"
#include "report/shortage.h"
#include "torchmem/advice.h"
#include "torchmem/diff.h"
#include "torchmem/report.h"

namespace torchmem {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Document example() {
  Document document("A & B");
  document.add_heading("Owners of <model>");
  document.add_text("");
  document.add_important("not *so*");
  document.add_list({"a_b", "<c>"});
  Table table({{.title = "who", .kind = TableColumn::Kind::name}, {.title = "bytes"}});
  document.add_table(table);
  table.add_title("part");
  table.add_text("only in text\n");
  table.add({"<d>", bytes_cell(2048)});
  document.add_table(table);
  return document;
}

TEST(Document, MarkdownHasBlocksWithALineBetween) {
  EXPECT_EQ(example().markdown(),
            "### Owners of &lt;model&gt;\n\n**not \\*so\\***\n\n- a\\_b\n- &lt;c&gt;\n\n"
            "| who | bytes |\n|:---|---:|\n| **part** |  |\n| &lt;d&gt; | 2.00 KiB |\n");
}

TEST(Document, PageHasNoScriptAndReadsNothingAsMarkup) {
  const std::string page = example().html();
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(has(page, "<title>A &amp; B</title>"));
  EXPECT_TRUE(has(page, "<h2>Owners of &lt;model&gt;</h2>\n<p class=\"important\">not *so*</p>"));
  EXPECT_TRUE(has(page, "<li>&lt;c&gt;</li>"));
  EXPECT_TRUE(has(page, "<tr class=\"title\"><td class=\"why\" colspan=\"2\">part</td></tr>"));
  EXPECT_FALSE(has(page, "only in text"));
  EXPECT_FALSE(has(page, "<script"));
}

VariantResult trial(const std::string& name, uint64_t allocated) {
  VariantResult made;
  made.name = name;
  made.allocated = allocated;
  made.reserved = 2 * allocated;
  return made;
}

TEST(Document, AdviceHasEveryLeverWithItsCode) {
  Advice advice;
  advice.base = trial("base", 1000 << 20);
  LeverResult saves{
      "autocast", "less precision", "with torch.autocast():", "", {}, trial("autocast=bf16", 600 << 20)};
  LeverResult harms{"precision", "", "", "", {}, trial("dtype=f64", 2000 << 20)};
  LeverResult none{"sdpa", "", "", "there is no attention", {}, trial("sdpa=flash", 0)};
  advice.levers = {saves, harms, none};
  advice.goal = Goal{500 << 20, std::nullopt, 3};
  torchmem::Run run;
  run.info.model.path = "<m>.pt";
  const std::string text = advice_markdown(advice, run);
  EXPECT_TRUE(has(text, "| autocast=bf16 | 600.00 MiB | -400.00 MiB |")) << text;
  EXPECT_TRUE(has(text, "| **it costs more with** |  |  |  |  |\n| dtype=f64 |")) << text;
  EXPECT_TRUE(has(text, "- with torch.autocast():\n- cost: less precision\n")) << text;
  EXPECT_TRUE(has(text, "- sdpa=flash: there is no attention\n")) << text;
  EXPECT_TRUE(has(text, "- not reached: none of the 3 sets")) << text;
  EXPECT_TRUE(has(advice_html(advice, run), "<h1>What lowers the peak of &lt;m&gt;.pt</h1>"));
}

TEST(Document, ComparisonIsAPage) {
  std::vector<RunResult> outcomes(2);
  outcomes[0].name = "train";
  outcomes[1].name = "<no_grad>";
  for (RunResult& outcome : outcomes) {
    outcome.peak.emplace();
    outcome.peak->allocated = 4096;
  }
  const std::string page = comparison_html(outcomes);
  EXPECT_TRUE(has(page, "&lt;no_grad&gt;</td><td title=\"4,096 B\">4.00 KiB</td>")) << page;
  EXPECT_TRUE(has(page, "<td>1.00</td>")) << page;
}

TEST(Shortage, AdviceIsInVainWhereLittleWasUnallocated) {
  const std::string start =
      "CUDA out of memory. Tried to allocate 20.00 MiB. Of the allocated memory 1.00 GiB is allocated by "
      "PyTorch, and ";
  const std::string end = " is reserved by PyTorch but unallocated.";
  const std::string advice =
      " If reserved but unallocated memory is large try setting X.  See documentation for Memory "
      "Management  (https://y)";
  for (const char* little : {"0 bytes", "512.00 KiB", "1.99 MiB"})
    EXPECT_EQ(without_vain_advice(start + little + end + advice), start + little + end);
  for (const char* much : {"2.00 MiB", "1.00 GiB"})
    EXPECT_EQ(without_vain_advice(start + much + end + advice), start + much + end + advice);
  EXPECT_EQ(without_vain_advice(start + "0 bytes" + end + advice + "\nmore"),
            start + "0 bytes" + end + "\nmore");
  for (const char* other : {"", "CUDA out of memory", " is reserved by PyTorch but unallocated"})
    EXPECT_EQ(without_vain_advice(other), other);
}

}  // namespace
}  // namespace torchmem
