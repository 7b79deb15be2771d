/// The report in a real browser: no complaints, no sideways scrolling on a phone, figures that can be saved.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <regex>

#include "io/file.h"
#include "io/image.h"
#include "report/run_report.h"
#include "report/synthetic_run.h"
#include "support/paths.h"

namespace penumbra::report {
namespace {

std::string browser() {
  for (const auto* path : {"/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"})
    if (std::filesystem::exists(path)) return path;
  return {};
}

/// What the browser printed, its messages included.
std::string browse(const std::filesystem::path& page, const std::string& options) {
  const auto profile = test::scratch();
  const auto command = "timeout 120 " + browser() +
                       " --headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
                       "--disable-background-networking --disable-component-update --disable-sync "
                       "--enable-logging=stderr --virtual-time-budget=3000 --user-data-dir='" +
                       profile.string() + "' " + options + " 'file://" + page.string() + "' 2>&1";
  std::string output;
  auto* pipe = popen(command.c_str(), "r");
  if (!pipe) return output;
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, n);
  pclose(pipe);
  return output;
}

/// A copy of the report with a script of ours at its end; what it finds it leaves as attributes of <html>.
std::filesystem::path with_script(const std::filesystem::path& report, const std::string& script) {
  auto html = io::read_file(report);
  html.insert(html.rfind("</body>"), "<script>" + script + "</script>");
  const auto path = report.parent_path() / "probed.html";
  io::write_file(path, html);
  return path;
}

std::string attribute(const std::string& dom, const std::string& name) {
  std::smatch match;
  const std::regex pattern("data-" + name + "=\"([^\"]*)\"");
  return std::regex_search(dom, match, pattern) ? match[1].str() : "absent";
}

class Chromium : public testing::Test {
 protected:
  void SetUp() override {
    if (browser().empty()) GTEST_SKIP() << "no Chromium on this machine";
    run_ = test::write_synthetic_run();
    write_run_report(run_);
  }
  std::filesystem::path run_;
};

TEST_F(Chromium, FitsAPhoneWithoutComplaints) {
  // The window's own smallest width differs between versions; a frame has the width that it is given.
  const auto probed = with_script(run_ / "report.html",
                                  "for(const part of document.querySelectorAll('details'))part.open=true;"
                                  "const d=document.documentElement;d.dataset.result=d.scrollWidth+' of '+innerWidth;"
                                  "if(parent!==self)parent.postMessage(d.dataset.result,'*');");
  const auto phone = run_ / "phone.html";
  io::write_file(phone,
                 "<script>onmessage=e=>document.documentElement.dataset.phone=e.data</script>"
                 "<iframe src=\"probed.html\" style=\"width:390px;height:800px;border:0\"></iframe>");
  const auto output = browse(phone, "--dump-dom --hide-scrollbars --window-size=1280,900");
  EXPECT_EQ(attribute(output, "phone"), "390 of 390");
  EXPECT_EQ(output.find("CONSOLE"), std::string::npos) << output.substr(0, 2000);
}

TEST_F(Chromium, ComplaintsWouldBeSeen) {
  const auto output = browse(with_script(run_ / "report.html", "undefined_function()"), "--dump-dom");
  EXPECT_NE(output.find("CONSOLE"), std::string::npos);
}

TEST_F(Chromium, RefusesToFetch) {
  const auto probed = with_script(run_ / "report.html",
                                  "document.addEventListener('securitypolicyviolation',"
                                  "e=>document.documentElement.dataset.refused=e.violatedDirective);"
                                  "new Image().src='file:///nowhere.png';");
  EXPECT_EQ(attribute(browse(probed, "--dump-dom"), "refused"), "img-src");
}

TEST_F(Chromium, SavesChartsWithLiteralColours) {
  const auto probed = with_script(run_ / "report.html",
                                  "HTMLAnchorElement.prototype.click=()=>{};"
                                  "URL.createObjectURL=blob=>{blob.text().then(text=>{"
                                  "document.documentElement.dataset.saved=[text.startsWith('<svg'),"
                                  "text.includes('xmlns=\"http://www.w3.org/2000/svg\"'),text.includes('var('),"
                                  "text.includes('#2468b0')].join(' ')});return 'blob:x'};"
                                  "document.querySelector('button.save').click();");
  EXPECT_EQ(attribute(browse(probed, "--dump-dom"), "saved"), "true true false true");
}

TEST_F(Chromium, PaintsLightAndDark) {
  std::vector<double> brightness;
  for (const auto* scheme : {"0", "1"}) {  // blink's numbers for dark and light
    const auto shot = run_ / "shot.png";
    browse(run_ / "report.html", "--screenshot='" + shot.string() +
                                     "' --window-size=1280,900 --blink-settings=preferredColorScheme=" + scheme);
    ASSERT_TRUE(std::filesystem::exists(shot));
    const auto image = io::read_image(shot, 0, 1);
    EXPECT_GE(image.size(2), 1000);
    EXPECT_GT(image.std().item<double>(), 0.02);
    brightness.push_back(image.mean().item<double>());
    std::filesystem::remove(shot);
  }
  EXPECT_LT(brightness[0], 0.4);
  EXPECT_GT(brightness[1], 0.6);
}

}  // namespace
}  // namespace penumbra::report
