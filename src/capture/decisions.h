#pragma once

#include <functional>
#include <map>
#include <string>

#include "capture/call_site.h"
#include "values/observer.h"

namespace torchmem::capture {

// What comes of the value that the host is just reading on this thread: "size", "loop", "branch", or ""
// where nothing that memory depends on is known to. Of a Python program its syntax tells (decides.py), of a
// TorchScript model its graph (`on_lines_that_decide`); elsewhere a truth value is a branch.
std::string what_it_decides(const values::Reading& reading, const CallSite& site);

// Of a model: what comes of the values that are read at "file:line"; asked for when the first one is read.
// Lines that are not there decide nothing.
void on_lines_that_decide(std::function<std::map<std::string, std::string>()> lines);

}  // namespace torchmem::capture
