#include "report/style.h"

#include <gtest/gtest.h>

#include "report/module_tree.h"
#include "report/text.h"

namespace torchmem {
namespace {

TEST(Style, BarsAreAsLongAsTheShare) {
  TextStyle plain;
  EXPECT_EQ(bar(plain, 1, 2, 10), "#####");
  EXPECT_EQ(bar(plain, 2, 2, 10), "##########");
  EXPECT_EQ(bar(plain, 3, 2, 10), "##########");  // never longer than its column
  EXPECT_EQ(bar(plain, 1, 100, 10), "");
  EXPECT_EQ(bar(plain, 0, 0, 10), "");
  TextStyle blocks;
  blocks.blocks = true;
  EXPECT_EQ(bar(blocks, 1, 2, 3), "█▌");
  EXPECT_EQ(bar(blocks, 1, 8, 1), "▏");
  EXPECT_EQ(bar(blocks, UINT64_MAX, UINT64_MAX, 2), "██");
}

TEST(Style, ColoursOnlyWhereThereAreAny) {
  TextStyle style;
  EXPECT_EQ(tinted(style, Tint::red, "x"), "x");
  style.colours = true;
  EXPECT_EQ(tinted(style, Tint::red, "x"), "\033[31mx\033[0m");
  EXPECT_EQ(tinted(style, Tint::red, ""), "");
}

// What a model calls its parts must not reach a terminal as an order.
TEST(Style, NamesGiveNoOrders) {
  EXPECT_EQ(printable("a\033[31mb\nc"), "a?[31mb?c");
  EXPECT_EQ(printable("Schicht_ä"), "Schicht_ä");
  EXPECT_EQ(printable("a\xc2\x9b"
                      "31m"),
            "a?31m");
}

ModuleUsage module(const std::string& path, uint64_t own, std::vector<ModuleUsage> children = {}) {
  ModuleUsage share;
  share.path = path;
  share.own = own;
  share.inclusive = own;
  for (const ModuleUsage& child : children) share.inclusive += child.inclusive;
  share.children = std::move(children);
  return share;
}

std::vector<std::string> lines(const std::vector<ShownModule>& modules) {
  std::vector<std::string> result;
  for (const ShownModule& shown : modules) result.push_back(std::string(shown.depth, ' ') + shown.name);
  return result;
}

using Lines = std::vector<std::string>;

TEST(ModuleTree, AChainIsOneLine) {
  ModuleUsage root =
      module("", 0,
             {module("net", 0, {module("net.h", 0, {module("net.h.0", 60), module("net.h.1", 30)})}),
              module("x", 10)});
  EXPECT_EQ(lines(modules_to_show(root, 10)), (Lines{"", " net.h", "  0", "  1", " x"}));
}

TEST(ModuleTree, BytesOfItsOwnEndAChain) {
  ModuleUsage root = module("", 0, {module("net", 5, {module("net.h", 95)})});
  EXPECT_EQ(lines(modules_to_show(root, 10)), (Lines{"", " net", "  h"}));
}

TEST(ModuleTree, TheLargestAreShownAndNothingSmall) {
  ModuleUsage root = module("", 500,
                            {module("a", 0, {module("a.0", 200), module("a.1", 150)}), module("b", 140),
                             module("c", 9), module("d", 1)});
  EXPECT_EQ(lines(modules_to_show(root, 2)), (Lines{"", " a", " b"}));
  EXPECT_EQ(lines(modules_to_show(root, 3)), (Lines{"", " a", "  0", " b"}));
  EXPECT_EQ(lines(modules_to_show(root, 9)), (Lines{"", " a", "  0", "  1", " b"}));
  EXPECT_EQ(lines(modules_to_show(module("", 0), 9)), (Lines{""}));
}

TEST(ModuleTree, TypesWithoutTheirPlace) {
  EXPECT_EQ(short_type("__torch__.torchvision.models.resnet.Bottleneck"), "Bottleneck");
  EXPECT_EQ(short_type("Linear"), "Linear");
  EXPECT_EQ(short_type(""), "");
}

}  // namespace
}  // namespace torchmem
