#include "app/experiments/text_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/csv.h"

namespace penumbra::app {
namespace {

using Row = std::vector<std::string>;

std::string csv_row(Row row) {
  for (auto& field : row) field = report::csv_cell(field);
  return fmt::format("{}\n", fmt::join(row, ","));
}

std::string markdown_row(Row row) {
  for (auto& field : row) {
    std::string escaped;
    for (const char c : field) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
    field = escaped;
  }
  return fmt::format("| {} |\n", fmt::join(row, " | "));
}

}  // namespace

std::string markdown(const TextTable& table) {
  auto text = markdown_row(table.header) + "|---|";
  for (size_t column = 1; column < table.header.size(); ++column) text += "---:|";
  text += '\n';
  for (const auto& row : table.rows) text += markdown_row(row);
  return text;
}

std::string csv(const TextTable& table) {
  auto text = csv_row(table.header);
  for (const auto& row : table.rows) text += csv_row(row);
  return text;
}

std::string aligned(const TextTable& table) {
  std::vector<size_t> widths(table.header.size());
  auto all = table.rows;
  all.insert(all.begin(), table.header);
  for (const auto& row : all)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto& row : all) {
    auto line = fmt::format("{:<{}}", row[0], widths[0]);
    for (size_t i = 1; i < row.size(); ++i) line += fmt::format("  {:>{}}", row[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

report::Table as_numbers(const TextTable& table) {
  report::Table result{.header = table.header, .rows = {}, .numbers = true};
  for (const auto& row : table.rows) result.rows.emplace_back(row.begin(), row.end());
  return result;
}

}  // namespace penumbra::app
