/// What the checks of our CUDA kernels share. They know no LibTorch, so that compute-sanitizer watches nothing but our
/// kernels, and every array has memory of its own, so that it sees a step past an end.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "networks/norm_kernels.h"

namespace penumbra::cuda::check {

using Numbers = std::vector<double>;

inline void require(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
  std::exit(3);
}

/// Of a launch: null, or why it failed.
inline void require(const char* error) {
  if (error == nullptr) return;
  std::fprintf(stderr, "CUDA: launch: %s\n", error);
  std::exit(3);
}

/// An array on the GPU.
template <typename T>
class OnDevice {
 public:
  /// Every number is a NaN, so that what is not written is seen.
  explicit OnDevice(size_t count) : count_(count) {
    require(cudaMalloc(&data_, bytes()));
    require(cudaMemset(data_, 0xff, bytes()));
  }
  explicit OnDevice(const std::vector<T>& from) : count_(from.size()) {
    require(cudaMalloc(&data_, bytes()));
    require(cudaMemcpy(data_, from.data(), bytes(), cudaMemcpyHostToDevice));
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() { cudaFree(data_); }

  T* data() const { return data_; }
  std::vector<T> read() const {
    std::vector<T> out(count_);
    require(cudaMemcpy(out.data(), data_, bytes(), cudaMemcpyDeviceToHost));  // waits for the kernels
    return out;
  }

 private:
  size_t bytes() const { return sizeof(T) * count_; }

  size_t count_;
  T* data_ = nullptr;
};

/// How numbers of a type are called, and how far results that were rounded to it may be from exact ones in the norm.
template <typename T>
struct Type;
template <>
struct Type<float> {
  static constexpr Element element = Element::float32;
  static constexpr const char* name = "float32";
  static constexpr double limit = 2e-5;
};
template <>
struct Type<__nv_bfloat16> {
  static constexpr Element element = Element::bfloat16;
  static constexpr const char* name = "bfloat16";
  static constexpr double limit = 1.0 / 256;
};
template <>
struct Type<__half> {
  static constexpr Element element = Element::float16;
  static constexpr const char* name = "float16";
  static constexpr double limit = 1.0 / 2048;
};

inline float as_number(float x) { return x; }
inline float as_number(__nv_bfloat16 x) { return __bfloat162float(x); }
inline float as_number(__half x) { return __half2float(x); }
inline void round_to(float& to, double x) { to = static_cast<float>(x); }
inline void round_to(__nv_bfloat16& to, double x) { to = __float2bfloat16(static_cast<float>(x)); }
inline void round_to(__half& to, double x) { to = __float2half(static_cast<float>(x)); }

template <typename T>
Numbers exact(const std::vector<T>& x) {
  Numbers out;
  for (const T& value : x) out.push_back(as_number(value));
  return out;
}

/// Random numbers, rounded to their type before anything is computed with them.
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}

  template <typename T>
  std::vector<T> normal(size_t count, double mean = 0, double sd = 1) {
    std::vector<T> out(count);
    for (T& value : out) round_to(value, mean + sd * law_(engine_));
    return out;
  }
  int below(int limit) { return static_cast<int>(engine_() % static_cast<unsigned>(limit)); }

 private:
  std::mt19937 engine_;
  std::normal_distribution<double> law_;
};

/// ‖found - wanted‖ / ‖wanted‖ against a limit; a NaN never passes.
class Report {
 public:
  void compare(const std::string& what, const Numbers& found, const Numbers& wanted, double limit) {
    double off = 0, size = 0;
    for (size_t i = 0; i < wanted.size(); ++i) {
      off += (found.at(i) - wanted[i]) * (found.at(i) - wanted[i]);
      size += wanted[i] * wanted[i];
    }
    const double error = std::sqrt(off / size);
    ++count_;
    if (found.size() == wanted.size() && error <= limit) return;
    ++failed_;
    std::printf("FAILED %s: error %.3g, limit %.3g\n", what.c_str(), error, limit);
  }

  int count() const { return count_; }
  int failed() const { return failed_; }

 private:
  int count_ = 0, failed_ = 0;
};

// One for each file of kernels.
void check_features(Report& report);
void check_skip(Report& report);
void check_ends(Report& report);
void check_normalisation(Report& report);
void check_closures(Report& report);
void check_noise(Report& report);

}  // namespace penumbra::cuda::check
