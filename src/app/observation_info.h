/// What `penumbra info` says about an interferometer: its visibilities, and arrays of stations.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

namespace penumbra::app {

/// Source, stations, scans, baselines and what a preparation with the usual settings leaves.
nlohmann::json describe_uvfits(std::span<const char> bytes, const std::string& name);

/// The same of an archive, without what it does not say: source, date and scans. Groups are described one by one.
nlohmann::json describe_npz(const std::filesystem::path& path);

/// Whether a text begins as ehtim's arrays of stations do.
bool looks_like_array(const std::filesystem::path& path);
nlohmann::json describe_array_file(const std::filesystem::path& path);

/// Adds the direction of a source; a number that is none is not shown as one: some files hold other units in OBSRA.
void add_direction(nlohmann::json& info, double right_ascension_hours, double declination_degrees);

}  // namespace penumbra::app
