#include "io/weights.h"

#include <ATen/ATen.h>

#include <array>
#include <stdexcept>
#include <utility>

#include "core/error.h"
#include "io/checkpoint.h"
#include "io/file.h"
#include "io/safetensors.h"
#include "io/torch_file.h"

namespace penumbra::io {
namespace {

using nlohmann::json;

constexpr const char* header_key = "penumbra";
constexpr size_t largest_penumbra_header = 1 << 24;
constexpr int deepest_header = 64;

constexpr std::array<std::pair<ElementType, at::ScalarType>, 10> types{{{ElementType::f64, at::kDouble},
                                                                        {ElementType::f32, at::kFloat},
                                                                        {ElementType::f16, at::kHalf},
                                                                        {ElementType::bf16, at::kBFloat16},
                                                                        {ElementType::i64, at::kLong},
                                                                        {ElementType::i32, at::kInt},
                                                                        {ElementType::i16, at::kShort},
                                                                        {ElementType::i8, at::kChar},
                                                                        {ElementType::u8, at::kByte},
                                                                        {ElementType::boolean, at::kBool}}};

at::ScalarType type_of(ElementType type) {
  for (const auto& [ours, theirs] : types)
    if (ours == type) return theirs;
  throw std::logic_error("an element type without a tensor's");
}

ElementType type_of(at::ScalarType type) {
  for (const auto& [ours, theirs] : types)
    if (theirs == type) return ours;
  throw std::invalid_argument(fmt::format("safetensors: no type for {}", at::toString(type)));
}

std::map<std::string, Tensor> copied(const StoredTensors& stored) {
  std::map<std::string, Tensor> tensors;
  for (const auto& [key, tensor] : stored) {
    auto copy = at::empty(tensor.shape, at::TensorOptions().dtype(type_of(tensor.type)));
    copy_elements(tensor, static_cast<char*>(copy.data_ptr()));
    tensors.emplace(key, std::move(copy));
  }
  return tensors;
}

/// Depth is limited: nlohmann::json copies and writes by recursion.
json parse_json(const std::string& text, const std::string& where) {
  if (text.size() > largest_penumbra_header)
    input_error("{}: expected at most {} bytes, found {}", where, largest_penumbra_header, text.size());
  const auto check_depth = [&](int depth, json::parse_event_t, json&) {
    if (depth > deepest_header) input_error("{}: expected at most {} levels", where, deepest_header);
    return true;
  };
  auto value = json::parse(text, check_depth, false);
  if (value.is_discarded()) input_error("{}: expected JSON", where);
  return value;
}

Weights from_safetensors(std::span<const char> bytes, const std::string& name) {
  auto file = open_safetensors(bytes, name);
  Weights weights;
  if (const auto text = file.metadata.find(header_key); text != file.metadata.end())
    weights.header = parse_json(text->second, fmt::format("{}: __metadata__: {}", name, header_key));
  else
    weights.chosen = describe_choice({}, remove_common_prefix(file.tensors));
  weights.tensors = copied(file.tensors);
  return weights;
}

Weights from_torch_file(std::span<const char> bytes, const std::string& name) {
  auto file = open_torch_file(bytes, name);
  return {copied(file.tensors), nullptr, "", std::move(file.chosen), std::move(file.passed_over)};
}

void add_pixel_sd(Weights& weights, const std::filesystem::path& path) {
  constexpr const char* key = "pixel_sd";
  if (!weights.header.is_object() || weights.header.contains(key)) return;
  const auto beside = std::filesystem::path(path).replace_extension(".sd.json");
  std::error_code error;
  if (!std::filesystem::exists(beside, error)) return;
  weights.pixel_sd_file = beside.string();
  weights.header[key] = parse_json(read_file(beside), weights.pixel_sd_file);
}

}  // namespace

Weights read_weights(const std::filesystem::path& path) {
  auto weights = parse_weights(read_file(path), path.string());
  add_pixel_sd(weights, path);
  return weights;
}

Weights parse_weights(std::span<const char> bytes, const std::string& name) {
  const std::string_view view(bytes.data(), bytes.size());
  if (looks_like_safetensors(view)) return from_safetensors(bytes, name);
  if (looks_like_torch_file(view)) return from_torch_file(bytes, name);
  input_error("{}: expected weights as safetensors or as torch.save writes them, found neither", name);
}

void write_safetensors(const std::filesystem::path& path, const std::map<std::string, Tensor>& tensors,
                       const json& header) {
  Safetensors content;
  content.metadata = {{"format", "pt"}, {header_key, header.dump()}};
  std::vector<Tensor> held;  // the bytes below lie in these
  for (const auto& [key, tensor] : tensors) {
    held.push_back(tensor.detach().resolve_conj().resolve_neg().cpu().contiguous());
    const auto& stored = held.back();
    const auto shape = stored.sizes().vec();
    const std::string_view data(static_cast<const char*>(stored.data_ptr()), stored.nbytes());
    content.tensors[key] = {type_of(stored.scalar_type()), shape, contiguous_strides(shape), data};
  }
  write_file(path, format_safetensors(content));
}

}  // namespace penumbra::io
