#include "support/npz.h"

#include <zlib.h>

#include <stdexcept>
#include <string_view>

#include "io/file.h"
#include "io/npy.h"

namespace penumbra::test {
namespace {

uint64_t number(std::string_view bytes, size_t at, size_t width) {
  uint64_t value = 0;
  for (size_t i = width; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes.at(at + i));
  return value;
}

std::string inflated(std::string_view stored, uint64_t size) {
  std::string out(size, '\0');
  z_stream stream{};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(stored.data()));
  stream.avail_in = static_cast<uInt>(stored.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(size);
  inflateInit2(&stream, -MAX_WBITS);
  const int code = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  if (code != Z_STREAM_END) throw std::runtime_error("npz: cannot be inflated");
  return out;
}

}  // namespace

std::map<std::string, Tensor> read_npz(const std::filesystem::path& path) {
  const auto bytes = io::read_file(path);
  const std::string_view all = bytes;
  std::map<std::string, Tensor> arrays;
  const auto end = all.rfind("PK\5\6");
  auto entry = number(all, end + 16, 4);
  for (auto left = number(all, end + 10, 2); left > 0; --left) {
    const auto method = number(all, entry + 10, 2), stored = number(all, entry + 20, 4),
               size = number(all, entry + 24, 4);
    const auto name_size = number(all, entry + 28, 2), extra = number(all, entry + 30, 2),
               comment = number(all, entry + 32, 2), local = number(all, entry + 42, 4);
    auto name = std::string(all.substr(entry + 46, name_size));
    const auto start = local + 30 + number(all, local + 26, 2) + number(all, local + 28, 2);
    const auto data = all.substr(start, stored);
    const auto npy = method == 0 ? std::string(data) : inflated(data, size);
    // Text (names, JSON) is no tensor.
    const bool text = npy.substr(0, 128).find("'<U") != npy.npos;
    if (!text) arrays[name.substr(0, name.size() - 4)] = io::parse_npy(std::span(npy.data(), npy.size()), name).clone();
    entry += 46 + name_size + extra + comment;
  }
  return arrays;
}

}  // namespace penumbra::test
