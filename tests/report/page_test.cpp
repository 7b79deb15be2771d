#include "report/page.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "report/html.h"
#include "support/message.h"

namespace penumbra::report {
namespace {

using test::contains;

TEST(Html, EscapesTextAndControlCharacters) {
  EXPECT_EQ(escape("<a href=\"x\">'&'</a>"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
  EXPECT_EQ(escape(std::string_view("a\0b\n", 4)), "a&#xFFFD;b\n");
}

TEST(Html, EncodesBase64WithPadding) {
  EXPECT_EQ(data_url("", "x/y"), "data:x/y;base64,");
  EXPECT_EQ(data_url("M", "x/y"), "data:x/y;base64,TQ==");
  EXPECT_EQ(data_url("Ma", "x/y"), "data:x/y;base64,TWE=");
  EXPECT_EQ(data_url("Man\xff", "x/y"), "data:x/y;base64,TWFu/w==");
}

TEST(Html, SlugsAreFileNames) {
  EXPECT_EQ(slug("Error beyond 3 SD"), "error-beyond-3-sd");
  EXPECT_EQ(slug("../../etc"), "etc");
  EXPECT_EQ(slug("%%"), "figure");
}

TEST(Page, HoldsEverythingItWasGiven) {
  Page page("A title", "a subtitle");
  page.verdict(Level::warning, "Careful.", {{Level::bad, "broken"}});
  page.section("One & two", "lead").text("words");
  page.figures({Picture{.title = "An image", .caption = "seen", .image = at::rand({4, 4}), .range = {-2, 1e-3}},
                Plot{{.title = "A chart", .series = {{.x = {0, 1}, .y = {1, 2}}}}, "drawn"}});
  page.table({{"what", "value"}, {{"row", {"5", Level::good}}}, true});
  page.details("more", [](Page& p) { p.code("a < b"); });
  const auto html = page.html();
  for (const auto* part :
       {"<title>A title</title>", "a subtitle", "class=\"verdict warning\"", "class=\"badge bad\">broken",
        "<a href=\"#one-two\">One &amp; two</a>", "<p>words</p>", "download=\"an-image.png\"",
        "alt=\"An image, 4 by 4 pixels, values from -2 to 1e-3\"", "data-name=\"a-chart.svg\"", "drawn",
        "<table class=\"numbers\">", "class=\"badge good\">5", "<summary>more</summary>", "a &lt; b</pre>",
        "prefers-color-scheme: dark", "Content-Security-Policy"})
    EXPECT_TRUE(contains(html, part)) << part;
}

TEST(Page, UnknownLevelsAreNotes) {
  EXPECT_EQ(level_of("bad"), Level::bad);
  EXPECT_EQ(level_of("catastrophic"), Level::note);
}

}  // namespace
}  // namespace penumbra::report
