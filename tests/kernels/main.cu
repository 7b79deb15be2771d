/// penumbra_kernel_check: every CUDA kernel of ours against float64 on the host, without LibTorch. For a GPU, and for
/// compute-sanitizer on one; scripts/gpu.sh runs it.
#include "kernels/check.cuh"

int main() {
  using namespace penumbra::cuda::check;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "no GPU here\n");
    return 3;
  }
  Report report;
  check_features(report);
  check_skip(report);
  check_ends(report);
  check_normalisation(report);
  check_closures(report);
  check_noise(report);
  std::printf("%d passed, %d failed\n", report.count() - report.failed(), report.failed());
  return report.failed() == 0 ? 0 : 1;
}
