#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace torchmem {

// The arguments of one call. A VALUE stays JSON until the model's schema is known:
//   {"tensor": {"dtype", "shape", "fill": randn|zeros|ones|arange|value|below, "value", "below", "spec": the
//   text as given}}, where a dimension of the shape may be a name until it is given a size
//   {"file": path of a tensor saved by torch.save} | {"scalar": number|true|null} | {"string": S}
//   {"list": [VALUE...]} | {"tuple": [VALUE...]} | {"dict": {K: VALUE}}
struct Arguments {
  std::vector<nlohmann::json> positional;
  std::map<std::string, nlohmann::json> named;
};

}  // namespace torchmem
