#include "request/model_file.h"

#include <charconv>
#include <string>
#include <system_error>

#include "request/zip_directory.h"
#include "run/file.h"
#include "text/words.h"
#include "torchmem/bytes.h"
#include "torchmem/error.h"

namespace torchmem {

namespace fs = std::filesystem;

namespace {

// The newest file format that LibTorch 2.11 reads (caffe2/serialize/versions.h,
// kMaxSupportedFileFormatVersion).
constexpr uint64_t newest_format = 10;

constexpr const char* make_one =
    "Make a TorchScript archive with torch.jit.script or torch.jit.trace and its .save().";

// Where a program has what the file lacks.
constexpr const char* make_one_or_run =
    "Make a TorchScript archive with torch.jit.script or torch.jit.trace and its .save(), or measure the "
    "program that uses it: torchmem run -- python3 PROGRAM.py";

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
  throw Error(ErrorKind::bad_model, path.string() + " " + why);
}

bool is_html(std::string_view text) {
  size_t start = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (start == std::string_view::npos) return false;
  const std::string head = lower_case(text.substr(start, 14));
  return head.starts_with("<!doctype html") || head.starts_with("<html") || head.starts_with("<?xml");
}

// The number that torch.save wrote first until PyTorch 1.6, as a pickled long.
bool is_legacy_checkpoint(std::string_view text) {
  constexpr std::string_view magic("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 12);
  return text.substr(0, 64).find(magic) != std::string_view::npos;
}

bool is_python(const fs::path& path, std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  return path.extension() == ".py" ||
         (first.starts_with("#!") && first.find("python") != std::string_view::npos);
}

// A JSON header behind its length in 8 bytes.
bool is_safetensors(std::string_view text) {
  return text.size() > 10 && text[8] == '{' && text[6] == '\0' && text[7] == '\0' && text[9] == '"';
}

[[noreturn]] void refuse_non_zip(const fs::path& path, std::string_view text) {
  if (is_html(text)) {
    refuse(path,
           "is a web page (HTML), not a model: the download was probably refused or redirected. Download it "
           "again.");
  }
  if (is_legacy_checkpoint(text)) {
    refuse(path, std::string("is a torch.save file (of the old format), not a TorchScript archive. ") +
                     make_one_or_run);
  }
  if (text.starts_with("version https://git-lfs")) {
    refuse(path, "is a Git LFS pointer, not the file it stands for. Fetch it with git lfs pull.");
  }
  if (is_safetensors(text)) {
    refuse(path, std::string("is a safetensors file: weights without a model's code. ") + make_one_or_run);
  }
  if (path.extension() == ".onnx") {
    refuse(path, std::string("is an ONNX file, which PyTorch does not run. ") + make_one_or_run);
  }
  if (is_python(path, text)) {
    refuse(path,
           "is a Python program, not a model. Measure it with: torchmem run -- python3 " + path.string());
  }
  if (text.starts_with('\x80')) {
    refuse(path, std::string("is a Python pickle, not a TorchScript archive. ") + make_one +
                     "\nIf it is a memory snapshot: torchmem inspect " + path.string());
  }
  refuse(path, std::string("is not a TorchScript archive (nor any zip file). ") + make_one);
}

// The name of a record without the archive's own folder: "model/data.pkl" is "data.pkl".
std::string_view record_name(const ZipEntry& entry) {
  size_t slash = entry.name.find('/');
  return slash == std::string::npos ? std::string_view(entry.name)
                                    : std::string_view(entry.name).substr(slash + 1);
}

void check_version(const fs::path& path, std::string_view bytes, const ZipEntry& entry) {
  std::optional<std::string_view> text = stored_data(bytes, entry);
  uint64_t version = 0;
  if (!text) return;  // the engine will say
  std::from_chars(text->data(), text->data() + text->size(), version);
  if (version <= newest_format) return;
  refuse(path, "has file format " + std::to_string(version) + "; this build reads up to " +
                   std::to_string(newest_format) +
                   " (PyTorch 2.11).\nSave the model with an older PyTorch, or use a torchmem built against "
                   "a newer one.");
}

void check_archive(const fs::path& path, std::string_view bytes) {
  std::optional<std::vector<ZipEntry>> entries = read_zip_directory(bytes);
  if (!entries) {
    refuse(path, "is cut short (" + format_bytes(bytes.size()) +
                     "): a zip archive without its end. Copy or download it again.");
  }
  bool has_constants = false;
  bool has_code = false;
  bool has_data = false;
  bool is_exported = false;
  const ZipEntry* version = nullptr;
  for (const ZipEntry& entry : *entries) {
    std::string_view name = record_name(entry);
    has_constants = has_constants || name == "constants.pkl";
    has_code = has_code || name.starts_with("code/");
    has_data = has_data || name == "data.pkl";
    is_exported = is_exported || name == "archive_format" || name == "serialized_exported_program.json";
    if (name == "version" || (name == ".data/version" && !version)) version = &entry;
  }
  if (has_constants && has_data) {
    if (version) check_version(path, bytes, *version);
    return;
  }
  if (is_exported) {
    refuse(path, std::string("is an exported program (.pt2), not a TorchScript archive. ") + make_one);
  }
  if (has_data && !has_code) {
    refuse(path,
           std::string("is a torch.save file (a checkpoint), not a TorchScript archive: it holds no code. ") +
               make_one_or_run);
  }
  refuse(path, std::string("is a zip file, but not a TorchScript archive. ") + make_one);
}

// Opens the file and says what is wrong with it as a file.
class Candidate {
 public:
  explicit Candidate(const fs::path& path) : file_((check(path), path)) {
    if (file_.text().empty()) refuse(path, std::string("is empty. ") + make_one);
  }
  std::string_view bytes() const { return file_.text(); }
  bool is_zip() const { return bytes().starts_with(std::string_view("PK\x03\x04", 4)); }

 private:
  static void check(const fs::path& path) {
    std::error_code error;
    fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) refuse(path, "does not exist. Expected a TorchScript file (.pt).");
    if (fs::is_directory(status))
      refuse(path, std::string("is a directory. Expected a TorchScript file (.pt). ") + make_one_or_run);
    if (!fs::is_regular_file(status))
      refuse(path, "is not a regular file. Expected a TorchScript file (.pt).");
  }

  MappedFile file_;
};

}  // namespace

FileKind kind_of_file(const fs::path& path) {
  try {
    Candidate file(path);
    if (!file.is_zip()) {
      if (file.bytes().starts_with('\x80') && !is_legacy_checkpoint(file.bytes())) return FileKind::pickle;
      refuse_non_zip(path, file.bytes());
    }
    check_archive(path, file.bytes());
    return FileKind::torchscript;
  } catch (const std::system_error& error) {
    throw Error(ErrorKind::bad_model, std::string("cannot ") + error.what());
  }
}

void check_model_file(const fs::path& path) {
  if (kind_of_file(path) == FileKind::pickle) {
    Candidate file(path);
    refuse_non_zip(path, file.bytes());
  }
}

}  // namespace torchmem
