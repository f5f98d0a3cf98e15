#pragma once

// Functions that a library answers with success and nothing else: what they would do is compute. They take
// their arguments, whatever those are, as C leaves them; TMV_ANSWERS names many at once.
#define TMV_ANSWER(name) \
  extern "C" __attribute__((visibility("default"))) int name() { return 0; }
#define TMV_KERNEL(name)                                         \
  extern "C" __attribute__((visibility("default"))) int name() { \
    computed();                                                  \
    return 0;                                                    \
  }
