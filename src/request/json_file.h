// JSON that the user wrote.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace torchmem {

// Throws Error(bad_input) "`what` PATH: why" for a file that cannot be read, is not JSON, is nested too deep
// to be handled, or gives a name twice in one object: the second would silently replace the first.
nlohmann::json read_json_file(const std::string& path, const std::string& what);

// A value for a message: its start, with nothing in it that a terminal would act on.
std::string brief(const nlohmann::json& value);
// Likewise a text, without quotation marks.
std::string brief(const std::string& text);

}  // namespace torchmem
