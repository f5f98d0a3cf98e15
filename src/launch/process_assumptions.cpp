#include "launch/process_assumptions.h"

#include <string>
#include <system_error>

#include "run/assumption_json.h"
#include "run/file.h"
#include "run/utf8.h"

namespace torchmem {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

// Far more than a program has places that read values; a file that is not ours must not take all memory or
// time.
constexpr size_t most_assumptions = 1000;
constexpr size_t longest_record = size_t{1} << 20;
constexpr size_t longest_text = 4096;
constexpr uint64_t largest_number = uint64_t{1} << 53;

constexpr const char* texts[] = {"name", "op", "module", "line", "problem", "taken_for", "decides", "what"};
constexpr const char* numbers[] = {"count", "bytes"};
constexpr const char* flags[] = {"unknown", "without"};

// A record with the fields that are known and as they must be; null where it is no assumption.
json checked(const json& record) {
  if (!record.is_object()) return nullptr;
  json result = json::object();
  auto kind = record.find("kind");
  if (kind == record.end() || !kind->is_string() || !assumption_from(kind->get_ref<const std::string&>()))
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
std::optional<std::vector<AssumptionRecord>> assumptions_of(const fs::path& path) {
  std::error_code unknown;
  if (!fs::is_regular_file(path, unknown)) return std::nullopt;  // a pipe could keep us waiting
  try {
    return assumptions_in(MappedFile(path).text());
  } catch (const std::system_error&) {
    // As if it were not there: the counts of the process say that something was assumed.
    return std::nullopt;
  }
}

uint64_t count_of(const std::vector<AssumptionRecord>& assumptions, const AssumptionRecord& call) {
  uint64_t count = 0;
  for (const AssumptionRecord& other : assumptions)
    if (other.kind == call.kind && other.name == call.name) count += other.count;
  return count;
}

}  // namespace

std::vector<AssumptionRecord> assumptions_in(std::string_view text) {
  std::vector<AssumptionRecord> assumptions;
  while (assumptions.size() < most_assumptions) {
    size_t end = text.find('\n');
    if (end == std::string_view::npos) break;  // the writer died within this line
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (!line.starts_with("V ") || line.size() > longest_record) continue;
    json record = checked(json::parse(line.substr(2), nullptr, /*allow_exceptions=*/false));
    if (!record.is_null()) add_assumption(assumptions, assumption_from_json(std::move(record)));
  }
  return assumptions;
}

std::optional<std::vector<AssumptionRecord>> read_process_assumptions(const fs::path& directory,
                                                                      uint64_t pid) {
  const std::string process = std::to_string(pid);
  std::optional<std::vector<AssumptionRecord>> told;
  for (const char* name : {"assumptions-", "stream-"})
    if (!told) told = assumptions_of(directory / (name + process));
  const std::optional<std::vector<AssumptionRecord>> calls = assumptions_of(directory / ("calls-" + process));
  if (!calls) return told;
  if (!told) told.emplace();
  for (AssumptionRecord call : *calls) {
    const uint64_t known = count_of(*told, call);
    if (call.count <= known) continue;
    call.count -= known;
    told->push_back(std::move(call));
  }
  return told;
}

}  // namespace torchmem
