#include "profile.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "mutex.h"

namespace torchmem::vgpu {
namespace {

using Json = nlohmann::json;

const Json* member(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

uint64_t number(const Json& object, const char* key, uint64_t otherwise = 0) {
  const Json* value = member(object, key);
  return value && value->is_number_integer() && *value >= 0 ? value->get<uint64_t>() : otherwise;
}

std::string word(const Json& object, const char* key) {
  const Json* value = member(object, key);
  return value && value->is_string() ? value->get<std::string>() : std::string();
}

template <class Visit>
void each(const Json& object, const char* key, Visit visit) {
  const Json* members = member(object, key);
  if (!members || !members->is_object()) return;
  for (auto it = members->begin(); it != members->end(); ++it) visit(it.key(), it.value());
}

bool read_file(const std::string& path, std::string* text) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (!file) return false;
  char buffer[1 << 14];
  for (size_t got; (got = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text->append(buffer, got);
  bool good = !std::ferror(file);
  std::fclose(file);
  return good;
}

std::string default_profile_path() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<const void*>(&default_profile_path), &info) || !info.dli_fname) return "";
  std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') + 1) + "../../../share/torchmem/profiles/h200.json";
}

void read_memory(const Json& root, Profile* profile) {
  const Json* memory = member(root, "memory");
  if (!memory) return;
  profile->granularity_bytes = number(*memory, "granularity_bytes", profile->granularity_bytes);
  profile->unusable_bytes = number(*memory, "unusable_bytes");
  profile->context_bytes = number(*memory, "context_bytes");
  each(*memory, "loads", [&](const std::string& key, const Json& value) {
    if (value.is_number_integer()) profile->load_bytes[key] = value.get<uint64_t>();
  });
}

void read_kernels(const Json& root, Profile* profile) {
  each(root, "kernels", [&](const std::string& name, const Json& facts) {
    Profile::Kernel& kernel = profile->kernels[name];
    if (!facts.is_object()) return;
    for (auto it = facts.begin(); it != facts.end(); ++it)
      if (it.value().is_number_integer()) kernel.attributes[it.key()] = it.value().get<long long>();
    each(facts, "occupancy", [&](const std::string& block, const Json& blocks) {
      if (blocks.is_number_integer()) kernel.occupancy[block] = blocks.get<int>();
    });
  });
}

struct ProcessProfile {
  std::optional<Profile> profile;

  ProcessProfile() {
    const char* named = std::getenv("TORCHMEM_VGPU_PROFILE");
    std::string path = named && *named ? named : default_profile_path();
    std::string text;
    std::string why = "it cannot be read";
    if (read_file(path, &text)) profile = parse_profile(text, &why);
    if (!profile) {
      std::fprintf(stderr, "torchmem: reading the virtual GPU's profile %s: %s\n", path.c_str(), why.c_str());
    }
  }
};

}  // namespace

long long Profile::property(const std::string& key) const {
  auto found = properties.find(key);
  return found == properties.end() || found->second.empty() ? 0 : found->second.front();
}

std::optional<Profile> parse_profile(const std::string& text, std::string* why) {
  Json root = Json::parse(text, nullptr, false);
  if (root.is_discarded() || word(root, "schema") != "torchmem.device/1") {
    *why = "it is not a device profile (JSON with \"schema\": \"torchmem.device/1\")";
    return std::nullopt;
  }
  Profile profile;
  profile.text = text;
  profile.id = word(root, "id");
  profile.name = word(root, "name");
  profile.total_bytes = number(root, "total_bytes");
  profile.cudnn_facts = word(root, "cudnn_facts");
  read_memory(root, &profile);
  each(root, "versions", [&](const std::string& key, const Json& value) {
    if (value.is_number_integer()) profile.versions[key] = value.get<int>();
    if (value.is_string()) profile.driver_version = value.get<std::string>();
  });
  each(root, "properties", [&](const std::string& key, const Json& value) {
    std::vector<long long>& numbers = profile.properties[key];
    if (value.is_number_integer()) numbers.push_back(value.get<long long>());
    if (value.is_array())
      for (const Json& item : value)
        if (item.is_number_integer()) numbers.push_back(item.get<long long>());
  });
  each(root, "attributes", [&](const std::string& key, const Json& value) {
    if (value.is_number_integer()) profile.attributes[std::atoi(key.c_str())] = value.get<int>();
  });
  each(root, "limits", [&](const std::string& key, const Json& value) {
    if (value.is_number_integer()) profile.limits[std::atoi(key.c_str())] = value.get<uint64_t>();
  });
  if (const Json* pci = member(root, "pci")) {
    profile.pci_domain = static_cast<int>(number(*pci, "domain"));
    profile.pci_bus = static_cast<int>(number(*pci, "bus"));
    profile.pci_device = static_cast<int>(number(*pci, "device"));
  }
  read_kernels(root, &profile);
  if (profile.name.empty() || profile.total_bytes == 0) {
    *why = "a profile needs at least name, total_bytes and properties";
    return std::nullopt;
  }
  // Host code divides by these.
  for (const char* key :
       {"major", "multiProcessorCount", "maxThreadsPerMultiProcessor", "maxThreadsPerBlock", "warpSize"}) {
    if (profile.property(key) >= 1) continue;
    *why = std::string("properties.") + key + " is to be a whole number from 1 on";
    return std::nullopt;
  }
  if (profile.granularity_bytes == 0) {
    *why = "memory.granularity_bytes is 0";
    return std::nullopt;
  }
  // One number, whatever the file has as the property.
  profile.properties["totalGlobalMem"] = {static_cast<long long>(profile.total_bytes)};
  return profile;
}

const Profile* process_profile() {
  static Immortal<ProcessProfile> process;
  const std::optional<Profile>& profile = process.get().profile;
  return profile ? &*profile : nullptr;
}

}  // namespace torchmem::vgpu
