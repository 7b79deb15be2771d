#include "io/fits_reader.h"

#include "core/error.h"

#ifdef PENUMBRA_FITS
#include <fitsio.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "core/nearest.h"
#include "io/fits_layout.h"
#endif

namespace penumbra::io {

#ifdef PENUMBRA_FITS
namespace {

/// What CFITSIO says about its last failure; empties its list of messages.
std::string reason(int status) {
  char text[FLEN_STATUS] = "";
  fits_get_errstatus(status, text);
  fits_clear_errmsg();
  return text;
}

/// The library's functions take no const; it writes to none of these.
char* plain(const std::string& text) { return const_cast<char*>(text.c_str()); }

constexpr int most_axes = 16;

/// FITS knows printable ASCII alone; what else a file holds would break the tables and JSON that its names come into.
std::string printable(std::string text) {
  for (auto& letter : text)
    if (letter < ' ' || letter > '~') letter = '?';
  return text;
}

double big_endian_float(const char* bytes) {
  uint32_t word = 0;
  for (int i = 0; i < 4; ++i) word = word << 8 | static_cast<unsigned char>(bytes[i]);
  return std::bit_cast<float>(word);
}

}  // namespace

struct FitsReader::Handle {
  std::string copy;  // whole blocks: the library reads no less, past the end if need be
  void* bytes = nullptr;
  size_t size = 0;
  fitsfile* file = nullptr;
  ~Handle() {
    int status = 0;
    if (file != nullptr) fits_close_file(file, &status);
    fits_clear_errmsg();
  }
};

bool reads_fits() { return true; }

FitsReader::FitsReader(std::span<const char> bytes, std::string name)
    : name_(std::move(name)), handle_(std::make_unique<Handle>()) {
  check_fits_layout(bytes, name_);
  handle_->copy.assign(bytes.data(), bytes.size());
  handle_->copy.resize((bytes.size() + fits_block - 1) / fits_block * fits_block);
  handle_->bytes = handle_->copy.data();
  handle_->size = handle_->copy.size();
  int status = 0;
  fits_clear_errmsg();
  // The library takes the name apart, as a place to copy to, a filter or a command; ours has no such parts.
  fits_open_memfile(&handle_->file, "memory", READONLY, &handle_->bytes, &handle_->size, 0, nullptr, &status);
  if (status != 0) input_error("{}: expected a FITS header, found: {}", name_, reason(status));
}

bool FitsReader::find_table(const std::string& name) {
  int status = 0, count = 0;
  fits_get_num_hdus(handle_->file, &count, &status);
  for (int unit = 2; unit <= count && status == 0; ++unit) {
    int type = 0;
    fits_movabs_hdu(handle_->file, unit, &type, &status);
    if (status == 0 && type == BINARY_TBL && text("EXTNAME") == name) return true;
  }
  // Counting stops, without a failure, at a part that is cut off.
  if (status != 0) input_error("{}: expected a table {}, found: {}", name_, name, reason(status));
  return false;
}

std::optional<double> FitsReader::number(const std::string& keyword) const {
  double value = 0;
  int status = 0;
  fits_read_key(handle_->file, TDOUBLE, plain(keyword), &value, nullptr, &status);
  if (status == KEY_NO_EXIST || status == VALUE_UNDEFINED) {
    fits_clear_errmsg();
    return std::nullopt;
  }
  if (status != 0) {
    fits_clear_errmsg();
    input_error("{}: {}: expected a number, found {}", name_, keyword, excerpt(text(keyword).value_or("nothing")));
  }
  return value;
}

std::optional<std::string> FitsReader::text(const std::string& keyword) const {
  std::array<char, FLEN_VALUE> value{};
  int status = 0;
  fits_read_key(handle_->file, TSTRING, plain(keyword), value.data(), nullptr, &status);
  if (status == 0) return printable(value.data());
  fits_clear_errmsg();
  return std::nullopt;
}

std::vector<int64_t> FitsReader::axes() const {
  int status = 0, count = 0;
  fits_get_img_dim(handle_->file, &count, &status);
  std::array<LONGLONG, most_axes> sizes{};
  if (status == 0 && count > most_axes)
    input_error("{}: NAXIS: expected at most {} axes, found {}", name_, most_axes, count);
  if (status == 0) fits_get_img_sizell(handle_->file, count, sizes.data(), &status);
  if (status != 0) input_error("{}: NAXIS: expected an image, found: {}", name_, reason(status));
  return {sizes.begin(), sizes.begin() + count};
}

/// Where the current part's data begin; they lie within the file as the library sees them, too.
size_t FitsReader::data_start() const {
  LONGLONG header = 0, start = 0, end = 0;
  int status = 0;
  fits_get_hduaddrll(handle_->file, &header, &start, &end, &status);
  const auto size = static_cast<LONGLONG>(handle_->size);
  if (status != 0 || start < 0 || start > end || end > size)
    input_error("{}: NAXIS: expected data within the file of {} bytes, found them from {} to {}", name_, size, start,
                end);
  return static_cast<size_t>(start);
}

FitsReader::Groups FitsReader::groups() const {
  const auto sizes = axes();
  Groups groups;
  int grouped = 0, status = 0;
  fits_read_key(handle_->file, TLOGICAL, "GROUPS", &grouped, nullptr, &status);
  fits_clear_errmsg();
  if (status != 0 || grouped == 0 || sizes.size() < 2 || sizes[0] != 0)
    input_error("{}: GROUPS: expected random groups (GROUPS = T, NAXIS1 = 0), found another kind of FITS file", name_);
  groups.values = 1;
  for (size_t axis = 1; axis < sizes.size(); ++axis) groups.values *= sizes[axis];
  if (number("BITPIX", "-32") != -32) input_error("{}: BITPIX: expected -32, found {}", name_, number("BITPIX", "-32"));
  const auto start = data_start();
  const double count = number("GCOUNT").value_or(1), parameters = number("PCOUNT").value_or(0),
               claimed = 4 * count * (parameters + static_cast<double>(groups.values)),
               room = static_cast<double>(handle_->size - start);
  if (!(groups.values >= 1 && count >= 0 && parameters >= 0 && claimed <= room))
    input_error("{}: GCOUNT: expected groups that the file has room for, found {} of {} parameters and {} values",
                name_, count, parameters, groups.values);
  groups.count = static_cast<int64_t>(count);
  groups.parameters = static_cast<int64_t>(parameters);
  groups.parameter.reserve(static_cast<size_t>(groups.count * groups.parameters));
  groups.value.reserve(static_cast<size_t>(groups.count * groups.values));
  // Decoded here: the library, which finds the groups by sizes of its own reading, does not stay within the file.
  const double scale = number("BSCALE").value_or(1), zero = number("BZERO").value_or(0);
  const auto* at = handle_->copy.data() + start;
  for (int64_t i = 0; i < groups.count; ++i) {
    for (int64_t k = 0; k < groups.parameters; ++k, at += 4) groups.parameter.push_back(big_endian_float(at));
    for (int64_t k = 0; k < groups.values; ++k, at += 4) groups.value.push_back(big_endian_float(at) * scale + zero);
  }
  return groups;
}

int64_t FitsReader::rows() const {
  LONGLONG count = 0;
  int status = 0;
  fits_get_num_rowsll(handle_->file, &count, &status);
  if (status != 0) input_error("{}: NAXIS2: expected a table, found: {}", name_, reason(status));
  data_start();
  return count;
}

bool FitsReader::has_column(const std::string& column) const {
  int number = 0, status = 0;
  fits_get_colnum(handle_->file, CASEINSEN, plain(column), &number, &status);
  fits_clear_errmsg();
  return status == 0;
}

int FitsReader::column_number(const std::string& column) const {
  int number = 0, status = 0;
  fits_get_colnum(handle_->file, CASEINSEN, plain(column), &number, &status);
  if (status != 0)
    input_error("{}: {}: expected a column {}, found: {}", name_, text("EXTNAME").value_or("table"), column,
                reason(status));
  return number;
}

std::vector<double> FitsReader::numbers(const std::string& column, int64_t per_row) const {
  const int number = column_number(column);
  int type = 0, status = 0;
  LONGLONG repeat = 0, width = 0;
  fits_get_coltypell(handle_->file, number, &type, &repeat, &width, &status);
  if (status != 0 || type < TBYTE || type > TDOUBLE || type == TSTRING || type == TLOGICAL || repeat != per_row)
    input_error("{}: {}: column {}: expected {} numbers a row, found {} of type {}", name_,
                text("EXTNAME").value_or("table"), column, per_row, repeat, type);
  const auto count = rows() * per_row;
  std::vector<double> values(static_cast<size_t>(count));
  if (count > 0) fits_read_col(handle_->file, TDOUBLE, number, 1, 1, count, nullptr, values.data(), nullptr, &status);
  if (status != 0)
    input_error("{}: {}: column {}: cannot be read: {}", name_, text("EXTNAME").value_or("table"), column,
                reason(status));
  return values;
}

std::vector<std::string> FitsReader::texts(const std::string& column) const {
  const int number = column_number(column);
  int type = 0, status = 0;
  LONGLONG repeat = 0, width = 0;
  constexpr LONGLONG longest = 256;
  fits_get_coltypell(handle_->file, number, &type, &repeat, &width, &status);
  if (status != 0 || type != TSTRING || repeat < 1 || repeat > longest || width != repeat)
    input_error("{}: {}: column {}: expected one text of at most {} letters a row, found {} of type {}", name_,
                text("EXTNAME").value_or("table"), column, longest, repeat, type);
  std::vector<std::string> values;
  const auto count = rows();
  for (int64_t row = 0; row < count && status == 0; ++row) {
    std::array<char, longest + 1> value{};
    char* at = value.data();
    fits_read_col(handle_->file, TSTRING, number, row + 1, 1, 1, nullptr, &at, nullptr, &status);
    values.push_back(printable(value.data()));
  }
  if (status != 0)
    input_error("{}: {}: column {}: cannot be read: {}", name_, text("EXTNAME").value_or("table"), column,
                reason(status));
  return values;
}

std::vector<double> FitsReader::pixels() const {
  int64_t count = 1;
  for (const auto size : axes()) {
    if (size < 1 || size > 32768)
      input_error("{}: NAXIS: expected an image of 1 to 32768 pixels a side, found {}", name_, size);
    count *= size;
  }
  data_start();
  std::vector<double> values(static_cast<size_t>(count));
  int status = 0;
  fits_read_img(handle_->file, TDOUBLE, 1, count, nullptr, values.data(), nullptr, &status);
  if (status != 0) input_error("{}: expected {} pixels, found: {}", name_, count, reason(status));
  return values;
}

#else

struct FitsReader::Handle {};

bool reads_fits() { return false; }

// Nothing else can be called: there is no reader without its constructor.
FitsReader::FitsReader(std::span<const char>, std::string name) : name_(std::move(name)) {
  input_error("{}: FITS files cannot be read: the program was built without CFITSIO", name_);
}
bool FitsReader::find_table(const std::string&) { return false; }
std::optional<double> FitsReader::number(const std::string&) const { return std::nullopt; }
std::optional<std::string> FitsReader::text(const std::string&) const { return std::nullopt; }
std::vector<int64_t> FitsReader::axes() const { return {}; }
FitsReader::Groups FitsReader::groups() const { return {}; }
int64_t FitsReader::rows() const { return 0; }
bool FitsReader::has_column(const std::string&) const { return false; }
std::vector<double> FitsReader::numbers(const std::string&, int64_t) const { return {}; }
std::vector<std::string> FitsReader::texts(const std::string&) const { return {}; }
std::vector<double> FitsReader::pixels() const { return {}; }

#endif

FitsReader::~FitsReader() = default;

double FitsReader::number(const std::string& keyword, const std::string& expected) const {
  const auto value = number(keyword);
  if (!value) input_error("{}: {}: expected {}, found no such keyword", name_, keyword, expected);
  return *value;
}

}  // namespace penumbra::io
