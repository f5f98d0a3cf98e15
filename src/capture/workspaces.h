// Memory that PyTorch hands to cuBLAS, cuBLASLt or cuDNN as a workspace, known by the call.
//
// A program's own symbols, and those of what is preloaded, come before a library's of the same name. So the
// functions that workspaces.c defines are called by PyTorch, tell the observer, and pass on to whatever
// library stands behind: the vendor's or the virtual GPU's.
#ifndef TORCHMEM_CAPTURE_WORKSPACES_H
#define TORCHMEM_CAPTURE_WORKSPACES_H

#ifdef __cplusplus
extern "C" {
#endif

// `library` is a name for people, e.g. "cuDNN"; it lives for good. Called from any thread, before the
// library's own function; `memory` may be null. One observer for the process, null for none.
typedef void (*torchmem_workspace_observer)(const void* memory, const char* library);
void torchmem_observe_workspaces(torchmem_workspace_observer observer);

#ifdef __cplusplus
}
#endif

#endif
