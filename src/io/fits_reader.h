/// FITS files, read by CFITSIO without trusting them: keywords, random groups, columns of tables and images.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace penumbra::io {

/// Whether CFITSIO was there when the program was built.
bool reads_fits();

/// One file; what is asked for is in its current part, the first one in the beginning. Everything throws InputError
/// with the file's name where the file does not hold what is asked for.
class FitsReader {
 public:
  /// `name` stands for the file in messages.
  FitsReader(std::span<const char> bytes, std::string name);
  ~FitsReader();
  FitsReader(const FitsReader&) = delete;
  FitsReader& operator=(const FitsReader&) = delete;

  /// Makes the table of this name (EXTNAME) the current part; false where there is none.
  bool find_table(const std::string& name);

  std::optional<double> number(const std::string& keyword) const;
  std::optional<std::string> text(const std::string& keyword) const;
  /// Throws where the keyword is missing; `expected` says what should be there.
  double number(const std::string& keyword, const std::string& expected) const;

  /// NAXIS1, NAXIS2, ... of an image or of random groups.
  std::vector<int64_t> axes() const;

  /// Of random groups: parameters as they are stored, before PSCAL and PZERO, and the data of all groups in one row
  /// each.
  struct Groups {
    int64_t count = 0, parameters = 0, values = 0;
    std::vector<double> parameter;  ///< [count, parameters]
    std::vector<double> value;      ///< [count, values]
  };
  Groups groups() const;

  /// Of a table.
  int64_t rows() const;
  bool has_column(const std::string& column) const;
  std::vector<double> numbers(const std::string& column, int64_t per_row) const;
  std::vector<std::string> texts(const std::string& column) const;

  /// Of an image: all pixels, the first axis fastest.
  std::vector<double> pixels() const;

  const std::string& name() const { return name_; }

 private:
  struct Handle;
  int column_number(const std::string& column) const;
  size_t data_start() const;

  std::string name_;
  std::unique_ptr<Handle> handle_;
};

}  // namespace penumbra::io
