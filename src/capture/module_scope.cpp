#include "capture/module_scope.h"

#include <utility>
#include <vector>

#include "capture/open_operators.h"

namespace torchmem::capture {

struct ModuleScope::Around {
  std::vector<Operator*> open;
  const Place* place;
  bool place_known;
  const ModuleScope* scope;
};

ModuleScope::ModuleScope(std::string path, std::string type)
    : path_(std::move(path)), type_(std::move(type)), around_(std::make_unique<Around>()) {
  auto& state = open_operators();
  *around_ = {std::move(state.open), state.place, state.place_known, state.scope};
  state.open.clear();
  state.place_known = false;
  state.scope = this;
}

ModuleScope::~ModuleScope() {
  auto& state = open_operators();
  state.open = std::move(around_->open);
  state.place = around_->place;
  state.place_known = around_->place_known;
  state.scope = around_->scope;
}

std::string ModuleScope::whole(const std::string& inner) const {
  return inner.empty() ? path_ + " (" + type_ + ")" : path_ + "." + inner;
}

}  // namespace torchmem::capture
