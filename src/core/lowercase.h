/// Words that programs spell in capitals or not.
#pragma once

#include <string>

namespace penumbra {

/// Of ASCII letters; other bytes stay.
inline std::string lowercase(std::string text) {
  for (auto& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

}  // namespace penumbra
