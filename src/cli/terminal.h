// The terminal that standard output is.
#pragma once

#include <cstddef>
#include <optional>

#include "torchmem/text_style.h"

namespace torchmem {

bool is_terminal();

// Its columns, or those that the variable COLUMNS says, which goes first and needs no terminal. Nothing:
// there is no terminal, so that lines may be of any width.
std::optional<size_t> output_columns();

// Text for standard output, without colours.
TextStyle output_style();

}  // namespace torchmem
