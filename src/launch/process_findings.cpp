#include "launch/process_findings.h"

#include <algorithm>
#include <string>
#include <system_error>

#include "run/file.h"
#include "run/phase_json.h"
#include "run/utf8.h"

namespace torchmem {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

// Far more than a program has places that read values; a file that is not ours must not take all memory or
// time.
constexpr size_t most_findings = 1000;
constexpr size_t longest_record = size_t{1} << 20;
constexpr size_t longest_text = 4096;
constexpr uint64_t largest_number = uint64_t{1} << 53;

constexpr const char* kinds[] = {"assumed_value", "estimated_workspace", "unmodelled_call"};
constexpr const char* texts[] = {"name", "op", "module", "line", "problem", "taken_for", "decides", "what"};
constexpr const char* numbers[] = {"count", "bytes"};
constexpr const char* flags[] = {"unknown", "without"};

// A record with the fields that are known and as they must be; null where it is no finding.
json checked(const json& record) {
  if (!record.is_object()) return nullptr;
  json result = json::object();
  auto kind = record.find("kind");
  if (kind == record.end() || std::find(std::begin(kinds), std::end(kinds), *kind) == std::end(kinds))
    return nullptr;
  result["kind"] = *kind;
  for (const char* name : texts) {
    auto found = record.find(name);
    if (found == record.end() || !found->is_string()) continue;
    const std::string& text = found->get_ref<const std::string&>();
    if (!text.empty()) result[name] = valid_utf8(std::string_view(text).substr(0, longest_text));
  }
  if (!result.contains("name")) return nullptr;
  for (const char* name : numbers) {
    auto found = record.find(name);
    if (found == record.end()) continue;
    if (!found->is_number_unsigned() || found->get<uint64_t>() > largest_number) return nullptr;
    result[name] = *found;
  }
  for (const char* name : flags) {
    if (record.value(name, json()) == true) result[name] = true;
  }
  return result;
}

// Of one of a process's files, if it is there and can be read.
std::optional<std::vector<Finding>> findings_of(const fs::path& path) {
  std::error_code unknown;
  if (!fs::is_regular_file(path, unknown)) return std::nullopt;  // a pipe could keep us waiting
  try {
    return findings_in(MappedFile(path).text());
  } catch (const std::system_error&) {
    // As if it were not there: the counts of the process say that something was assumed.
    return std::nullopt;
  }
}

uint64_t count_of(const std::vector<Finding>& findings, const Finding& call) {
  uint64_t count = 0;
  for (const Finding& other : findings)
    if (other.kind == call.kind && other.what["name"] == call.what["name"]) count += other.count;
  return count;
}

}  // namespace

std::vector<Finding> findings_in(std::string_view text) {
  std::vector<Finding> findings;
  while (findings.size() < most_findings) {
    size_t end = text.find('\n');
    if (end == std::string_view::npos) break;  // the writer died within this line
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (!line.starts_with("V ") || line.size() > longest_record) continue;
    json record = checked(json::parse(line.substr(2), nullptr, /*allow_exceptions=*/false));
    if (!record.is_null()) add_finding(findings, std::move(record));
  }
  return findings;
}

std::optional<std::vector<Finding>> read_process_findings(const fs::path& directory, uint64_t pid) {
  const std::string process = std::to_string(pid);
  std::optional<std::vector<Finding>> told;
  for (const char* name : {"findings-", "stream-"})
    if (!told) told = findings_of(directory / (name + process));
  const std::optional<std::vector<Finding>> calls = findings_of(directory / ("calls-" + process));
  if (!calls) return told;
  if (!told) told.emplace();
  for (Finding call : *calls) {
    const uint64_t known = count_of(*told, call);
    if (call.count <= known) continue;
    call.count -= known;
    told->push_back(std::move(call));
  }
  return told;
}

}  // namespace torchmem
