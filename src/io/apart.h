/// Work with a stranger's file in a process of its own, for libraries that a damaged file can crash.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace penumbra::io {

/// The bytes that `work` returns. It runs in a copy of this process, on one thread, and changes nothing here. An
/// InputError in it is thrown here; where it crashes, or computes for longer than so many seconds (waiting for a disk
/// does not count), InputError says that `reader` could not cope with `name`.
std::string run_apart(const std::function<std::string()>& work, const std::string& name, const std::string& reader,
                      uint64_t seconds);

}  // namespace penumbra::io
