/// FITS files in memory, written by CFITSIO: random groups or an image, then tables.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace penumbra::io {

class FitsWriter {
 public:
  /// Throws InputError where the program was built without CFITSIO; `name` stands for the file in messages.
  explicit FitsWriter(std::string name);
  ~FitsWriter();
  FitsWriter(const FitsWriter&) = delete;
  FitsWriter& operator=(const FitsWriter&) = delete;

  struct Column {
    std::string name, form, unit;
  };

  /// The first part is one of these two; `axes` are NAXIS1, NAXIS2, ...
  void begin_groups(const std::vector<int64_t>& axes, int64_t parameters, int64_t groups);
  void begin_image(const std::vector<int64_t>& axes);
  void begin_table(const std::string& name, const std::vector<Column>& columns, int64_t rows);

  /// Keywords of the part that was begun last.
  void number(const std::string& keyword, double value, const std::string& comment = "");
  void integer(const std::string& keyword, int64_t value, const std::string& comment = "");
  void text(const std::string& keyword, const std::string& value, const std::string& comment = "");

  /// Data of the part that was begun last; groups and columns count from 1.
  void group(int64_t index, std::span<const float> parameters, std::span<const float> values);
  void pixels(std::span<const double> values);
  void column(int index, std::span<const double> values);
  void column(int index, const std::vector<std::string>& values);

  /// The file's bytes; nothing can be written after.
  std::string finish();

 private:
  struct Handle;
  void check(int status) const;

  std::string name_;
  std::unique_ptr<Handle> handle_;
};

}  // namespace penumbra::io
