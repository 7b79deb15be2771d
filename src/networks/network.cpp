#include "networks/network.h"

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/nearest.h"
#include "networks/dncnn.h"
#include "networks/unet.h"
#include "networks/varnet.h"

namespace penumbra {

struct Architecture::Kind {
  virtual ~Kind() = default;
  virtual std::vector<ParameterSpec> parameters() const = 0;
  virtual std::shared_ptr<const Network> make(const ParameterSource& source) const = 0;
  virtual int64_t channels() const = 0;
  virtual int64_t width() const = 0;
  virtual int64_t size_factor() const = 0;
  virtual nlohmann::json to_json() const = 0;
};

template <typename Options, typename Net>
struct Architecture::KindOf : Architecture::Kind {
  explicit KindOf(Options options) : options(std::move(options)) {}
  std::vector<ParameterSpec> parameters() const override {
    return list_parameters([&](const ParameterSource& source) { Net(options, source); });
  }
  std::shared_ptr<const Network> make(const ParameterSource& source) const override {
    return std::make_shared<Net>(options, source);
  }
  int64_t channels() const override { return options.in_channels; }
  int64_t width() const override { return options.width(); }
  int64_t size_factor() const override { return options.size_factor(); }
  nlohmann::json to_json() const override { return options.to_json(); }

  Options options;
};

Architecture::Architecture(const nlohmann::json& options, const std::string& name) {
  std::string kind = "unet";
  if (options.is_object() && options.contains("kind")) {
    if (!options["kind"].is_string()) input_error("{}: architecture.kind: expected text", name);
    kind = options["kind"].get<std::string>();
  }
  if (kind == "unet")
    kind_ = std::make_unique<KindOf<UNetOptions, UNet>>(UNetOptions::from_json(options, name));
  else if (kind == "dncnn")
    kind_ = std::make_unique<KindOf<DnCnnOptions, DnCnn>>(DnCnnOptions::from_json(options, name));
  else if (kind == "varnet")
    kind_ = std::make_unique<KindOf<VarNetOptions, VarNet>>(VarNetOptions::from_json(options, name));
  else
    input_error("{}: architecture.kind: expected unet, dncnn or varnet, found {}", name, excerpt(kind));
}

Architecture::~Architecture() = default;
Architecture::Architecture(Architecture&&) noexcept = default;
Architecture& Architecture::operator=(Architecture&&) noexcept = default;

std::vector<ParameterSpec> Architecture::parameters() const { return kind_->parameters(); }
std::shared_ptr<const Network> Architecture::make(const ParameterSource& source) const { return kind_->make(source); }
int64_t Architecture::channels() const { return kind_->channels(); }
int64_t Architecture::width() const { return kind_->width(); }
int64_t Architecture::size_factor() const { return kind_->size_factor(); }
nlohmann::json Architecture::to_json() const { return kind_->to_json(); }

}  // namespace penumbra
