#include "torchmem/gate.h"

#include <gtest/gtest.h>

#include <functional>

#include "report/gate_report.h"

namespace torchmem {
namespace {

using nlohmann::json;

Tolerance tolerance(const char* text) { return parse_tolerance(text, "--tolerance"); }

std::string error_of(const std::function<void()>& what) {
  try {
    what();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

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

json numbers(uint64_t allocated) {
  return {{"peak",
           {{"allocated_bytes", allocated},
            {"reserved_bytes", 2 * allocated},
            {"by_category", {{"activations", allocated - 100}, {"parameters", 100u}}},
            {"modules", {{"layer1", allocated - 100}, {"", 100u}}}}},
          {"phases",
           {{"load", {{"allocated_bytes", 100u}}},
            {"forward:0", {{"allocated_bytes", allocated - 7}}},
            {"forward:1", {{"allocated_bytes", allocated}}},
            {"forward:10", {{"allocated_bytes", 3u}}}}}};
}

const GateSubject peak_allocated = {GateSubject::Scope::run, "", "allocated"};

// At the exact edge, and one byte either side of it.
TEST(Gate, TheEdgeIsExact) {
  json baseline = numbers(1000);
  for (auto [measured, passes] : {std::pair{1009u, true}, {1010u, true}, {1011u, false}}) {
    auto checks = check_gate({peak_allocated}, numbers(measured), baseline, tolerance("1%"), std::nullopt);
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
  EXPECT_FALSE(check_gate({peak_allocated}, numbers(1001), numbers(1000), {}, {})[0].passed());
  EXPECT_TRUE(check_gate({peak_allocated}, numbers(1000), numbers(1001), {}, {})[0].passed());
}

TEST(Gate, PhasesAndCategories) {
  auto bytes = [](const GateSubject& subject) {
    return check_gate({subject}, numbers(1000), nullptr, {}, 0)[0].measured;
  };
  EXPECT_EQ(bytes({GateSubject::Scope::phase, "forward", "allocated"}), 1000u);
  EXPECT_EQ(bytes({GateSubject::Scope::phase, "forward:0", "allocated"}), 993u);
  EXPECT_EQ(bytes({GateSubject::Scope::phase, "forward:1", "allocated"}), 1000u);  // not forward:10
  EXPECT_EQ(bytes({GateSubject::Scope::category, "activations", "allocated"}), 900u);
  EXPECT_EQ(error_of([&] {
              bytes({GateSubject::Scope::phase, "backward", "allocated"});
            }),
            "the run has no phase 'backward'. Phases: forward:0 to forward:10, load.");
  EXPECT_EQ(error_of([&] {
              bytes({GateSubject::Scope::phase, "forward", "device"});
            }),
            "the device in forward was not measured in this run");
  EXPECT_EQ(error_of([&] {
              bytes({GateSubject::Scope::category, "weights", "allocated"});
            }),
            "the run has no category 'weights'. Categories: activations, parameters.");
  EXPECT_EQ(error_of([&] {
              bytes({GateSubject::Scope::run, "", "device"});
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
  EXPECT_TRUE(find_gate_growth({{"peak", {{"allocated_bytes", 1}}}}, numbers(1000)).empty());
}

json facts() {
  return {{"software", {{"torch", "2.11.0"}}},
          {"device", {{"kind", "virtual"}, {"profile", "h200"}, {"index", 0}, {"total_bytes", 5}}},
          {"arguments",
           {{"steps", 3},
            {"jit", false},
            {"autocast", nullptr},
            {"inputs",
             {{"positional", {{{"tensor", {{"spec", "f32:2x3"}, {"shape", {2, 3}}}}}}},
              {"named", {{"batch", {{"dict", {{"ids", {{"tensor", {{"spec", "i64:4"}}}}}}}}}}}}}}}};
}

TEST(Baseline, IsShortAndReadsBack) {
  json baseline = make_baseline(numbers(1000), facts());
  EXPECT_EQ(baseline["arguments"], json::parse(R"({"steps": 3,
      "inputs": {"positional": ["f32:2x3"], "named": {"batch": {"ids": "i64:4"}}}})"));
  EXPECT_EQ(baseline["device"], json::parse(R"({"kind": "virtual", "profile": "h200"})"));
  EXPECT_EQ(read_baseline(baseline.dump(2), "b.json"), baseline);
  EXPECT_TRUE(compare_baselines(baseline, baseline, "b.json").empty());
}

TEST(Baseline, AnotherRunIsRefusedByField) {
  json baseline = make_baseline(numbers(1000), facts());
  auto refusal = [&](const char* field, const json& value) {
    json other = facts();
    other[json::json_pointer(field)] = value;
    return error_of([&] { compare_baselines(baseline, make_baseline(numbers(1000), other), "b.json"); });
  };
  EXPECT_EQ(
      refusal("/arguments/steps", 4),
      "the baseline b.json was made with another arguments.steps: 3 there, 4 now. Compare like with like, "
      "or make it anew with --update.");
  EXPECT_NE(refusal("/arguments/jit", true).find("arguments.jit: null there, true now"), std::string::npos);
  EXPECT_NE(refusal("/device/profile", "t4").find("device.profile: \"h200\" there"), std::string::npos);
  EXPECT_NE(
      refusal("/arguments/inputs/positional/0/tensor/spec", "f32:2x4").find("arguments.inputs.positional"),
      std::string::npos);
  EXPECT_EQ(refusal("/arguments/dtype", nullptr), "");
  EXPECT_NE(refusal("/arguments/program", {"a"}).find("was made for a model, this is a program"),
            std::string::npos);
  EXPECT_EQ(refusal("/device/total_bytes", 6), "");
}

TEST(Baseline, OtherSoftwareIsAWarning) {
  json baseline = make_baseline(numbers(1000), facts());
  json other = facts();
  other["software"]["torch"] = "2.12.0";
  other["software"]["cudnn"] = "9.20";
  std::vector<std::string> warnings = compare_baselines(baseline, make_baseline(numbers(1), other), "b.json");
  EXPECT_EQ(warnings, (std::vector<std::string>{"the baseline was made with cudnn none, this is 9.20",
                                                "the baseline was made with torch 2.11.0, this is 2.12.0"}));
}

TEST(Baseline, OthersAreSaidToBeSo) {
  std::string good = make_baseline(numbers(1000), facts()).dump(2);
  auto refusal = [](const std::string& text) { return error_of([&] { read_baseline(text, "b.json"); }); };
  for (size_t size : {size_t{0}, size_t{1}, good.size() / 2, good.size() - 1})
    EXPECT_NE(refusal(good.substr(0, size)).find("is not JSON: damaged, truncated"), std::string::npos)
        << size;
  EXPECT_NE(refusal("[]").find("is not a baseline"), std::string::npos);
  EXPECT_NE(refusal(R"({"schema": "torchmem.profile/1"})").find("found \"torchmem.profile/1\""),
            std::string::npos);
  EXPECT_NE(refusal(R"({"schema": 3})").find("is not a baseline"), std::string::npos);
  EXPECT_NE(refusal(R"({"schema": "torchmem.baseline/2"})").find("of a newer torchmem"), std::string::npos);
  auto broken = [&](const char* field, const json& value) {
    json document = json::parse(good);
    document[json::json_pointer(field)] = value;
    return refusal(document.dump());
  };
  for (const char* field :
       {"/peak", "/peak/allocated_bytes", "/peak/reserved_bytes", "/phases", "/phases/load", "/arguments",
        "/device", "/software", "/peak/by_category/activations"}) {
    EXPECT_NE(broken(field, "text").find("is damaged"), std::string::npos) << field;
    EXPECT_NE(broken(field, -1).find("is damaged"), std::string::npos) << field;
  }
  EXPECT_EQ(broken("/peak/allocated_bytes", 5), "");
  EXPECT_NE(broken("/peak/allocated_bytes", 1.5).find("is 1.5, not a whole number of bytes"),
            std::string::npos);
  EXPECT_NE(broken("/peak/modules/layer1", {{"a", 1}}).find("is damaged"), std::string::npos);
  EXPECT_NE(broken("/phases/load/allocated_bytes", {{"a", 1}}).find("is damaged"), std::string::npos);
}

// Copying, comparing and printing recurse.
TEST(Baseline, DeepNestingIsRefused) {
  json document = make_baseline(numbers(1000), facts());
  document["arguments"]["steps"] = "HERE";
  auto refusal = [&](size_t depth) {
    std::string text = document.dump();
    text.replace(text.find("\"HERE\""), 6, std::string(depth, '[') + std::string(depth, ']'));
    return error_of([&] { read_baseline(text, "b.json"); });
  };
  EXPECT_EQ(refusal(100), "");
  EXPECT_NE(refusal(300).find("nested more than 200 deep"), std::string::npos);
  EXPECT_NE(refusal(1'000'000).find("nested more than 200 deep"), std::string::npos);
}

TEST(Baseline, ForeignTextsAreShortAndPrintable) {
  json baseline = make_baseline(numbers(1000), facts());
  json now = baseline;
  baseline["software"]["torch"] = "1\n::error::\x1b" + std::string(1000, 'x');
  std::vector<std::string> warnings = compare_baselines(baseline, now, "b.json");
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("1\\n::error::\\u001bxxx"), std::string::npos);
  EXPECT_EQ(warnings[0].find('\n'), std::string::npos);
  EXPECT_LT(warnings[0].size(), 150u);
  baseline["arguments"]["a\nb"] = std::string(1000, 'x');
  std::string refusal = error_of([&] { compare_baselines(baseline, now, "b.json"); });
  EXPECT_NE(refusal.find("another arguments.a\\nb: \"xxx"), std::string::npos);
  EXPECT_LT(refusal.size(), 250u);
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
