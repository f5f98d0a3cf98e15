// Variants of a run: what the same model and inputs are run with in place of what the options say.
//
//     no_grad      train+autocast=bf16      batch=8+accumulate=4      alloc=expandable_segments:True
//
// Several changes are joined by '+', since allocator settings have commas of their own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/runner.h"

namespace torchmem::cli {

struct VariantEntry {
  const char* name;   // "autocast"
  const char* value;  // how its value is written, "bf16|f16"; empty: it takes none
  const char* help;
  // Changes the job. Throws Error(bad_usage) with a text that starts with what is wrong about the value.
  void (*apply)(Job& job, const std::string& value);
};

// All there are, in the order of help and documentation.
const std::vector<VariantEntry>& variant_table();

// Applies a variant to a job made by make_request, whose inputs may have dimensions without a size, and names
// the job after it. Throws Error(bad_usage) that names the variant, the part that is wrong and what is
// expected.
void apply_variant(Job& job, std::string_view variant);

// The table as lines of help, each starting with two blanks.
std::string variant_help();

}  // namespace torchmem::cli
