// What reads of the virtual device are to be taken for, as a file of the user's says it: one PLACE: VALUE a
// line.
//
//     # the mask of this input is full; the scaler overflows once
//     model/encoder.py:31: true
//     aten::_local_scalar_dense: 1, 0
//
// A place is a line of Python's or TorchScript's source, of whose path the end is enough, or an operator. A
// value is true, false, an integer or a float, among them inf, -inf and nan; of several, which are separated
// by commas, each read takes the next one, and the last one stays. '#' starts a comment, at a line's start or
// after a blank.
#pragma once

#include <string>
#include <string_view>

#include "request/values.h"

namespace torchmem {

// The pairs [place, values] in the order of the file, as engine and agent get them: both are texts, the
// values "true" or "1,0", since JSON has no inf and no nan. Throws Error(bad_input) that names the file, the
// line, and what was expected; also for a place that is there twice, and for a file without any.
AssumedValues parse_assumptions(std::string_view text, const std::string& name);

// The same of a file. Throws Error(bad_input) also when it cannot be read.
AssumedValues read_assume_file(const std::string& path);

}  // namespace torchmem
