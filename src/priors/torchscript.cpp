/// A network that someone else trained, as a TorchScript file: `prior: {kind: torchscript, file: net.pt, ...}`.
///
/// The module's forward(x, s) takes images [N, C, H, W] and s [N], sigma or log sigma, both float32, and returns the
/// score or the denoised images, shaped like x. The file is a program: it is run only where the configuration allows
/// it.
#include <torch/script.h>

#include <string_view>

#include "core/error.h"
#include "io/array_setting.h"
#include "priors/score.h"

namespace penumbra {
namespace {

enum class Output { score, denoiser };
enum class SigmaInput { sigma, log_sigma };

struct TorchScriptOptions {
  std::filesystem::path file;
  Output output = Output::denoiser;
  SigmaInput sigma_input = SigmaInput::sigma;
  SigmaRange sigma_range;
  std::optional<std::pair<double, double>> pixel_range;
};

/// What torch says, in one line: its first, or the last where the first only announces the interpreter's traceback.
std::string one_line(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  const auto first = text.substr(0, text.find('\n'));
  const bool is_traceback = first.find("failed in the TorchScript interpreter") != first.npos;
  return std::string(is_traceback ? text.substr(text.rfind('\n') + 1) : first);
}

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& what, const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  const std::string text = torch_error ? torch_error->what_without_backtrace() : error.what();
  // The interpreter passes errors on as text, so the kind is gone.
  if (text.find("out of memory") != text.npos || text.find("can't allocate memory") != text.npos)
    machine_error("{}: {}: the memory is used up; fewer images at once need less", file.string(), what);
  input_error("{}: {}: {}", file.string(), what, one_line(text));
}

class TorchScriptScore final : public Score {
 public:
  TorchScriptScore(const Shape& image_shape, TorchScriptOptions options, at::Device device)
      : Score(image_shape), options_(std::move(options)), device_(device) {
    try {
      module_ = torch::jit::load(options_.file.string(), device_);
      module_.eval();
      module_.to(device_, at::kFloat);
      for (auto weight : module_.parameters()) weight.requires_grad_(false);
    } catch (const std::exception& error) {
      refuse(options_.file, "expected a TorchScript file", error);
    }
    if (!module_.find_method("forward"))
      input_error("{}: expected a module with a method forward(x, sigma), found none", options_.file.string());
  }

  SigmaRange sigma_range() const override { return options_.sigma_range; }
  std::optional<std::pair<double, double>> pixel_range() const override { return options_.pixel_range; }

 private:
  Tensor do_score(const Tensor& x, double sigma, const Cursor&) const override {
    const auto y = evaluate(x, sigma);
    return options_.output == Output::score ? y : (y - x) / (sigma * sigma);
  }
  Tensor do_denoise(const Tensor& x, double sigma, const Cursor&) const override {
    const auto y = evaluate(x, sigma);
    return options_.output == Output::denoiser ? y : x + sigma * sigma * y;
  }

  /// Differentiable in x where gradients are on: the theory's constants are measured that way.
  Tensor evaluate(const Tensor& x, double sigma) const {
    const double s = options_.sigma_input == SigmaInput::sigma ? sigma : std::log(sigma);
    const auto input = x.to(device_, at::kFloat);
    c10::IValue output;
    try {
      // A module is a handle and forward is not const: the copy runs the same network.
      auto module = module_;
      output = module.forward({input, at::full({x.size(0)}, s, input.options())});
    } catch (const std::exception& error) {
      refuse(options_.file, fmt::format("the module failed on images of {}", describe(x.sizes())), error);
    }
    if (!output.isTensor())
      input_error("{}: expected a tensor from forward(x, sigma), found {}", options_.file.string(), output.tagKind());
    const auto y = output.toTensor();
    if (y.sizes() != x.sizes() || !y.is_floating_point())
      input_error("{}: expected {} real numbers from forward(x, sigma), as x, found {} of type {}",
                  options_.file.string(), describe(x.sizes()), describe(y.sizes()), c10::toString(y.scalar_type()));
    return y.to(x.device(), x.scalar_type());
  }

  TorchScriptOptions options_;
  at::Device device_;
  torch::jit::Module module_;
};

std::optional<std::pair<double, double>> pixel_range_setting(Settings& settings) {
  if (!settings.has("pixel_range")) return std::nullopt;
  const auto range = settings.numbers("pixel_range");
  if (range.size() != 2 || !(range[0] < range[1]))
    settings.fail("pixel_range", "expected two numbers that rise, as [-1, 1]");
  return std::pair{range[0], range[1]};
}

std::shared_ptr<const Score> make(Settings& settings, const Placement& placement) {
  if (!settings.flag("allow_code", false))
    settings.fail("allow_code",
                  "a TorchScript file is a program, which would run with all your rights; expected allow_code: true, "
                  "once you know whom the file is from");
  TorchScriptOptions options;
  options.file = settings.file("file");
  options.output = settings.choice("output", {"score", "denoiser"}) == "score" ? Output::score : Output::denoiser;
  options.sigma_input = settings.choice("sigma_input", {"sigma", "log_sigma"}, "sigma") == "sigma"
                            ? SigmaInput::sigma
                            : SigmaInput::log_sigma;
  options.sigma_range.low = settings.number("sigma_low", positive);
  options.sigma_range.high =
      settings.number("sigma_high", {options.sigma_range.low, std::numeric_limits<double>::infinity(), true});
  options.pixel_range = pixel_range_setting(settings);
  return std::make_shared<TorchScriptScore>(io::image_shape_setting(settings), std::move(options), placement.device);
}

}  // namespace

extern const PriorEntry torchscript{"torchscript", "a trained network, as a TorchScript file", make};

}  // namespace penumbra
