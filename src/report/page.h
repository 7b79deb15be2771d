/// A self-contained HTML page: text, figures, tables; nothing is fetched, nothing trusted.
///
/// Every string handed in is escaped. The page follows the reader's light or dark setting, fits a phone and prints.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "report/chart.h"
#include "report/colormap.h"

namespace penumbra::report {

/// How good the news is.
enum class Level { good, note, warning, bad };

/// "good", "note", "warning", "bad"; any other word is a note.
Level level_of(const std::string& word);

struct Badge {
  Level level = Level::note;
  std::string text = {};
};

/// An image with its colour bar.
struct Picture {
  std::string title = {};  ///< the heading, and the saved file's name
  std::string caption = {};
  Tensor image = {};  ///< [H, W] or [C, H, W], see picture_bytes
  Range range = {};
  Colormap map = Colormap::gray;
  Colour nan = broken;
  bool bar = true;       ///< off where the figure's neighbour has the same bar
  double sky_width = 0;  ///< microarcseconds; then a scale bar, North and East are drawn over the image
};

/// A chart under its title.
struct Plot {
  Chart chart = {};
  std::string caption = {};
};

using Figure = std::variant<Picture, Plot>;

/// How wide a figure wants to be; as many as fit stand side by side.
enum class Size { small, medium, large, full };

struct Cell {
  std::string text = {};
  std::optional<Level> level = {};  ///< shown as a badge
  Cell(const char* words) : text(words) {}
  Cell(std::string words, std::optional<Level> badge = {}) : text(std::move(words)), level(badge) {}
};

struct Table {
  std::vector<std::string> header = {};
  std::vector<std::vector<Cell>> rows = {};
  bool numbers = false;  ///< all columns but the first are numbers, set flush right
};

class Page {
 public:
  explicit Page(std::string title, std::string subtitle = {});

  /// The box on top: one sentence and its badges.
  Page& verdict(Level level, const std::string& sentence, const std::vector<Badge>& badges = {});
  /// A heading, also listed in the page's contents.
  Page& section(const std::string& heading, const std::string& lead = {});
  Page& text(const std::string& paragraph);
  Page& figures(const std::vector<Figure>& figures, Size size = Size::medium);
  Page& table(const Table& table);
  /// One line for each badge with its explanation.
  Page& findings(const std::vector<std::pair<Badge, std::string>>& findings);
  Page& code(const std::string& text);
  /// Folded away until asked for; printed all the same.
  Page& details(const std::string& summary, const std::function<void(Page&)>& content);

  std::string html() const;

 private:
  std::string title_, subtitle_, contents_, top_, body_;
};

}  // namespace penumbra::report
