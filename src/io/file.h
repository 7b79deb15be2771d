/// Whole files, written so that a reader sees the old content or the new and never a part.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace penumbra::io {

/// Throws InputError where the file is missing or cannot be read.
std::string read_file(const std::filesystem::path& path);

/// Writes beside the target, flushes to the disk, then renames. Throws MachineError naming the path and the reason
/// (a full disk, say); the target is then what it was.
void write_file(const std::filesystem::path& path, std::string_view content);

/// Whether the name is that of a file beside its target, which stays where a process is killed while it writes.
bool is_left_by_a_kill(const std::filesystem::path& path);

/// Renames a file or a folder within one parent folder, so that the new name survives a crash of the machine.
void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to);

/// Asked before the work begins: throws InputError, since the choice of folder is the user's, unless the folder can be
/// made, written to, and has this much room.
void require_writable(const std::filesystem::path& folder, uint64_t bytes);

/// The same of one file, in a folder that is there: no folder is made for it.
void require_writable_file(const std::filesystem::path& file, uint64_t bytes);

}  // namespace penumbra::io
