/// Walks over bytes that are not trusted: past their end is an InputError, never a read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"

namespace penumbra::io {

class Cursor {
 public:
  /// `name` stands for the file in messages; it must outlive the cursor, as the bytes must.
  Cursor(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}
  Cursor(std::string_view, std::string&&) = delete;

  size_t position() const { return position_; }
  size_t left() const { return bytes_.size() - position_; }
  std::string_view rest() const { return bytes_.substr(position_); }

  std::string_view take(uint64_t count) {
    if (count > left())
      input_error("{}: the file is truncated: expected {} more bytes at byte {}, found {}", name_, count, position_,
                  left());
    const auto taken = bytes_.substr(position_, count);
    position_ += count;
    return taken;
  }

  /// An unsigned number of up to 8 bytes, little endian.
  uint64_t number(size_t width) {
    const auto bytes = take(width);
    uint64_t number = 0;
    for (size_t i = width; i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[i]);
    return number;
  }

 private:
  std::string_view bytes_;
  const std::string& name_;
  size_t position_ = 0;
};

}  // namespace penumbra::io
