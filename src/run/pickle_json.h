// JSON values to and from pickles.
#pragma once

#include <nlohmann/json.hpp>

#include "run/pickle_reader.h"
#include "run/pickle_writer.h"

namespace torchmem {

// Throws PickleError for values nested too deep (or within themselves), too many of them, or with keys that
// are no text.
nlohmann::json json_from(const PickleValue& value);

void write_json(PickleWriter& writer, const nlohmann::json& value);

}  // namespace torchmem
