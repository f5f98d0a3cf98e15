// The segments of the chosen moment, each a bar to scale with its blocks.

const BAR = 17;
const BAR_GAP = 5;

const segmentOrders = {
  size: ['size', (a, b) => b.size - a.size || a.address - b.address],
  free: ['free bytes', (a, b) => b.size - b.active - (a.size - a.active) || a.address - b.address],
  address: ['address', (a, b) => a.address - b.address],
};

// Puts the bars into rows that hold the largest segment, or more when there are many: {row, x, width} in shares of the
// widest row, each bar with a gap after it.
function packSegments(segments, rows, gap) {
  const total = segments.reduce((sum, segment) => sum + segment.size, 0);
  const most = segments.reduce((a, segment) => Math.max(a, segment.size), 1);
  const capacity = Math.max(most, total / rows);
  const filled = []; // {bytes, bars}
  const few = 6; // gaps that may be over the width
  let first = 0;
  const placed = segments.map((segment) => {
    // The first row that has room, past those that are all but full.
    while (first < filled.length && filled[first].bytes > 0.995 * capacity) ++first;
    let row = first;
    const takes = ({ bytes, bars }) => (bytes + segment.size) / capacity + bars * gap <= 1 + few * gap;
    while (row < filled.length && !takes(filled[row])) ++row;
    if (row === filled.length) filled.push({ bytes: 0, bars: 0 });
    const x = filled[row].bytes / capacity + filled[row].bars * gap;
    filled[row].bytes += segment.size;
    ++filled[row].bars;
    return { segment, row, x, width: segment.size / capacity };
  });
  const widest = filled.reduce((most, { bytes, bars }) => Math.max(most, bytes / capacity + (bars - 1) * gap), 0) || 1;
  for (const bar of placed) {
    bar.x /= widest;
    bar.width /= widest;
  }
  return { placed, rows: filled.length };
}

class SegmentsChart {
  constructor(app) {
    this.app = app;
    this.parent = byId('segments');
    this.base = new Surface(this.parent);
    this.over = new Surface(this.parent);
    this.hover = null;
    this.paint = inFrame(() => this.draw());
    const choice = byId('segment-order');
    for (const [key, [title]] of Object.entries(segmentOrders)) choice.append(new Option(title, key));
    choice.onchange = () => this.paint();
    this.listen();
  }

  open(segments) {
    this.segments = segments;
    const reserved = segments.reduce((sum, segment) => sum + segment.size, 0);
    const active = segments.reduce((sum, segment) => sum + segment.active, 0);
    const largest = segments.reduce((most, segment) => Math.max(most, segment.largestFree), 0);
    const text =
      counted(segments.length, 'segment') + ', ' + bytesText(reserved) + ' reserved, ' + bytesText(reserved - active) +
      ' free in them' + (largest ? ', largest free piece ' + bytesText(largest) : '');
    byId('segments-text').textContent = segments.length ? text : 'none at this moment';
    Object.assign(this.parent.dataset, { reserved, active, segments: segments.length });
    this.paint();
  }

  draw() {
    const width = this.parent.clientWidth;
    const order = segmentOrders[byId('segment-order').value][1];
    const sorted = this.segments.slice().sort(order);
    const packed = packSegments(sorted, 16, 4 / Math.max(1, width));
    const height = Math.max(1, packed.rows * (BAR + BAR_GAP));
    this.parent.style.height = height + 'px';
    const context = this.base.start(width, height);
    this.bars = packed.placed.map((bar) => ({
      segment: bar.segment,
      x: bar.x * width,
      y: bar.row * (BAR + BAR_GAP),
      width: Math.max(2, bar.width * width),
    }));
    for (const bar of this.bars) this.drawBar(context, bar);
    this.drawOver();
  }

  drawBar(context, bar) {
    const { palette, sums, device } = this.app;
    const { segment, x, y, width } = bar;
    const { address, size, freed } = device.blocks;
    context.fillStyle = palette.free;
    context.fillRect(x, y, width, BAR);
    const perByte = width / segment.size;
    for (const block of segment.blocks) {
      const left = x + (address[block] - segment.address) * perByte;
      const wide = size[block] * perByte;
      const pending = freed[block] < this.app.moment;
      context.fillStyle = palette.fills[sums.groupOf[block]];
      context.globalAlpha = pending ? 0.4 : 1;
      // Neighbours are told apart by a thin gap where there is room for one.
      context.fillRect(left, y, Math.max(0.5, wide - (wide > 3 ? 0.75 : 0)), BAR);
      context.globalAlpha = 1;
    }
    context.strokeStyle = palette.muted;
    context.lineWidth = 1;
    if (width > 3) context.strokeRect(x + 0.5, y + 0.5, width - 1, BAR - 1);
  }

  drawOver() {
    const context = this.over.start(this.parent.clientWidth, this.parent.clientHeight);
    const { palette, block, device } = this.app;
    const frame = (bar, part, colour) => {
      const perByte = bar.width / bar.segment.size;
      const left = bar.x + (part.address - bar.segment.address) * perByte;
      context.strokeStyle = colour;
      context.lineWidth = 2;
      context.strokeRect(left - 1, bar.y - 1, Math.max(3, part.size * perByte + 1), BAR + 2);
    };
    if (block !== null) {
      const bar = this.bars.find((other) => other.segment.blocks.includes(block));
      if (bar) frame(bar, { address: device.blocks.address[block], size: device.blocks.size[block] }, palette.accent);
    }
    if (this.hover) frame(this.hover.bar, this.hover.part, palette.ink);
  }

  // The bar and the block or free piece of it at the pointer.
  at(event) {
    const box = this.parent.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    const bar =
      this.bars.find((other) => x >= other.x && x <= other.x + other.width && y >= other.y && y < other.y + BAR);
    if (!bar) return null;
    const { segment } = bar;
    const { address, size } = this.app.device.blocks;
    const place = segment.address + ((x - bar.x) / bar.width) * segment.size;
    let start = segment.address;
    for (const block of segment.blocks) {
      if (place < address[block]) return { bar, block: null, part: { address: start, size: address[block] - start } };
      if (place < address[block] + size[block])
        return { bar, block, part: { address: address[block], size: size[block] } };
      start = address[block] + size[block];
    }
    return { bar, block: null, part: { address: start, size: segment.address + segment.size - start } };
  }

  tip(found) {
    const { segment } = found.bar;
    const free = segment.size - segment.active;
    const about = rowsOf([
      [
        'segment',
        bytesText(segment.size) + (segment.expandable ? ', expandable' : '') +
          (segment.stream ? ', stream ' + addressText(segment.stream) : '')
      ],
      ['at', addressText(segment.address)],
      ['in use', bytesText(segment.active) + ' by ' + counted(segment.blocks.length, 'block')],
      ['free', bytesText(free) + (free ? ', largest piece ' + bytesText(segment.largestFree) : '')],
    ]);
    if (found.block === null)
      return element('div', {}, element('b', { textContent: 'free piece, ' + bytesText(found.part.size) }), about);
    const made = blockTip(this.app, found.block);
    if (this.app.device.blocks.freed[found.block] < this.app.moment) {
      made.append(element('div', { className: 'tip-head', textContent: 'freed, but a stream still uses it' }));
    }
    made.append(about);
    return made;
  }

  listen() {
    this.parent.addEventListener('pointermove', (event) => {
      this.hover = this.at(event);
      if (this.hover) showTip(event, this.tip(this.hover));
      else hideTip();
      this.drawOver();
    });
    this.parent.addEventListener('pointerleave', () => {
      this.hover = null;
      hideTip();
      this.drawOver();
    });
    this.parent.addEventListener('click', (event) => {
      const found = this.at(event);
      if (found && found.block !== null) this.app.chooseBlock(found.block);
    });
  }
}
