/// Products of small matrices of short numbers by a warp, summed in float32: PTX's mma.m16n8k16, with thread `lane` in
/// row lane / 4 of each 8x8 part, at two neighbours in column lane % 4 * 2.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Older cards have none of this; kernels_run_on() keeps them away, but the sources compile for them.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define PENUMBRA_MATRIX_UNITS(...) asm volatile(__VA_ARGS__)
#else
#define PENUMBRA_MATRIX_UNITS(...) __trap()
#endif

namespace penumbra::cuda {

/// A thread's part of a 16x16 matrix: rows 0 to 7, rows 8 to 15, then the same of the right half.
struct Fragment {
  unsigned at[4];
};

/// c += a b; b, 16x8, is two words: its upper and its lower half.
__device__ inline void multiply_add(float (&c)[4], const Fragment& a, uint2 b, const __nv_bfloat16*) {
  PENUMBRA_MATRIX_UNITS(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a.at[0]), "r"(a.at[1]), "r"(a.at[2]), "r"(a.at[3]), "r"(b.x), "r"(b.y));
}
__device__ inline void multiply_add(float (&c)[4], const Fragment& a, uint2 b, const __half*) {
  PENUMBRA_MATRIX_UNITS(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a.at[0]), "r"(a.at[1]), "r"(a.at[2]), "r"(a.at[3]), "r"(b.x), "r"(b.y));
}

/// Four 8x8 matrices from shared memory; the thread's `row` is the address of 16 bytes, row lane % 8 of matrix lane
/// / 8.
__device__ inline Fragment load_matrices(const uint4* row) {
  Fragment f{};
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  PENUMBRA_MATRIX_UNITS("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                        : "=r"(f.at[0]), "=r"(f.at[1]), "=r"(f.at[2]), "=r"(f.at[3])
                        : "r"(address));
  return f;
}

/// 16 bytes on their way from global to shared memory; not `wanted`: zeros.
__device__ inline void copy_ahead(uint4* to, const void* from, bool wanted) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  PENUMBRA_MATRIX_UNITS("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(wanted ? 16 : 0)
                        : "memory");
}
__device__ inline void end_of_copies() { PENUMBRA_MATRIX_UNITS("cp.async.commit_group;" ::: "memory"); }
/// Waits until at most `pending` groups of this thread's copies are under way.
template <int pending>
__device__ void wait_for_copies() {
  PENUMBRA_MATRIX_UNITS("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

}  // namespace penumbra::cuda

#undef PENUMBRA_MATRIX_UNITS
