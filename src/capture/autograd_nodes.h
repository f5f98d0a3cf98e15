#pragma once

namespace at {
struct RecordFunction;
}  // namespace at

namespace torchmem::capture {

struct Place;

// An operator's sequence number is the one that the next node gets; the innermost such operator made it. In
// backward there is no interpreter: a node's place is that of the operator that made it.
void remember_creator(const at::RecordFunction& op, const Place* place);

// Where the operator ran that made the node; null where nobody knows.
const Place* creator_of(const at::RecordFunction& node);

// Forgets which operators made which nodes: for when no backward can follow any more.
void forget_creators();

}  // namespace torchmem::capture
