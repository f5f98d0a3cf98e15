#include "engine/archive.h"

#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <vector>

#include "engine/failure.h"

namespace torchmem::engine {
namespace {

using caffe2::serialize::PyTorchStreamReader;

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw Failure(FailureKind::bad_model, "Cannot load the model " + path + ": " + reason);
}

constexpr const char* make_one =
    "Make a TorchScript file with torch.jit.script or torch.jit.trace and its save().";

std::string first_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) refuse(path, std::string("it cannot be read: ") + std::strerror(errno) + ".");
  std::string bytes(512, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

bool looks_like_html(const std::string& bytes) {
  const auto begin = bytes.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (begin == std::string::npos) return false;
  std::string head = bytes.substr(begin, 15);
  std::transform(head.begin(), head.end(), head.begin(), [](unsigned char c) { return std::tolower(c); });
  return head.rfind("<!doctype html", 0) == 0 || head.rfind("<html", 0) == 0 || head.rfind("<?xml", 0) == 0;
}

// torch.save before version 1.6 wrote bare pickles; the first holds a magic number as its only value.
bool looks_like_legacy_checkpoint(const std::string& bytes) {
  return bytes.size() > 16 && bytes[0] == '\x80' &&
         bytes.find("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19") != std::string::npos;
}

void refuse_what_is_no_zip(const std::string& path, const std::string& head) {
  if (looks_like_html(head))
    refuse(path, "it is a web page (HTML), not a model. Was the download refused or redirected?");
  if (looks_like_legacy_checkpoint(head)) {
    refuse(path, std::string("it is a torch.save file (old format), not a TorchScript archive. ") + make_one);
  }
  if (head[0] == '\x80')
    refuse(path, std::string("it is a Python pickle, not a TorchScript archive. ") + make_one);
  refuse(path, std::string("it is not a TorchScript archive (no zip file). ") + make_one);
}

// The text of every source file in code/.
std::vector<std::string> code_records(const std::string& path) {
  std::vector<std::string> texts;
  PyTorchStreamReader reader(path);
  for (const auto& record : reader.getAllRecords()) {
    if (record.rfind("code/", 0) != 0 || record.size() < 3 ||
        record.compare(record.size() - 3, 3, ".py") != 0)
      continue;
    const auto [data, size] = reader.getRecord(record);
    texts.emplace_back(static_cast<const char*>(data.get()), size);
  }
  return texts;
}

std::string without_backtrace(const std::exception& error) {
  if (const auto* torch_error = dynamic_cast<const c10::Error*>(&error))
    return torch_error->what_without_backtrace();
  return error.what();
}

}  // namespace

ArchiveFacts check_archive(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::exists(status)) refuse(path, "no such file.");
  if (fs::is_directory(status)) refuse(path, "it is a directory; a TorchScript file was expected.");
  if (!fs::is_regular_file(status)) refuse(path, "it is not a regular file.");
  ArchiveFacts facts;
  facts.file_bytes = fs::file_size(path, error);
  if (facts.file_bytes == 0) refuse(path, "the file is empty.");
  const std::string head = first_bytes(path);
  if (head.rfind("PK\x03\x04", 0) != 0) refuse_what_is_no_zip(path, head);
  try {
    PyTorchStreamReader reader(path);
    facts.format_version = reader.version();
    if (reader.hasRecord("constants.pkl") && reader.hasRecord("data.pkl")) return facts;
    if (reader.hasRecord("data.pkl")) {
      refuse(path, std::string("it is a torch.save file, not a TorchScript archive: the file is sound, but "
                               "holds tensors or a pickled "
                               "module and no code. ") +
                       make_one);
    }
    if (reader.hasRecord("archive_format")) {
      refuse(path, std::string("it is an exported program (.pt2), not a TorchScript archive. ") + make_one);
    }
  } catch (const Failure&) {
    throw;
  } catch (const std::exception& problem) {
    const std::string text = without_backtrace(problem);
    if (text.find("failed finding central directory") != std::string::npos) {
      refuse(
          path,
          "the archive is cut off: its table of contents at the end is missing. Copy or download it again.");
    }
    if (const auto at = text.find("Attempted to read a PyTorch file with version"); at != std::string::npos) {
      refuse(path, "its format is newer than this LibTorch can read (" +
                       text.substr(at, text.find(". ", at) - at) +
                       "). Save it with an older PyTorch, or build torchmem against a newer one.");
    }
    if (text.find("file not found") != std::string::npos ||
        text.find("hasRecord(\"version\")") != std::string::npos) {
      refuse(path, std::string("it is a zip file, but not a TorchScript archive. ") + make_one);
    }
    refuse(path, "its zip structure cannot be read: " + text.substr(0, text.find('\n')));
  }
  refuse(path, std::string("it is a zip file, but not a TorchScript archive. ") + make_one);
}

std::set<std::string> missing_operators(const std::string& path) {
  static const std::regex call(R"(\bops\.([A-Za-z_]\w*)\.([A-Za-z_]\w*))");
  std::set<std::string> missing;
  for (const auto& code : code_records(path)) {
    for (std::sregex_iterator it(code.begin(), code.end(), call), end; it != end; ++it) {
      const std::string name = (*it)[1].str() + "::" + (*it)[2].str();
      if ((*it)[1] == "prim" || (*it)[1] == "aten") continue;
      if (torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(name)).empty()) missing.insert(name);
    }
  }
  return missing;
}

namespace {

bool has_code(const std::string& path, std::initializer_list<const char*> words) {
  for (const auto& code : code_records(path)) {
    for (const char* word : words) {
      if (code.find(word) != std::string::npos) return true;
    }
  }
  return false;
}

}  // namespace

bool is_quantized(const std::string& path) {
  return has_code(path, {"ops.quantized.", "__torch__.torch.classes.quantized."});
}

bool has_onednn(const std::string& path) { return has_code(path, {"ops.prim.ConstantMKLDNNTensor"}); }

}  // namespace torchmem::engine
