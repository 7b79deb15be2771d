#include "report/csv.h"

#include <charconv>
#include <limits>
#include <sstream>

#include "core/error.h"
#include "io/file.h"

namespace penumbra::report {
namespace {

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> parts(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const bool doubled = quoted && line[i] == '"' && i + 1 < line.size() && line[i + 1] == '"';
    if (doubled)
      parts.back() += line[++i];
    else if (line[i] == '"')
      quoted = !quoted;
    else if (line[i] == ',' && !quoted)
      parts.emplace_back();
    else
      parts.back() += line[i];
  }
  for (auto& part : parts) part = trimmed(part);
  return parts;
}

}  // namespace

std::string csv_cell(const std::string& word) {
  if (word.find_first_of(",\"\n\r") == std::string::npos) return word;
  std::string cell = "\"";
  for (const char letter : word) cell += letter == '"' ? "\"\"" : std::string(1, letter);
  return cell + '"';
}

Csv read_csv(const std::filesystem::path& path) {
  std::istringstream lines(io::read_file(path));
  std::string line;
  if (!std::getline(lines, line) || line.empty())
    input_error("{}: expected a header row, found nothing", path.string());
  Csv csv{.path = path, .names = split(line)};
  for (size_t row = 2; std::getline(lines, line); ++row) {
    if (line.empty() || line == "\r") continue;
    auto parts = split(line);
    if (parts.size() != csv.names.size())
      input_error("{}:{}: expected {} cells as in the header, found {}", path.string(), row, csv.names.size(),
                  parts.size());
    csv.cells.push_back(std::move(parts));
    csv.lines.push_back(row);
  }
  return csv;
}

double number_in(const Csv& csv, size_t row, size_t column) {
  const auto& cell = csv.cells[row][column];
  if (cell.empty()) return std::numeric_limits<double>::quiet_NaN();
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error == std::errc::result_out_of_range) return std::numeric_limits<double>::infinity();
  if (error != std::errc() || end != cell.data() + cell.size())
    input_error("{}:{}: expected a number, found '{}'", csv.path.string(), csv.lines[row], cell);
  return value;
}

Columns numbers_of(const Csv& csv) {
  Columns columns;
  for (size_t row = 0; row < csv.cells.size(); ++row)
    for (size_t i = 0; i < csv.names.size(); ++i) columns[csv.names[i]].push_back(number_in(csv, row, i));
  return columns;
}

}  // namespace penumbra::report
