/// The word that a misspelt one was probably meant to be, for messages.
#pragma once

#include <string>
#include <vector>

namespace penumbra {

/// "; did you mean step_size?", or nothing where no word is close.
std::string suggestion(const std::string& word, const std::vector<std::string>& words);

/// A piece of somebody's input that is safe in a one-line message: control characters escaped, long text cut.
std::string excerpt(const std::string& text);

/// A path whole, and as safe.
std::string shown_path(const std::string& path);

}  // namespace penumbra
