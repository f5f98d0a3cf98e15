#pragma once

namespace torchmem::agent {

/// From now on each operator whose schema says that it writes an argument (in place, or out=) reports that
/// argument's device range to the virtual GPU before it runs, so that what the host had put there is not read
/// back as if it were still true. Once a process; does nothing on a real device.
void report_writes();

}  // namespace torchmem::agent
