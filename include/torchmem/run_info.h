// What a run says of itself: which model ran, on what, and how.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace torchmem {

// Everywhere here "" and an absent value are what the recorder did not say.
struct RunInfo {
  struct Model {
    std::string path;
    std::optional<uint64_t> parameter_bytes;
  } model;

  struct Device {
    std::string kind;  // "cuda", "virtual"
    std::optional<uint64_t> index;
    std::string name;     // "NVIDIA H200"
    std::string profile;  // of a virtual one: "h200"
    std::optional<uint64_t> total_bytes;
    std::optional<bool> verified;  // whether the profile was compared with such a card
    std::string workspaces_of;     // the card whose cuDNN workspaces were taken for this one's; "": its own
    std::string note;              // what else is to be known of the profile
    std::string chosen;            // why it is this one
  } device;

  struct Software {
    std::string torch;
    std::string cuda;
    std::string cudnn;
  } software;

  struct Arguments {
    std::string mode;  // "train", "inference"
    std::optional<bool> inference_mode;
    std::string optimizer;
    std::string optimizer_form;
    std::string loss;
    std::string dtype;
    std::string autocast;
    std::optional<uint64_t> steps;
    std::map<std::string, std::vector<uint64_t>> sizes;  // in turn, by dimension
    std::optional<uint64_t> limit_bytes;
  } arguments;

  std::string loss_on;                    // the result, or the part of it, that the loss is of
  std::vector<std::string> checkpointed;  // modules, by path
  std::optional<uint64_t> made_inplace;   // activations
  // Whatever else the recorder said, for output.
  nlohmann::json rest = nlohmann::json::object();
};

}  // namespace torchmem
