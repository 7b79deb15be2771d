#include "report/page.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "io/image.h"
#include "report/html.h"
#include "report/number.h"
#include "report/page_parts.h"

namespace penumbra::report {
namespace {

/// Wider images are shown smoothed: their pixels are smaller than a figure's, and uneven squares would show.
constexpr int64_t widest_pixelated = 160;

const char* word(Level level) {
  switch (level) {
    case Level::good:
      return "good";
    case Level::note:
      return "note";
    case Level::warning:
      return "warning";
    case Level::bad:
      return "bad";
  }
  return "note";
}

const char* word(Size size) {
  switch (size) {
    case Size::small:
      return "small";
    case Size::medium:
      return "medium";
    case Size::large:
      return "large";
    case Size::full:
      return "full";
  }
  return "medium";
}

std::string badge_html(const Badge& badge) {
  return fmt::format("<span class=\"badge {}\">{}</span>", word(badge.level), escape(badge.text));
}

std::string colour_bar(Range range, Colormap map) {
  std::string stops;
  constexpr int count = 16;
  for (int i = 0; i <= count; ++i) {
    const auto [r, g, b] = colour(map, static_cast<double>(i) / count);
    stops += fmt::format(",#{:02x}{:02x}{:02x}", r, g, b);
  }
  return fmt::format(
      "<div class=\"scale\" style=\"background:linear-gradient(90deg{})\"></div>\n"
      "<div class=\"bar\"><span>{}</span><span>{}</span><span>{}</span></div>\n",
      stops, format_number(range.low), format_number((range.low + range.high) / 2), format_number(range.high));
}

std::string caption_html(const std::string& caption) {
  return caption.empty() ? "" : fmt::format("<figcaption>{}</figcaption>\n", escape(caption));
}

/// Up to two fifths of the width, as 1, 2 or 5 times a power of ten.
double scale_length(double width) {
  const double power = std::pow(10, std::floor(std::log10(0.4 * width)));
  for (const double digit : {5, 2})
    if (digit * power <= 0.4 * width) return digit * power;
  return power;
}

/// North is up, East to the left. Coordinates are percent of the image's width.
std::string sky_marks(double sky_width, double height) {
  const auto length = scale_length(sky_width), percent = 100 * length / sky_width;
  return fmt::format(
      "<svg class=\"marks\" viewBox=\"0 0 100 {0:.2f}\" aria-hidden=\"true\">\n"
      "<path d=\"M5 {1:.2f}h{2:.2f}M94 15v-8m-1.5 2l1.5 -2l1.5 2M94 15h-8m2 -1.5l-2 1.5l2 1.5\"/>\n"
      "<text x=\"5\" y=\"{3:.2f}\">{4} &#181;as</text><text x=\"94\" y=\"5.5\" text-anchor=\"middle\">N</text>"
      "<text x=\"82.5\" y=\"16.6\" text-anchor=\"middle\">E</text>\n</svg>",
      height, height - 5, percent, height - 7.5, format_number(length));
}

// The links appear once the script has given them something to save.
std::string figure_html(const Picture& picture) {
  const auto bytes = picture_bytes(picture.image, picture.range, picture.map, picture.nan);
  const auto height = bytes.size(1), width = bytes.size(2);
  const auto title = escape(picture.title);
  const bool bar = picture.bar && !shown_as_rgb(picture.image, picture.map);
  return fmt::format(
      "<figure>\n<header><strong>{0}</strong><a class=\"save\" download=\"{1}.png\" hidden>save PNG</a></header>\n"
      "<div class=\"image\"><img alt=\"{0}, {2} by {3} pixels, values from {4} to {5}\"{6} width=\"{3}\" "
      "height=\"{2}\" "
      "src=\"{7}\">{10}</div>\n{8}{9}</figure>\n",
      title, slug(picture.title), height, width, format_number(picture.range.low), format_number(picture.range.high),
      width <= widest_pixelated ? " class=\"pixels\"" : "", data_url(io::format_png(bytes), "image/png"),
      bar ? colour_bar(picture.range, picture.map) : "", caption_html(picture.caption),
      picture.sky_width > 0
          ? sky_marks(picture.sky_width, 100.0 * static_cast<double>(height) / static_cast<double>(width))
          : "");
}

std::string figure_html(const Plot& plot) {
  return fmt::format(
      "<figure>\n<header><strong>{}</strong><button class=\"save\" data-name=\"{}.svg\" hidden>save SVG</button>"
      "</header>\n{}{}</figure>\n",
      escape(plot.chart.title), slug(plot.chart.title), svg(plot.chart), caption_html(plot.caption));
}

std::string row_html(const std::vector<Cell>& row, const std::vector<std::string>& header) {
  constexpr size_t number_length = 14;  // so short a text is a number or a word: 1e-3 must not break at its sign
  std::string html = "<tr>";
  for (size_t i = 0; i < row.size(); ++i) {
    const auto& cell = row[i];
    const auto content = cell.level ? badge_html({*cell.level, cell.text}) : escape(cell.text);
    if (i == 0) {
      html += fmt::format("<th scope=\"row\">{}</th>", content);
      continue;
    }
    const bool headed = i < header.size() && !header[i].empty() && !cell.text.empty();
    html += fmt::format("<td{}{}>{}</td>", cell.text.size() <= number_length ? " class=\"short\"" : "",
                        headed ? fmt::format(" data-head=\"{}\"", escape(header[i])) : "", content);
  }
  return html + "</tr>\n";
}

}  // namespace

Level level_of(const std::string& word) {
  if (word == "good") return Level::good;
  if (word == "warning") return Level::warning;
  if (word == "bad") return Level::bad;
  return Level::note;
}

Page::Page(std::string title, std::string subtitle) : title_(std::move(title)), subtitle_(std::move(subtitle)) {}

Page& Page::verdict(Level level, const std::string& sentence, const std::vector<Badge>& badges) {
  std::string row;
  for (const auto& badge : badges) row += badge_html(badge) + '\n';
  if (!row.empty()) row = "<div class=\"badges\">\n" + row + "</div>\n";
  top_ += fmt::format("<div class=\"verdict {}\">\n<p>{}</p>\n{}</div>\n", word(level), escape(sentence), row);
  return *this;
}

Page& Page::section(const std::string& heading, const std::string& lead) {
  const auto id = slug(heading), title = escape(heading);
  contents_ += fmt::format("<a href=\"#{}\">{}</a>\n", id, title);
  body_ += fmt::format("<h2 id=\"{}\">{}</h2>\n", id, title);
  if (!lead.empty()) body_ += fmt::format("<p class=\"lead\">{}</p>\n", escape(lead));
  return *this;
}

Page& Page::text(const std::string& paragraph) {
  body_ += fmt::format("<p>{}</p>\n", escape(paragraph));
  return *this;
}

Page& Page::figures(const std::vector<Figure>& figures, Size size) {
  if (figures.empty()) return *this;
  body_ += fmt::format("<div class=\"figures {}\">\n", word(size));
  for (const auto& figure : figures) body_ += std::visit([](const auto& f) { return figure_html(f); }, figure);
  body_ += "</div>\n";
  return *this;
}

Page& Page::table(const Table& table) {
  body_ += fmt::format("<div class=\"scroll\"><table class=\"{}\">\n", table.numbers ? "numbers" : "words");
  if (!table.header.empty()) {
    body_ += "<thead><tr>";
    for (const auto& head : table.header) body_ += fmt::format("<th scope=\"col\">{}</th>", escape(head));
    body_ += "</tr></thead>\n";
  }
  body_ += "<tbody>\n";
  for (const auto& row : table.rows) body_ += row_html(row, table.header);
  body_ += "</tbody></table></div>\n";
  return *this;
}

Page& Page::findings(const std::vector<std::pair<Badge, std::string>>& findings) {
  body_ += "<ul class=\"findings\">\n";
  for (const auto& [badge, words] : findings)
    body_ += fmt::format("<li>{} <span>{}</span></li>\n", badge_html(badge), escape(words));
  body_ += "</ul>\n";
  return *this;
}

Page& Page::code(const std::string& text) {
  body_ += fmt::format("<pre tabindex=\"0\">{}</pre>\n", escape(text));
  return *this;
}

Page& Page::details(const std::string& summary, const std::function<void(Page&)>& content) {
  body_ += fmt::format("<details><summary>{}</summary>\n", escape(summary));
  content(*this);
  body_ += "</details>\n";
  return *this;
}

std::string Page::html() const {
  const auto title = escape(title_);
  const auto subtitle = subtitle_.empty() ? "" : fmt::format("<p class=\"subtitle\">{}</p>\n", escape(subtitle_));
  const auto contents = contents_.empty() ? "" : fmt::format("<nav aria-label=\"Contents\">\n{}</nav>\n", contents_);
  // The policy makes the browser itself refuse any fetch, whatever a file smuggled in.
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n<h1>{}</h1>\n{}{}{}{}</main>\n"
      "<script>{}</script>\n</body>\n</html>\n",
      title, page_style, title, subtitle, top_, contents, body_, page_script);
}

}  // namespace penumbra::report
