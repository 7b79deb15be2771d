/// A small table of words, written as Markdown, as CSV or aligned for a terminal.
#pragma once

#include <string>
#include <vector>

#include "report/page.h"

namespace penumbra::app {

struct TextTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  ///< each as long as the header
};

std::string markdown(const TextTable& table);

/// RFC 4180: a field with a comma, a quote or a line break is quoted.
std::string csv(const TextTable& table);

/// The first column flush left, the others flush right.
std::string aligned(const TextTable& table);

/// For a report: all columns but the first are numbers.
report::Table as_numbers(const TextTable& table);

}  // namespace penumbra::app
