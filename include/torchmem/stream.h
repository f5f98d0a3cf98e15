// Reads the event stream that engine and agent write while they work: plain text, one record a line.
//
//     torchmem-stream 1
//     M <json>   info: a JSON merge patch (RFC 7386) onto what the run says of itself
//     F <id> <json array of frames>         a stack of frames; ids rise from 0
//     E <action> <device> <addr> <size> <stream> <time_us> <frames id or ->
//     B <event index> <block bytes>         the block that the alloc event of that index (over all E) got
//     T <id> <json>                         a tensor, {"name", "dtype", "shape"}; ids rise from 0
//     O <event index> <category> <tensor id or -> <frames id or ->
//                                           whose that alloc event's block is, and for activations the stack
//                                           of the op that saved it; a later record replaces an earlier one
//     P <json>   the end of a phase
//     V <json>   an assumption, once for each time that it happens
//     Z <json>   the final snapshot, {"segments": [...]}
//     X <json>   the error that ended it
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "torchmem/run.h"

namespace torchmem {

// Builds the run told by `text`. A last line without its newline is ignored: the writer died there. Anything
// else that is not a record throws Error(internal) naming `name` and the line's number.
Run read_stream(std::string_view text, const std::string& name);

// The same of a file. Throws Error(internal) when it cannot be read. An empty file gives an empty run.
Run read_stream_file(const std::filesystem::path& path);

}  // namespace torchmem
