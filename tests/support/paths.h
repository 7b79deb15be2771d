/// Where the tests find things.
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <string>

#include "core/tensor.h"

namespace penumbra::test {

/// The program under test.
std::filesystem::path program();

/// tests/vectors/<name>, parsed: the exact oracles of the theory.
nlohmann::json vectors(const std::string& name);

/// tests/fuzz/corpus/<path>: small files of every format that is read, right and wrong.
std::filesystem::path corpus(const std::string& path);

/// examples/<name>, as a user has it.
std::filesystem::path shipped_example(const std::string& name);

/// ../shared/<path> where this checkout has it: golden data that a user's clone lacks.
std::optional<std::filesystem::path> shared(const std::string& path);

/// A new empty folder, removed at the end of the process.
std::filesystem::path scratch();

/// A JSON array of numbers, nested to any depth, as float64.
Tensor tensor(const nlohmann::json& numbers);

/// |a - b| / |b| in the maximum norm.
double relative_error(const Tensor& a, const Tensor& b);
/// The same in the Euclidean norm.
double relative_distance(const Tensor& a, const Tensor& b);

}  // namespace penumbra::test
