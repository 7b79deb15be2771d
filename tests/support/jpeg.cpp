#include "support/jpeg.h"

#include <cstdlib>

namespace penumbra::test {
namespace {

std::string big_endian(int64_t number) { return {static_cast<char>(number >> 8), static_cast<char>(number)}; }

std::string segment(char marker, const std::string& content) {
  return std::string{'\xff', marker} + big_endian(static_cast<int64_t>(content.size()) + 2) + content;
}

/// Twelve codes of four bits, whose number is their symbol: for a first coefficient the bits of its number; for the
/// others "no zeros before it, so many bits", or 0 for the end of the block.
std::string huffman_table(char id) {
  std::string table{id, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  for (char symbol = 0; symbol < 12; ++symbol) table += symbol;
  return segment('\xc4', table);
}

class Bits {
 public:
  void put(int value, int count) {
    for (int bit = count - 1; bit >= 0; --bit) {
      byte_ = byte_ << 1 | (value >> bit & 1);
      if (++filled_ == 8) flush();
    }
  }
  /// A number as its length in bits and those bits; a negative one minus 1, so that its first bit is 0.
  void number(int value) {
    int size = 0;
    while (std::abs(value) >> size) ++size;
    put(size, 4);
    put(value < 0 ? value - 1 : value, size);
  }
  std::string take() {
    while (filled_) put(1, 1);
    return bytes_;
  }

 private:
  void flush() {
    bytes_ += static_cast<char>(byte_);
    if ((byte_ & 0xff) == 0xff) bytes_ += '\0';
    byte_ = filled_ = 0;
  }
  std::string bytes_;
  int byte_ = 0, filled_ = 0;
};

}  // namespace

std::string make_jpeg(int64_t height, int64_t width, const std::vector<std::vector<JpegBlock>>& components) {
  const auto count = static_cast<char>(components.size());
  // Every coefficient counts 8: that of the mean is 8 times the mean.
  auto file = "\xff\xd8" + segment('\xdb', std::string(1, 0) + std::string(64, 8));
  auto frame = std::string(1, 8) + big_endian(height) + big_endian(width) + count;
  std::string scan(1, count);
  for (char i = 0; i < count; ++i) {
    frame += {static_cast<char>(i + 1), 0x11, 0};
    scan += {static_cast<char>(i + 1), 0};
  }
  scan += {0, 63, 0};
  file += segment('\xc0', frame) + huffman_table(0x00) + huffman_table(0x10) + segment('\xda', scan);

  Bits bits;
  std::vector<int> before(components.size(), 0);
  for (size_t block = 0; block < components.front().size(); ++block)
    for (size_t i = 0; i < components.size(); ++i) {
      const auto [level, slope] = components[i][block];
      bits.number(level - before[i]);
      before[i] = level;
      if (slope) bits.number(slope);
      bits.put(0, 4);
    }
  return file + bits.take() + "\xff\xd9";
}

}  // namespace penumbra::test
