#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace torchmem::capture {

class ModuleScope;
struct Place;

struct Operator {
  std::string name;
  bool is_backward = false;  // autograd's work on a node
  bool accumulates = false;  // on the one that puts a gradient into `.grad`
};

// What is open on a thread.
struct OpenOperators {
  std::vector<Operator*> open;   // outermost first
  bool began_unseen = false;     // what is open: its end is not told either
  const Place* place = nullptr;  // of the outermost open operator; valid while place_known
  bool place_known = false;
  std::uint64_t step = 0;
  const ModuleScope* scope = nullptr;  // the innermost
  bool is_in_scope = false;            // an optimizer's step: what begins within is not seen
  std::size_t unseen = 0;              // operators open within it
};

// The calling thread's.
OpenOperators& open_operators();

// The operator of that name, which lives for good.
Operator* find_operator(const char* name);

void open(Operator* op, OpenOperators& state);

// Where the outermost open operator is; null where unknown.
const Place* current_place(OpenOperators& state);

}  // namespace torchmem::capture
