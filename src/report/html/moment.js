// What there is at one moment: blocks, segments.

const SEGMENT_ALLOC = 0;
const SEGMENT_FREE = 1;
const SEGMENT_MAP = 2;
const SEGMENT_UNMAP = 3;

// The blocks that are allocated after that many events, in order of birth.
function aliveAt(device, moment) {
  const { born, freed, count } = device.blocks;
  const alive = [];
  for (let i = 0; i < count; ++i) {
    if (born[i] >= moment) break;
    if (freed[i] >= moment) alive.push(i);
  }
  return alive;
}

// Freed, but not yet free, since another stream may still use them.
function pendingAt(device, moment) {
  const result = [];
  for (const [block, until] of device.blocks.pending) {
    if (device.blocks.freed[block] < moment && until >= moment) result.push(block);
  }
  return result;
}

function addRange(segments, event) {
  const added = { address: event.address, size: event.size, stream: event.stream, expandable: true };
  const end = added.address + added.size;
  for (const [address, other] of segments) {
    if (!other.expandable || other.stream !== added.stream) continue;
    if (address === end) {
      added.size += other.size;
      segments.delete(address);
    } else if (address + other.size === added.address) {
      added.address = address;
      added.size += other.size;
      segments.delete(address);
    }
  }
  segments.set(added.address, added);
}

function removeRange(segments, event) {
  for (const [address, segment] of segments) {
    const end = address + segment.size;
    if (event.address < address || event.address + event.size > end) continue;
    segments.delete(address);
    if (event.address > address) segments.set(address, { ...segment, size: event.address - address });
    const after = event.address + event.size;
    if (after < end) segments.set(after, { ...segment, address: after, size: end - after });
    return;
  }
}

// By address: {address, size, stream, expandable, blocks, active, largestFree}.
function segmentsAt(device, moment, alive) {
  const ranges = new Map();
  for (const segment of device.first_segments) ranges.set(segment.address, { ...segment });
  for (const event of device.segmentEvents) {
    if (event.event >= moment) break;
    if (event.kind === SEGMENT_ALLOC) {
      ranges.set(event.address, { address: event.address, size: event.size, stream: event.stream, expandable: false });
    } else if (event.kind === SEGMENT_FREE) {
      ranges.delete(event.address);
    } else if (event.kind === SEGMENT_MAP) {
      addRange(ranges, event);
    } else if (event.kind === SEGMENT_UNMAP) {
      removeRange(ranges, event);
    }
  }
  const segments = [...ranges.values()].sort((a, b) => a.address - b.address);
  const { address, size } = device.blocks;
  const parts = alive.concat(pendingAt(device, moment)).sort((a, b) => address[a] - address[b]);
  let next = 0;
  for (const segment of segments) {
    const end = segment.address + segment.size;
    segment.blocks = [];
    segment.active = 0;
    segment.largestFree = 0;
    let at = segment.address;
    while (next < parts.length && address[parts[next]] < segment.address) ++next;
    for (; next < parts.length && address[parts[next]] < end; ++next) {
      const block = parts[next];
      segment.largestFree = Math.max(segment.largestFree, address[block] - at);
      segment.blocks.push(block);
      segment.active += size[block];
      at = address[block] + size[block];
    }
    segment.largestFree = Math.max(segment.largestFree, end - at);
  }
  return segments;
}

// Reserved bytes: after moments[i] events it is values[i], until the next.
function reservedSteps(device) {
  let sum = 0;
  for (const segment of device.first_segments) sum += segment.size;
  const moments = [0];
  const values = [sum];
  for (const event of device.segmentEvents) {
    sum += event.kind === SEGMENT_ALLOC || event.kind === SEGMENT_MAP ? event.size : -event.size;
    moments.push(event.event + 1);
    values.push(sum);
  }
  return { moments, values };
}
