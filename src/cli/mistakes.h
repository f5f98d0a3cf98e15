// What people type instead of what there is.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace torchmem {

// The one of the names that was surely meant, at most two letters away; "" for none.
std::string nearest(const std::string& word, const std::vector<std::string>& names);

// "help [COMMAND]" and "version" as the options that they are.
std::vector<std::string> spell_out_help(std::vector<std::string> arguments);

// About arguments that a command does not know, in their order, and what was meant. `arguments` are those
// that were parsed.
std::string unexpected_text(const CLI::App& command, const std::vector<std::string>& arguments);

}  // namespace torchmem
