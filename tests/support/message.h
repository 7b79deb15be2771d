/// What an error says.
#pragma once

#include <string>

#include "core/error.h"

namespace penumbra::test {

/// The message of the Error that `action` throws; empty where it throws none.
template <typename Error = InputError, typename Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace penumbra::test
