#include "io/fits_writer.h"

#include "core/error.h"

#ifdef PENUMBRA_FITS
#include <fitsio.h>

#include <cstdlib>
#include <utility>
#endif

namespace penumbra::io {

#ifdef PENUMBRA_FITS
namespace {

/// The library's functions take no const; it writes to none of these.
char* plain(const std::string& text) { return const_cast<char*>(text.c_str()); }
template <typename Number>
Number* plain(std::span<const Number> values) {
  return const_cast<Number*>(values.data());
}
const char* comment_or_none(const std::string& comment) { return comment.empty() ? nullptr : comment.c_str(); }

constexpr int all_digits = -17;  // of a double; negative: as many as it takes

}  // namespace

struct FitsWriter::Handle {
  fitsfile* file = nullptr;
  void* bytes = nullptr;
  size_t size = 0;
  ~Handle() {
    int status = 0;
    if (file != nullptr) fits_close_file(file, &status);
    fits_clear_errmsg();
    std::free(bytes);
  }
};

FitsWriter::FitsWriter(std::string name) : name_(std::move(name)), handle_(std::make_unique<Handle>()) {
  constexpr size_t block = 2880, step = 100 * block;
  handle_->size = block;
  handle_->bytes = std::malloc(block);
  int status = 0;
  fits_create_memfile(&handle_->file, &handle_->bytes, &handle_->size, step, std::realloc, &status);
  check(status);
}

void FitsWriter::check(int status) const {
  if (status == 0) return;
  char text[FLEN_STATUS] = "";
  fits_get_errstatus(status, text);
  fits_clear_errmsg();
  machine_error("{}: cannot be written: {}", name_, text);
}

void FitsWriter::begin_groups(const std::vector<int64_t>& axes, int64_t parameters, int64_t groups) {
  std::vector<long> sizes(axes.begin(), axes.end());
  int status = 0;
  fits_write_grphdr(handle_->file, 1, FLOAT_IMG, static_cast<int>(sizes.size()), sizes.data(), parameters, groups, 1,
                    &status);
  check(status);
}

void FitsWriter::begin_image(const std::vector<int64_t>& axes) {
  std::vector<long> sizes(axes.begin(), axes.end());
  int status = 0;
  fits_create_img(handle_->file, DOUBLE_IMG, static_cast<int>(sizes.size()), sizes.data(), &status);
  check(status);
}

void FitsWriter::begin_table(const std::string& name, const std::vector<Column>& columns, int64_t rows) {
  std::vector<char*> names, forms, units;
  for (const auto& column : columns) {
    names.push_back(plain(column.name));
    forms.push_back(plain(column.form));
    units.push_back(plain(column.unit));
  }
  int status = 0;
  fits_create_tbl(handle_->file, BINARY_TBL, rows, static_cast<int>(columns.size()), names.data(), forms.data(),
                  units.data(), name.c_str(), &status);
  check(status);
}

void FitsWriter::number(const std::string& keyword, double value, const std::string& comment) {
  int status = 0;
  fits_update_key_dbl(handle_->file, keyword.c_str(), value, all_digits, comment_or_none(comment), &status);
  check(status);
}

void FitsWriter::integer(const std::string& keyword, int64_t value, const std::string& comment) {
  int status = 0;
  fits_update_key_lng(handle_->file, keyword.c_str(), value, comment_or_none(comment), &status);
  check(status);
}

void FitsWriter::text(const std::string& keyword, const std::string& value, const std::string& comment) {
  int status = 0;
  fits_update_key_str(handle_->file, keyword.c_str(), value.c_str(), comment_or_none(comment), &status);
  check(status);
}

void FitsWriter::group(int64_t index, std::span<const float> parameters, std::span<const float> values) {
  int status = 0;
  fits_write_grppar_flt(handle_->file, index, 1, static_cast<LONGLONG>(parameters.size()), plain(parameters), &status);
  fits_write_img_flt(handle_->file, index, 1, static_cast<LONGLONG>(values.size()), plain(values), &status);
  check(status);
}

void FitsWriter::pixels(std::span<const double> values) {
  int status = 0;
  fits_write_img(handle_->file, TDOUBLE, 1, static_cast<LONGLONG>(values.size()), plain(values), &status);
  check(status);
}

void FitsWriter::column(int index, std::span<const double> values) {
  int status = 0;
  fits_write_col(handle_->file, TDOUBLE, index, 1, 1, static_cast<LONGLONG>(values.size()), plain(values), &status);
  check(status);
}

void FitsWriter::column(int index, const std::vector<std::string>& values) {
  std::vector<char*> texts;
  for (const auto& value : values) texts.push_back(plain(value));
  int status = 0;
  fits_write_col(handle_->file, TSTRING, index, 1, 1, static_cast<LONGLONG>(texts.size()), texts.data(), &status);
  check(status);
}

std::string FitsWriter::finish() {
  int status = 0;
  LONGLONG header = 0, data = 0, end = 0;
  fits_flush_file(handle_->file, &status);
  fits_get_hduaddrll(handle_->file, &header, &data, &end, &status);
  fits_close_file(std::exchange(handle_->file, nullptr), &status);
  check(status);
  return {static_cast<const char*>(handle_->bytes), static_cast<size_t>(end)};
}

#else

struct FitsWriter::Handle {};

// Nothing else can be called: there is no writer without its constructor.
FitsWriter::FitsWriter(std::string name) : name_(std::move(name)) {
  input_error("{}: FITS files cannot be written: the program was built without CFITSIO", name_);
}
void FitsWriter::begin_groups(const std::vector<int64_t>&, int64_t, int64_t) {}
void FitsWriter::begin_image(const std::vector<int64_t>&) {}
void FitsWriter::begin_table(const std::string&, const std::vector<Column>&, int64_t) {}
void FitsWriter::number(const std::string&, double, const std::string&) {}
void FitsWriter::integer(const std::string&, int64_t, const std::string&) {}
void FitsWriter::text(const std::string&, const std::string&, const std::string&) {}
void FitsWriter::group(int64_t, std::span<const float>, std::span<const float>) {}
void FitsWriter::pixels(std::span<const double>) {}
void FitsWriter::column(int, std::span<const double>) {}
void FitsWriter::column(int, const std::vector<std::string>&) {}
std::string FitsWriter::finish() { return {}; }

#endif

FitsWriter::~FitsWriter() = default;

}  // namespace penumbra::io
