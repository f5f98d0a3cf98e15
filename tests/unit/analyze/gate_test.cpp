#include "torchmem/gate.h"

#include <gtest/gtest.h>

#include "error_of.h"
#include "report/gate_json.h"

namespace torchmem {
namespace {

using nlohmann::json;

Tolerance tolerance(const char* text) { return parse_tolerance(text, "--tolerance"); }

TEST(Tolerance, IsWholeBytesRoundedDown) {
  EXPECT_EQ(allowed_bytes(1000, tolerance("1%")), 1010u);
  EXPECT_EQ(allowed_bytes(1099, tolerance("1%")), 1109u);  // 10.99 more is 10
  EXPECT_EQ(allowed_bytes(1100, tolerance("1%")), 1111u);
  EXPECT_EQ(allowed_bytes(2000, tolerance("0.05%")), 2001u);
  EXPECT_EQ(allowed_bytes(1999, tolerance("0.05%")), 1999u);
  EXPECT_EQ(allowed_bytes(1000, tolerance("12.5%")), 1125u);
  EXPECT_EQ(allowed_bytes(7, tolerance("16MiB")), 7u + (16u << 20));
  EXPECT_EQ(allowed_bytes(1000, tolerance("0")), 1000u);
  EXPECT_EQ(allowed_bytes(1000, tolerance("0.0")), 1000u);
  EXPECT_EQ(allowed_bytes(1000, tolerance("7B")), 1007u);
  EXPECT_EQ(allowed_bytes(1000, tolerance("1.5 KiB")), 2536u);
  EXPECT_EQ(allowed_bytes(1000, tolerance("0%")), 1000u);
  EXPECT_EQ(allowed_bytes(1000, tolerance("100%")), 2000u);
  // Past what a double holds exactly, and past 64 bits.
  EXPECT_EQ(allowed_bytes(9'007'199'254'740'993, tolerance("1%")), 9'097'271'247'288'402u);
  EXPECT_EQ(allowed_bytes(UINT64_MAX - 1, tolerance("50%")), UINT64_MAX);
}

TEST(Tolerance, MistakesAreSaid) {
  for (const char* text : {"%", "1.2.3%", "-1%", "1%%", "x", "", "1 %%", "9999999999999999%", "100", "1.5",
                           "1.5B", "0.5 b", "100 "})
    EXPECT_THROW(tolerance(text), Error) << text;
}

GateNumbers numbers(uint64_t allocated) {
  GateNumbers numbers;
  numbers.peak = {allocated, 2 * allocated, {}};
  numbers.categories = {{"activations", allocated - 100}, {"parameters", 100}};
  numbers.modules = {{"layer1", allocated - 100}, {"", 100}};
  numbers.phases = {{"load", {100, {}, {}}},
                    {"forward:0", {allocated - 7, {}, {}}},
                    {"forward:1", {allocated, {}, {}}},
                    {"forward:10", {3, {}, {}}}};
  return numbers;
}

const GateSubject peak_allocated = {GateSubject::Scope::run, "", Metric::allocated};

// At the exact edge, and one byte either side of it.
TEST(Gate, TheEdgeIsExact) {
  const GateNumbers baseline = numbers(1000);
  for (auto [measured, passes] : {std::pair{1009u, true}, {1010u, true}, {1011u, false}}) {
    auto checks = check_gate({peak_allocated}, numbers(measured), &baseline, tolerance("1%"), std::nullopt);
    ASSERT_EQ(checks.size(), 1u);
    EXPECT_EQ(checks[0].passed(), passes) << measured;
    EXPECT_EQ(checks[0].allowed, 1010u);
  }
  for (auto [measured, passes] : {std::pair{1009u, true}, {1010u, true}, {1011u, false}}) {
    auto checks = check_gate({peak_allocated}, numbers(measured), nullptr, {}, 1010);
    EXPECT_EQ(checks[0].passed(), passes) << measured;
    EXPECT_FALSE(checks[0].baseline);
  }
}

// Reversed: what grew one way shrank the other.
TEST(Gate, LessIsNoFailure) {
  const GateNumbers less = numbers(1000);
  const GateNumbers more = numbers(1001);
  EXPECT_FALSE(check_gate({peak_allocated}, more, &less, {}, {})[0].passed());
  EXPECT_TRUE(check_gate({peak_allocated}, less, &more, {}, {})[0].passed());
}

TEST(Gate, PhasesAndCategories) {
  auto bytes = [](const GateSubject& subject) {
    return check_gate({subject}, numbers(1000), nullptr, {}, 0)[0].measured;
  };
  EXPECT_EQ(bytes({GateSubject::Scope::phase, "forward", Metric::allocated}), 1000u);
  EXPECT_EQ(bytes({GateSubject::Scope::phase, "forward:0", Metric::allocated}), 993u);
  EXPECT_EQ(bytes({GateSubject::Scope::phase, "forward:1", Metric::allocated}), 1000u);  // not forward:10
  EXPECT_EQ(bytes({GateSubject::Scope::category, "activations", Metric::allocated}), 900u);
  EXPECT_EQ(error_of([&] {
              bytes({GateSubject::Scope::phase, "backward", Metric::allocated});
            }),
            "the run has no phase 'backward'. Phases: forward:0 to forward:10, load.");
  EXPECT_EQ(error_of([&] {
              bytes({GateSubject::Scope::phase, "forward", Metric::device});
            }),
            "the device in forward was not measured in this run");
  EXPECT_EQ(error_of([&] {
              bytes({GateSubject::Scope::category, "weights", Metric::allocated});
            }),
            "the run has no category 'weights'. Categories: activations, parameters.");
  EXPECT_EQ(error_of([&] {
              bytes({GateSubject::Scope::run, "", Metric::device});
            }),
            "the peak device was not measured in this run");
}

TEST(Gate, SaysWhatGrew) {
  std::vector<GateGrowth> growth = find_gate_growth(numbers(1500), numbers(1000));
  ASSERT_EQ(growth.size(), 2u);
  EXPECT_EQ(growth[0].name, "activations");
  EXPECT_EQ(growth[1].name, "module layer1");
  EXPECT_EQ(growth[1].baseline, 900u);
  EXPECT_EQ(growth[1].measured, 1400u);
  EXPECT_TRUE(find_gate_growth(numbers(1000), numbers(1500)).empty());
  GateNumbers peak_alone;
  peak_alone.peak.allocated = 1;
  EXPECT_TRUE(find_gate_growth(peak_alone, numbers(1000)).empty());
  EXPECT_TRUE(find_gate_growth(numbers(1000), peak_alone).empty());
}

GateReport failed_report() {
  GateReport report;
  report.what = report.model = "a<b>&\"c\".pt";
  report.checks = {{"peak allocated", 1011, 1000, 1010}, {"peak reserved", 5, std::nullopt, 5}};
  report.growth = {{"module x|y", 1, 12}};
  report.warnings = {"50% of\nit"};
  return report;
}

TEST(GateReport, JUnitIsEscaped) {
  std::string text = gate_junit(failed_report());
  EXPECT_NE(text.find("tests=\"2\" failures=\"1\" errors=\"0\""), std::string::npos);
  EXPECT_NE(text.find("classname=\"a&lt;b&gt;&amp;&quot;c&quot;.pt\""), std::string::npos);
  EXPECT_NE(text.find("1,011 B, 1 B more than the 1,010 B"), std::string::npos);
}

TEST(GateReport, AnnotationsAreEscaped) {
  EXPECT_EQ(gate_annotations(failed_report()),
            "::warning title=torchmem gate::a<b>&\"c\".pt: 50%25 of%0Ait\n"
            "::error title=torchmem gate::a<b>&\"c\".pt: peak allocated: 1,011 B, 1 B more than the 1,010 B "
            "that the baseline's 1,000 B and the tolerance allow%0Agrew: module x|y +11 B (1 B to 12 B)\n");
}

TEST(GateReport, MarkdownIsEscaped) {
  EXPECT_NE(gate_markdown(failed_report()).find("module x\\|y"), std::string::npos);
}

// A line that GitHub's runner would take as a command, wherever it is wrapped.
TEST(GateReport, NoLineOfTheTextIsACommand) {
  GateReport report = failed_report();
  for (size_t length = 0; length < 120; ++length) {
    report.what = std::string(length, 'x') + " ::error::pwn\n::error::pwn\xc2\xa0::error::pwn";
    report.growth = {{report.what, 1, 12}};
    std::string text = "\n" + gate_text(report);
    for (size_t place = text.find("::"); place != std::string::npos; place = text.find("::", place + 1)) {
      size_t start = text.rfind('\n', place) + 1;
      EXPECT_NE(text.find_first_not_of(" ", start), place) << text;
    }
  }
}

GateReport report_of(ErrorKind kind) {
  GateReport report;
  report.what = report.model = "model.pt";
  report.error = RunError{kind, "it went <wrong>. Do this.", {}, {}, json::object()};
  return report;
}

TEST(GateReport, OutOfMemoryIsAFailure) {
  GateReport report = report_of(ErrorKind::out_of_memory);
  EXPECT_EQ(report.verdict(), GateVerdict::failed);
  EXPECT_EQ(gate_json(report)["passed"], false);
  EXPECT_EQ(gate_json(report)["error"]["kind"], "out_of_memory");
  EXPECT_FALSE(gate_json(report).contains("numbers"));
  EXPECT_NE(gate_junit(report).find("tests=\"1\" failures=\"1\" errors=\"0\""), std::string::npos);
  EXPECT_NE(gate_junit(report).find("<failure type=\"out_of_memory\""), std::string::npos);
  EXPECT_TRUE(gate_text(report).ends_with("gate: failed\n"));
  EXPECT_NE(gate_markdown(report).find("gate: failed"), std::string::npos);
}

TEST(GateReport, OtherErrorsAreNoAnswer) {
  GateReport report = report_of(ErrorKind::bad_input);
  EXPECT_EQ(report.verdict(), GateVerdict::error);
  EXPECT_FALSE(gate_json(report).contains("passed"));
  EXPECT_NE(gate_junit(report).find("tests=\"1\" failures=\"0\" errors=\"1\""), std::string::npos);
  EXPECT_NE(gate_junit(report).find("message=\"it went &lt;wrong&gt;. Do this.\""), std::string::npos);
  EXPECT_EQ(gate_annotations(report), "::error title=torchmem gate::model.pt: it went <wrong>. Do this.\n");
  EXPECT_NE(gate_markdown(report).find("gate: error"), std::string::npos);
}

}  // namespace
}  // namespace torchmem
