// The run as the report carries it: columns of numbers, each a base64 text of LEB128 numbers.

const NEVER = 0x7fffffff;
const OLDER = -1; // than the trace
const CATEGORY_OTHER = 9;

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

// Numbers up to 2^53 are exact.
function column(base64) {
  const bytes = bytesOf(base64);
  let count = 0;
  for (let i = 0; i < bytes.length; ++i) count += bytes[i] < 128;
  const values = new Float64Array(count);
  for (let i = 0, at = 0; at < count; ++at) {
    let value = 0;
    let scale = 1;
    let byte = bytes[i++];
    while (byte >= 128) {
      value += (byte - 128) * scale;
      scale *= 128;
      byte = bytes[i++];
    }
    values[at] = value + byte * scale;
  }
  return values;
}

// Each number as the difference to the one before, negative ones folded in between (0, -1, 1, -2, ...).
function differences(base64) {
  const values = column(base64);
  let last = 0;
  for (let i = 0; i < values.length; ++i) {
    const folded = values[i];
    last += folded % 2 ? -(folded + 1) / 2 : folded / 2;
    values[i] = last;
  }
  return values;
}

function decodeBlocks(coded, events) {
  const address = differences(coded.address);
  const size = column(coded.size);
  const count = size.length;
  const rest = column(coded.rest);
  const bornCode = differences(coded.born);
  const life = column(coded.life);
  const requested = new Float64Array(count);
  const born = new Int32Array(count);
  const freed = new Int32Array(count);
  for (let i = 0; i < count; ++i) {
    address[i] *= coded.unit;
    size[i] *= coded.unit;
    requested[i] = size[i] - rest[i];
    born[i] = bornCode[i] - 1; // 0 is older than the trace
    freed[i] = life[i] ? born[i] + life[i] : NEVER;
  }
  // What each event did: k + 1 a block's birth, -(k + 1) its end.
  const change = new Int32Array(events);
  for (let i = 0; i < count; ++i) {
    if (born[i] !== OLDER) change[born[i]] = i + 1;
    if (freed[i] !== NEVER) change[freed[i]] = -(i + 1);
  }
  const pending = new Map(); // blocks that a stream still used after they were freed: until when
  const pendingBlock = differences(coded.pending_block);
  const pendingUntil = column(coded.pending_until);
  pendingBlock.forEach((block, i) => pending.set(block, pendingUntil[i] ? freed[block] + pendingUntil[i] : NEVER));
  return { count, address, size, requested, born, freed, change, pending, owner: Int32Array.from(column(coded.owner)) };
}

function decodeOwners(coded) {
  const whole = (name) => Int32Array.from(column(coded[name]));
  return {
    category: whole('category'),
    op: whole('op'),
    module: whole('module'),
    line: whole('line'),
    name: whole('name'),
    type: whole('type'),
    stack: whole('stack'),
  };
}

function decodeSegmentEvents(coded) {
  const list = [];
  const event = differences(coded.event);
  const kind = column(coded.kind);
  const address = differences(coded.address);
  const size = column(coded.size);
  const stream = column(coded.stream);
  for (let i = 0; i < event.length; ++i) {
    list.push({
      event: event[i],
      kind: kind[i],
      address: address[i] * coded.unit,
      size: size[i] * coded.unit,
      stream: stream[i],
    });
  }
  return list;
}

// The phases as stretches of the trace, [from, to) in events. What comes after the last one's end has a stretch too.
function stretchesOf(device, error) {
  const result = [];
  let from = 0;
  for (const phase of device.phases) {
    const to = Math.min(Math.max(phase.events, from), device.events);
    let label = phase.name;
    if (phase.iteration !== null) label += ':' + phase.iteration;
    if (phase.micro !== null) label += '.' + phase.micro;
    result.push({ ...phase, label, from, to, isPhase: true, failed: false });
    from = to;
  }
  const known = error && error.phase;
  if (from === device.events || !(result.length || known)) return result;
  const add = (name, iteration, to, failed) => {
    const label = name + (iteration === null ? '' : ':' + iteration);
    if (from < to) result.push({ name, iteration, micro: null, label, from, to, isPhase: false, failed });
    from = Math.max(from, to);
  };
  if (known) add(error.phase, error.iteration === undefined ? null : error.iteration, workEnd(device), true);
  add(known ? 'teardown' : 'after', null, device.events, false);
  return result;
}

// The events until memory ran out for the last time or the last block was made: after them a run that failed only
// lets go of what it had.
function workEnd(device) {
  const { born } = device.blocks;
  const last = device.ooms.length ? device.ooms[device.ooms.length - 1].event : OLDER;
  return born.reduce((a, b) => Math.max(a, b), last) + 1;
}

function decodeDevice(coded, error) {
  const device = { ...coded };
  device.blocks = decodeBlocks(coded.blocks, coded.events);
  device.owners = decodeOwners(coded.owners);
  device.segmentEvents = decodeSegmentEvents(coded.segment_events);
  device.stretches = stretchesOf(device, error);
  device.stackParent = column(coded.stacks.parent);
  device.stackFrame = column(coded.stacks.frame);
  device.frameFile = column(coded.frames.file);
  device.frameFunction = column(coded.frames.function);
  device.frameLine = column(coded.frames.line);
  return device;
}

// The stretch that the event of that index happened in, or null.
function stretchOf(device, event) {
  let low = 0;
  let high = device.stretches.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (device.stretches[middle].to > event) high = middle;
    else low = middle + 1;
  }
  return low < device.stretches.length ? device.stretches[low] : null;
}

// In which phase event `event` was, in words; `events` many have happened at a moment.
function whenText(device, event) {
  const stretch = stretchOf(device, event);
  return stretch ? stretch.label : 'event ' + countText(event);
}

function bornText(device, block) {
  const born = device.blocks.born[block];
  return born === OLDER ? 'before' : whenText(device, born);
}

function freedText(device, block) {
  const freed = device.blocks.freed[block];
  return freed === NEVER ? 'end' : whenText(device, freed);
}

// "conv1.weight", else what made it.
function blockName(device, block) {
  const owner = device.blocks.owner[block];
  return device.names[device.owners.name[owner]] || device.ops[device.owners.op[owner]] || 'block';
}

// Innermost first.
function stackOf(device, block) {
  const frames = [];
  let node = device.owners.stack[device.blocks.owner[block]];
  while (node > 0) {
    const frame = device.stackFrame[node - 1];
    const file = device.files[device.frameFile[frame]];
    const line = device.frameLine[frame];
    frames.push({ where: line ? file + ':' + line : file, name: device.functions[device.frameFunction[frame]] });
    node = device.stackParent[node - 1];
  }
  return frames;
}

// Stretches of the same iteration as one, with a text for the band.
function iterationsOf(stretches) {
  const result = [];
  for (const stretch of stretches) {
    const last = result[result.length - 1];
    if (stretch.iteration === null) continue;
    if (last && last.iteration === stretch.iteration && last.to === stretch.from) {
      last.to = stretch.to;
      continue;
    }
    const text = 'iteration ' + stretch.iteration;
    result.push({ text, label: text, iteration: stretch.iteration, from: stretch.from, to: stretch.to });
  }
  return result;
}
