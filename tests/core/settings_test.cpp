// Every key is asked for once; what is wrong with a file is said in one line that names file, line and key.
#include "core/settings.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/message.h"
#include "support/paths.h"

namespace penumbra {
namespace {

using test::message_of;

Settings parse(const std::string& text) { return Settings::from_text(text, "config.yaml"); }

std::string parse_error(const std::string& text) {
  return message_of([&] { parse(text); });
}

TEST(Settings, ReadsEachType) {
  auto s = parse("a: 2.5\nb: 1e3\nc: true\nd: some words\ne: [1, -2, 3e-1]\nf: fast\n");
  EXPECT_EQ(s.number("a"), 2.5);
  EXPECT_EQ(s.integer("b"), 1000);
  EXPECT_TRUE(s.flag("c", false));
  EXPECT_EQ(s.text("d"), "some words");
  EXPECT_EQ(s.numbers("e"), (std::vector<double>{1, -2, 0.3}));
  EXPECT_EQ(s.choice("f", {"fast", "slow"}), "fast");
  s.finish();
}

TEST(Settings, ReadsListsOfTextsAndOfIntervals) {
  const auto ask = [](Settings s) {
    EXPECT_EQ(s.texts("stations"), (std::vector<std::string>{"AA", "1", "a, b"}));
    EXPECT_EQ(s.intervals("hours"), (std::vector<std::pair<double, double>>{{0.5, 1.25}, {3, 3}}));
    EXPECT_TRUE(s.texts("none").empty());
    EXPECT_TRUE(s.intervals("never").empty());
    s.finish();
    return s.resolved();
  };
  const auto resolved = ask(parse("stations: [AA, 1, \"a, b\"]\nhours: [[0.5, 1.25], [3, 3]]\n"));
  EXPECT_EQ(ask(parse(resolved)), resolved);
  auto assigned = parse("{}");
  assigned.assign("stations=[AA, 1, \"a, b\"]");
  assigned.assign("hours=[[0.5, 1.25], [3, 3]]");
  EXPECT_EQ(ask(assigned), resolved);
}

TEST(Settings, RefusesListsOfOtherThings) {
  for (const auto* bad : {"AA", "[[AA]]", "[{b: 1}]", "[~]"}) {
    auto s = parse(std::string("a: ") + bad + "\n");
    EXPECT_NE(message_of([&] { s.texts("a"); }), "") << bad;
  }
  for (const auto* bad : {"1", "[1, 2]", "[[1]]", "[[1, 2, 3]]", "[[2, 1]]", "[[1, x]]"}) {
    auto s = parse(std::string("a: ") + bad + "\n");
    EXPECT_EQ(message_of([&] { s.intervals("a"); }).rfind("config.yaml:1: a: expected a list of [from, to]", 0), 0U)
        << bad;
  }
}

TEST(Settings, TakesDefaultsForAbsentAndNullKeys) {
  auto s = parse("a:\nb: ~\nc: null\n");
  EXPECT_FALSE(s.has("a"));
  EXPECT_EQ(s.number("a", 1.5), 1.5);
  EXPECT_EQ(s.integer("b", 7), 7);
  EXPECT_EQ(s.text("c", "word"), "word");
  EXPECT_EQ(s.numbers("d", {1, 2}), (std::vector<double>{1, 2}));
  s.finish();
}

TEST(Settings, NamesFileLineAndKeyOfANumberOutOfBounds) {
  auto s = parse("\nsampler:\n  step_size: -1\n").section("sampler");
  EXPECT_EQ(message_of([&] { s.number("step_size", positive); }),
            "config.yaml:3: sampler.step_size: expected a number > 0, found -1");
  EXPECT_EQ(message_of([&] {
              s.number("step_size", {0, 1});
            }),
            "config.yaml:3: sampler.step_size: expected a number in [0, 1], found -1");
}

TEST(Settings, NamesAMissingKeyAndWhatWasExpected) {
  auto s = parse("a: 1\n").section("sampler");
  EXPECT_EQ(message_of([&] { s.number("step_size", positive); }),
            "config.yaml: sampler.step_size: missing; expected a number > 0");
}

TEST(Settings, RefusesWhatIsNoFiniteNumber) {
  for (const auto* bad :
       {"nan", ".nan", "inf", "-.inf", "abc", "1e999", "{b: 1}", "[1]", "\"5\"", "1 2", "0x10", "+-1"}) {
    auto s = parse(std::string("a: ") + bad + "\n");
    EXPECT_NE(message_of([&] { s.number("a"); }), "") << bad;
    EXPECT_NE(message_of([&] { s.integer("a"); }), "") << bad;
  }
}

TEST(Settings, RefusesFractionsAndOverflowAsIntegers) {
  for (const auto* bad : {"1.5", "1e30", "9223372036854775808", "true"}) {
    auto s = parse(std::string("a: ") + bad + "\n");
    EXPECT_EQ(message_of([&] { s.integer("a"); }), std::string("config.yaml:1: a: expected an integer, found ") + bad);
  }
  EXPECT_EQ(parse("a: 9223372036854775807").integer("a"), INT64_MAX);
}

TEST(Settings, SuggestsTheNearestKnownKey) {
  auto s = parse("sampler:\n  step_sise: 1\n");
  auto sampler = s.section("sampler");
  sampler.number("step_size", 1);
  sampler.integer("steps", 10);
  EXPECT_EQ(message_of([&] { s.finish(); }),
            "config.yaml:2: sampler.step_sise: unknown key; did you mean step_size? (known: step_size, steps)");
}

TEST(Settings, SuggestsTheNearestChoice) {
  auto s = parse("kind: apcm\n");
  EXPECT_EQ(message_of([&] {
              s.choice("kind", {"ula", "apmc"});
            }),
            "config.yaml:1: kind: expected one of ula, apmc, found apcm; did you mean apmc?");
}

TEST(Settings, RefusesASectionThatNothingAskedFor) {
  auto s = parse("other:\n  a: 1\n");
  EXPECT_NE(message_of([&] { s.finish(); }), "");
}

TEST(Settings, RefusesDuplicateKeys) {
  EXPECT_EQ(parse_error("a: 1\nb: 2\na: 3\n"), "config.yaml:3: a: given twice");
  EXPECT_NE(parse_error("a: {b: 1, b: 1}\n"), "");
}

TEST(Settings, RefusesATopThatIsNoMap) {
  EXPECT_EQ(parse_error("[1, 2]"), "config.yaml:1: expected keys and values at the top, found a list");
  EXPECT_NE(parse_error("word"), "");
  EXPECT_NE(parse_error("a: 1\n---\nb: 2\n"), "");
}

TEST(Settings, TurnsParserErrorsIntoInputErrorsWithALine) {
  EXPECT_EQ(parse_error("a: 1\nb: [1, 2\n").rfind("config.yaml:3: not YAML: ", 0), 0U)
      << parse_error("a: 1\nb: [1, 2\n");
  EXPECT_NE(parse_error("a: *nothing\n"), "");
  EXPECT_NE(parse_error("a: \"\\q\"\n"), "");
  EXPECT_NE(parse_error(std::string("a: 1\x04\nb: 2\n")), "");
  EXPECT_NE(parse_error(std::string("a: 1\0\n", 6)), "");
}

TEST(Settings, SurvivesDeepNesting) {
  for (const char bracket : {'[', '{'}) EXPECT_NE(parse_error(fmt::format("a: {}", std::string(100000, bracket))), "");
  std::string maps;
  for (int i = 0; i < 2000; ++i) maps += std::string(i, ' ') + "a:\n";
  EXPECT_NE(parse_error(maps), "");
  std::string keys;
  for (int i = 0; i < 100000; ++i) keys += "? ";
  EXPECT_NE(parse_error(keys), "");
}

TEST(Settings, RefusesAnAliasInsideItself) { EXPECT_NE(parse_error("a: &x [1, *x]\n"), ""); }

TEST(Settings, RefusesAliasesThatMultiply) {
  std::string text = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 12; ++i) {
    text += fmt::format("a{}: &a{} [", i, i);
    for (int j = 0; j < 10; ++j) text += fmt::format("{}*a{}", j ? ", " : "", i - 1);
    text += "]\n";
  }
  EXPECT_NE(parse_error(text), "");
}

TEST(Settings, CopiesAliasesSoThatTheyChangeAlone) {
  auto s = parse("a: &x {n: 1}\nb: *x\n");
  s.assign("b.n=2");
  EXPECT_EQ(s.section("a").integer("n"), 1);
  EXPECT_EQ(s.section("b").integer("n"), 2);
}

TEST(Settings, RefusesAHugeFile) { EXPECT_NE(parse_error(std::string((16 << 20) + 1, '\n')), ""); }

TEST(Settings, AssignsThroughSectionsAndLists) {
  auto s = parse("a: {b: 1}\nlist: [{c: 1}, {c: 2}]\n");
  s.assign("a.b=3");
  s.assign("new.deep.key=[1, 2]");
  s.assign("list.1.c=5");
  EXPECT_EQ(s.section("a").integer("b"), 3);
  EXPECT_EQ(s.section("new").section("deep").numbers("key"), (std::vector<double>{1, 2}));
  EXPECT_EQ(s.sections("list").at(1).integer("c"), 5);
}

TEST(Settings, TakesAssignedPathsFromWhereTheCommandIsTyped) {
  const auto folder = test::scratch();
  std::filesystem::create_directories(folder / "configs");
  for (const auto* name : {"here.npy", "configs/there.npy"}) std::ofstream(folder / name) << "x";
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  auto s = Settings::from_text("a: there.npy\nd: here.npy\n", "config.yaml", folder / "configs");
  s.assign("b=here.npy");
  s.assign("c=there.npy");
  const auto found = [&](const char* key) { return std::filesystem::relative(s.file(key), folder).string(); };
  EXPECT_EQ(found("a"), "configs/there.npy");
  EXPECT_EQ(found("b"), "here.npy");
  EXPECT_EQ(found("c"), "configs/there.npy");
  EXPECT_NE(message_of([&] { s.file("d"); }), "");
  std::filesystem::current_path(before);
}

TEST(Settings, RefusesBadAssignments) {
  auto s = parse("a: 1\nlist: [1]\n");
  for (const auto* bad : {"a", "=1", "a..b=1", ".a=1", "a.b=1", "a=[1", "list.1=2", "list.x=2", ""})
    EXPECT_NE(message_of([&] { s.assign(bad); }), "") << bad;
  s.assign("a=-1");
  EXPECT_EQ(message_of([&] { s.number("a", positive); }), "--set: a: expected a number > 0, found -1");
}

TEST(Settings, ResolvesDefaultsInTheOrderOfAskingAndReadsThemBack) {
  const auto ask = [](Settings s) {
    s.number("z", 0.1);
    s.integer("a", 3);
    s.flag("f", true);
    s.text("word", "a: \"b\"\n#");
    s.text("empty", "");
    s.text("number_like", "12");
    s.number("unlimited", std::numeric_limits<double>::infinity());
    s.numbers("list", {1, 1e-300, -0.0});
    s.section("absent").number("x", 2);
    s.section("unused");
    for (auto& item : s.sections("parts")) item.number("weight", 1);
    s.finish();
    return s.resolved();
  };
  const auto once = ask(parse("parts: [{weight: 2}, {}]\nz: 0.1000000000000000055\n"));
  EXPECT_EQ(once,
            "z: 0.1\na: 3\nf: true\nword: \"a: \\\"b\\\"\\x0a#\"\nempty: \"\"\nnumber_like: \"12\"\n"
            "list: [1, 1e-300, -0]\nabsent:\n  x: 2\nparts:\n  - weight: 2\n  - weight: 1\n");
  EXPECT_EQ(ask(parse(once)), once);
}

TEST(Settings, FindsFoldersFromTheConfigurationsFolder) {
  const auto folder = test::scratch();
  std::filesystem::create_directories(folder / "images");
  std::ofstream(folder / "config.yaml") << "data: images\nmissing: nowhere\nfile: config.yaml\n";
  auto s = Settings::from_file(folder / "config.yaml");
  EXPECT_EQ(s.folder("data"), std::filesystem::absolute(folder / "images"));
  EXPECT_NE(s.resolved().find((folder / "images").string()), std::string::npos);
  for (const auto* key : {"missing", "file"})
    EXPECT_NE(message_of([&] { s.folder(key); }).find(": expected an existing folder, found "), std::string::npos);
}

TEST(Settings, FindsFilesFromTheConfigurationsFolder) {
  const auto folder = test::scratch();
  std::ofstream(folder / "data.npy") << "x";
  std::ofstream(folder / "config.yaml") << "data: data.npy\nmissing: no.npy\nfolder: .\n";
  auto s = Settings::from_file(folder / "config.yaml");
  EXPECT_EQ(s.file("data"), std::filesystem::absolute(folder / "data.npy"));
  EXPECT_NE(s.resolved().find((folder / "data.npy").string()), std::string::npos);
  EXPECT_NE(message_of([&] { s.file("missing"); }).find("missing: expected an existing file, found no.npy"),
            std::string::npos);
  EXPECT_NE(message_of([&] { s.file("folder"); }), "");
}

TEST(Settings, RefusesAFileThatIsNotThereOrAFolder) {
  EXPECT_NE(message_of([] { Settings::from_file("/nonexistent/config.yaml"); }), "");
  EXPECT_NE(message_of([] { Settings::from_file(test::scratch()); }), "");
}

TEST(Settings, RefusesWrongShapesOfSections) {
  auto s = parse("a: 1\nlist: [1]\nempty: []\n");
  EXPECT_EQ(message_of([&] { s.section("a"); }), "config.yaml:1: a: expected a section, found 1");
  EXPECT_EQ(message_of([&] { s.sections("list"); }), "config.yaml:2: list.0: expected a section, found 1");
  EXPECT_NE(message_of([&] { s.sections("a"); }), "");
  EXPECT_NE(message_of([&] { s.sections("empty"); }), "");
  EXPECT_NE(message_of([&] { s.sections("none"); }), "");
}

TEST(Settings, KeepsMessagesOnOneLine) {
  auto s = parse("a: \"x\\ny\"\n");
  const auto message = message_of([&] { s.number("a"); });
  EXPECT_NE(message, "");
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace penumbra
