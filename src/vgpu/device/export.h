#pragma once

// Marks a function of a vendor's library, or of the core that they share, as exported: C linkage, seen by the
// loader. Everything else is hidden. A definition marked so takes the place of the stub generated for that
// name.
#define TMV_EXPORT extern "C" __attribute__((visibility("default")))
