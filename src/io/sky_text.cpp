#include <ATen/ATen.h>

#include <charconv>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/nearest.h"
#include "io/sky_image.h"

namespace penumbra::io {
namespace {

constexpr int64_t most_sky_pixels = 32768;

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr const char* blank = " \t\r";
  for (auto start = line.find_first_not_of(blank); start != line.npos; start = line.find_first_not_of(blank, start)) {
    const auto end = std::min(line.find_first_of(blank, start), line.size());
    words.push_back(line.substr(start, end - start));
    start = end;
  }
  return words;
}

class TextReader {
 public:
  TextReader(std::string_view text, std::string name) : text_(text), name_(std::move(name)) {}

  bool next() {
    if (text_.empty()) return false;
    const auto end = std::min(text_.find('\n'), text_.size());
    words_ = words_of(text_.substr(0, end));
    text_.remove_prefix(std::min(end + 1, text_.size()));
    ++line_;
    return true;
  }
  size_t count() const { return words_.size(); }
  std::string word(size_t i) const { return i < words_.size() ? std::string(words_[i]) : ""; }
  double number(size_t i, const char* what) const {
    double value = 0;
    const auto text = word(i);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
      refuse(fmt::format("{}: expected a number, found {}", what, text.empty() ? "nothing" : excerpt(text)));
    return value;
  }
  [[noreturn]] void refuse(const std::string& message) const { input_error("{}:{}: {}", name_, line_, message); }

 private:
  std::string_view text_;
  std::string name_;
  std::vector<std::string_view> words_;
  int64_t line_ = 0;
};

/// "-28 deg 59 m 31.8820 s": the parts count away from zero.
double sexagesimal(const TextReader& line, const char* what) {
  const double whole = line.number(2, what), rest = line.number(4, what) / 60 + line.number(6, what) / 3600;
  return line.word(2).starts_with('-') ? whole - rest : whole + rest;
}

int64_t side(const TextReader& line, const char* what) {
  const double pixels = line.number(2, what);
  if (!(pixels >= 1 && pixels <= most_sky_pixels) || pixels != std::floor(pixels))
    line.refuse(fmt::format("{}: expected a number of pixels, found {}", what, pixels));
  return static_cast<int64_t>(pixels);
}

}  // namespace

SkyImage parse_sky_text(std::string_view text, const std::string& name) {
  TextReader line(text, name);
  SkyImage image;
  image.unit = "JY/PIXEL";
  int64_t height = 0, width = 0;
  std::vector<double> values;
  double first = 0, last = 0, arcseconds = 0;
  while (line.next()) {
    if (line.count() == 0) continue;
    if (line.word(0) == "#") {
      const auto key = line.word(1);
      if (key == "SRC:") image.source = line.word(2);
      if (key == "RA:") image.right_ascension = sexagesimal(line, "RA");
      if (key == "DEC:") image.declination = sexagesimal(line, "DEC");
      if (key == "MJD:") image.mjd = line.number(2, "MJD");
      if (key == "RF:") image.frequency = line.number(2, "RF") * 1e9;
      if (key == "FOVX:") width = side(line, "FOVX");
      if (key == "FOVX:") arcseconds = line.number(4, "FOVX");
      if (key == "FOVY:") height = side(line, "FOVY");
      continue;
    }
    if (static_cast<int64_t>(values.size()) == width * height)
      line.refuse(fmt::format("expected {} x {} pixels, as FOVX and FOVY say, found more", height, width));
    last = line.number(0, "x");
    if (values.empty()) first = last;
    line.number(1, "y");
    values.push_back(line.number(2, "I"));
  }
  const auto found = static_cast<int64_t>(values.size());
  if (found == 0 || found != width * height)
    input_error("{}: expected {} x {} pixels, as FOVX and FOVY say, found {}", name, height, width, found);
  // The coordinates have more digits than the field of view.
  const double step = width > 1 ? (first - last) / static_cast<double>(width - 1) : arcseconds;
  if (!(step > 0)) input_error("{}: x: expected a first column in the East, found it in the West", name);
  image.pixel_radians = step * radians_per_degree / 3600;
  image.pixels = at::from_blob(values.data(), {height, width}, at::kDouble).clone();
  return image;
}

}  // namespace penumbra::io
