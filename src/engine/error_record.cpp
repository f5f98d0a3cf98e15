#include "engine/error_record.h"

#include <c10/util/Exception.h>

#include <new>

#include "engine/torch_message.h"

namespace torchmem::engine {
namespace {

using nlohmann::json;

bool speaks_of_memory(const std::string& what) { return what.find("out of memory") != std::string::npos; }

// PyTorch catches the out-of-memory of a convolution's workspace to try the next engine, and then says only
// that it found none.
bool hides_out_of_memory(const std::string& what) {
  return what.find("unable to find an engine") != std::string::npos;
}

// PyTorch's own sentence, from the interpreter's wrapping or not; where it hides the reason, that comes
// first.
std::string out_of_memory_sentence(const std::string& what, const capture::OutOfMemory& oom) {
  const auto begin = what.find("CUDA out of memory.");
  if (begin == std::string::npos) {
    const std::string text = parse_torch_message(what).text;
    if (!hides_out_of_memory(what)) return text;
    return "CUDA out of memory. Tried to allocate " + std::to_string(oom.requested_bytes) +
           " B for a convolution's workspace, with " + std::to_string(oom.allocated_bytes) +
           " B allocated and " + std::to_string(oom.reserved_bytes) + " B reserved of " +
           std::to_string(oom.limit_bytes) + " B. PyTorch words it: " + text;
  }
  return what.substr(begin, what.find('\n', begin) - begin);
}

ErrorRecord out_of_memory(const std::string& what, const capture::OutOfMemory& oom) {
  const TorchMessage message = parse_torch_message(what);
  json record = {{"message", out_of_memory_sentence(what, oom)},
                 {"device", oom.device},
                 {"requested_bytes", oom.requested_bytes},
                 {"segment_bytes", oom.segment_bytes},
                 {"limit_bytes", oom.limit_bytes},
                 {"device_free_bytes", oom.device_free_bytes},
                 {"allocated_bytes", oom.allocated_bytes},
                 {"reserved_bytes", oom.reserved_bytes},
                 {"largest_free_block_bytes", oom.largest_free_block_bytes}};
  if (!message.file.empty()) record["detail"] = {{"place", message.place()}};
  return {FailureKind::out_of_memory, std::move(record)};
}

// What is behind it, where that is known: a device written into a trace; else how the model was called.
std::string hint(const TorchMessage& message, const RunState& state) {
  const auto says = [&](const char* words) { return message.text.find(words) != std::string::npos; };
  if (says("same device") || says("two devices")) {
    for (const auto& constant : state.constant_devices) {
      if (constant["device"] != "cpu") continue;
      return "The device cpu is written into the model as a constant at " +
             constant["line"].get<std::string>() +
             ", as a trace on the CPU does: trace it on the GPU, or use torch.jit.script.";
    }
  }
  return state.call.empty() ? "" : "The model was called as " + state.call + ".";
}

ErrorRecord model_failed(const std::string& what, const RunRequest& request, const RunState& state) {
  const TorchMessage message = parse_torch_message(what);
  std::string text = message.text;
  json detail = json::object();
  if (!message.file.empty()) {
    detail["place"] = message.place();
    text += (text.ends_with('.') ? " At " : ". At ") + message.place();
  }
  const std::string second = hint(message, state);
  if (!second.empty()) text += "\n" + second;
  if (request.is_debug()) detail["what"] = what;
  return {FailureKind::model_failed, {{"message", std::move(text)}, {"detail", std::move(detail)}}};
}

ErrorRecord from_text(const std::string& what, const RunRequest& request, const RunState& state) {
  if (state.recorder != nullptr && (speaks_of_memory(what) || hides_out_of_memory(what))) {
    if (const auto oom = state.recorder->last_out_of_memory()) return out_of_memory(what, *oom);
  }
  return model_failed(what, request, state);
}

ErrorRecord describe(const std::exception_ptr& error, const RunRequest& request, const RunState& state) {
  try {
    std::rethrow_exception(error);
  } catch (const Failure& failure) {
    json record = {{"message", failure.what()}};
    if (!failure.detail().empty()) record["detail"] = failure.detail();
    if (failure.remedy() != Remedy::none) record["remedy"] = name_of(failure.remedy());
    return {failure.kind(), std::move(record)};
  } catch (const c10::Error& problem) {
    return from_text(request.is_debug() ? problem.what() : problem.what_without_backtrace(), request, state);
  } catch (const std::bad_alloc&) {
    return {FailureKind::unavailable, {{"message", "The host's memory ran out (not the device's)."}}};
  } catch (const std::exception& problem) {
    return from_text(problem.what(), request, state);
  } catch (...) {
    return {FailureKind::internal,
            {{"message", "The model or a library threw something that is no C++ exception."}}};
  }
}

}  // namespace

ErrorRecord error_record(const std::exception_ptr& error, const RunRequest& request, const RunState& state) {
  ErrorRecord record = describe(error, request, state);
  record.json["kind"] = word(record.kind);
  if (state.recorder != nullptr && !state.recorder->phase().empty()) {
    record.json["phase"] = state.recorder->phase();
    if (state.recorder->iteration()) record.json["iteration"] = *state.recorder->iteration();
  }
  return record;
}

}  // namespace torchmem::engine
