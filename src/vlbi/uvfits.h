/// UVFITS, the interferometers' exchange format: visibilities in random groups, stations in the table AIPS AN.
///
/// Stokes I is the mean of the two parallel hands (RR and LL, or XX and YY), or as the file holds it; of a row with one
/// good hand that hand stands for it. Channels and IFs are averaged by their weights, u and v taken at their mean
/// frequency. Rows without a positive finite weight, and a station's rows with itself, are dropped and counted.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "vlbi/observation.h"

namespace penumbra::vlbi {

/// Throws InputError that names the file, the keyword or the table, what was expected and what was found; also where
/// the program was built without CFITSIO.
Observation read_uvfits(const std::filesystem::path& path);

/// The same from memory; `name` stands for the file in messages.
Observation parse_uvfits(std::span<const char> bytes, const std::string& name);

/// Writes atomically. u, v and the values are float32, times good to 4 ms, as the format has them; a station's two
/// SEFDs become their mean.
void write_uvfits(const std::filesystem::path& path, const Observation& observation);

/// The bytes that write_uvfits writes.
std::string format_uvfits(const Observation& observation, const std::string& name);

}  // namespace penumbra::vlbi
