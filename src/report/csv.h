/// CSV files with a header row, as runs write them: a cell is a number or a word on one line.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace penumbra::report {

/// Numbers by column; a blank cell is NaN.
using Columns = std::map<std::string, std::vector<double>>;

struct Csv {
  std::filesystem::path path = {};
  std::vector<std::string> names = {};               ///< the columns in order
  std::vector<std::vector<std::string>> cells = {};  ///< one for each name in every row
  std::vector<size_t> lines = {};                    ///< where in the file each row is, for messages
};

/// A word as a cell: in quotes where it has a comma, a quote or a line's end.
std::string csv_cell(const std::string& word);

/// Throws InputError naming the file and the line where a row is longer or shorter than the header.
Csv read_csv(const std::filesystem::path& path);

/// A cell as a number; throws InputError where it is none.
double number_in(const Csv& csv, size_t row, size_t column);

/// All cells as numbers.
Columns numbers_of(const Csv& csv);

}  // namespace penumbra::report
