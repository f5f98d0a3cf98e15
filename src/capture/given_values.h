#pragma once

#include <c10/core/ScalarType.h>

#include <cstddef>
#include <string>
#include <vector>

#include "capture/call_site.h"

namespace torchmem::capture {

// What the user says that values are (`--assume FILE`): for a place ("train.py:31", the end of a path) or an
// operator ("aten::_local_scalar_dense") the values that are read there, one after the other; the last one
// stays.
class GivenValues {
 public:
  // TORCHMEM_ASSUME: a JSON array of [place, values] in which values are texts: "true", "false", a number;
  // several are separated by commas. What cannot be read is left out: the command line has checked it.
  static GivenValues from_environment();

  // Writes the next value for that site to all elements of `to`. False when there is none.
  bool apply(const CallSite& site, at::ScalarType dtype, void* to, std::size_t bytes);

 private:
  struct Given {
    std::string place;
    std::vector<double> values;
    std::size_t next = 0;
  };
  std::vector<Given> given_;
};

}  // namespace torchmem::capture
