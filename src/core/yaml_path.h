/// Places in a YAML tree by name: where `--set a.b=value` and derived values go.
#pragma once

#include <string>
#include <vector>

#include "core/yaml.h"

namespace penumbra::yaml {

/// Gives a value and all below it the line that messages name.
void set_line(Value& value, int line);

/// "a.b" as its parts; `assignment` stands for the whole in messages.
std::vector<std::string> split_path(const std::string& path, const std::string& assignment);

/// The place for `part` in a section (made if absent) or a list (must be there).
ValuePtr& member(Value& parent, const std::string& part, const std::string& assignment);

}  // namespace penumbra::yaml
