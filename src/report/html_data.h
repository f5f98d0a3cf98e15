// What the HTML report carries: the run as its page reads it (html/data.js). An inner format, which belongs
// to the page of the same version.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "torchmem/run.h"

namespace torchmem {

// {"version", "title", "facts": [[name, text]], "peak", "fidelity", "error", "categories", "main", "shown",
// "devices"}. One device for each that has a trace or segments, at least one; `main` is the index of the main
// one, which "peak" is of, `shown` that of `opened`, else of the one that held most.
nlohmann::json html_data(const Run& run, const std::string& name, std::optional<int32_t> opened = {});

// One device: its blocks with their owners, segments, phases and stacks, as tables of texts and columns of
// numbers. A trace that does not fit together is told in "problem", and only the final segments are in it.
nlohmann::json html_device(const Run& run, int32_t device);

}  // namespace torchmem
