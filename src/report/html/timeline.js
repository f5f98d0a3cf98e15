// The timeline: allocated bytes over the run's events, stacked by group, with phases, and under it the whole run.
//
// A column of pixels that holds many moments shows the one with the most bytes; what lies above the least of them is
// paler, since it was not there all the time.

const LEFT = 64;
const RIGHT = 10;
const BANDS = 32; // the two rows of phases
const AXIS = 20;

const LABEL_HEIGHT = 13;
const LABEL_ROWS = 2;

// Where something is written at the top of the plot, in rows: a label takes the first place that is free.
class Labels {
  constructor(plot) {
    this.plot = plot;
    this.rows = [...Array(LABEL_ROWS)].map(() => []);
  }

  take(x, width, row = 0) {
    this.rows[row].push([x, x + width]);
  }

  // At one of those x, or null where there is no room for it.
  find(places, width) {
    for (let row = 0; row < LABEL_ROWS; ++row) {
      for (const x of places) {
        if (x < this.plot.x || x + width > this.plot.x + this.plot.width) continue;
        if (this.rows[row].some(([from, to]) => x < to + 2 && from < x + width + 2)) continue;
        this.take(x, width, row);
        return { x, drop: row * LABEL_HEIGHT };
      }
    }
    return null;
  }
}

class TimelineChart {
  constructor(app) {
    this.app = app;
    this.parent = byId('timeline');
    this.base = new Surface(this.parent);
    this.over = new Surface(this.parent);
    this.overview = new OverviewChart(app, this);
    this.hover = null; // {moment, block, group}
    this.drag = null;
    this.paint = inFrame(() => this.draw());
    this.paintOver = inFrame(() => this.drawOver());
    listenToTimeline(this);
  }

  open(device, sums) {
    this.device = device;
    this.sums = sums;
    this.view = new View(device.events + 1);
    this.reserved = reservedSteps(device);
    this.hover = null;
    this.viewChanged();
  }

  viewChanged() {
    this.paint();
    this.overview.paintOver();
  }

  plot() {
    const width = this.parent.clientWidth;
    const height = this.parent.clientHeight;
    return { x: LEFT, y: BANDS, width: width - LEFT - RIGHT, height: height - BANDS - AXIS };
  }

  xOf(moment) {
    const { x, width } = this.plot();
    return x + ((moment - this.view.from) / (this.view.to - this.view.from)) * width;
  }

  momentOf(x) {
    const plot = this.plot();
    return this.view.from + ((x - plot.x) / plot.width) * (this.view.to - this.view.from);
  }

  draw() {
    const context = this.base.start(this.parent.clientWidth, this.parent.clientHeight);
    const { palette } = this.app;
    const plot = this.plot();
    if (plot.width < 20) return;
    const count = Math.round(plot.width * this.base.scale);
    this.columns = new Columns(this.sums, this.view, count);
    const reserved = stepColumns(this.reserved, this.view, count);
    const withReserved = byId('show-reserved').checked;
    const most = this.columns.most.reduce((a, b) => Math.max(a, b), 0) || 1024;
    const least = this.columns.least.reduce((a, b) => Math.min(a, b), Infinity);
    const fit = byId('fit-height').checked;
    // What is reserved may not flatten what is allocated.
    const room = fit ? most : 1.6 * most;
    const highest = withReserved ? reserved.reduce((a, b) => Math.max(a, b), most) : most;
    this.low = fit ? Math.max(0, least - 0.05 * (most - least) - 1) : 0;
    this.high = this.low + ((highest <= room ? highest : most) - this.low) * 1.06;
    const { scale } = this.base;
    this.y = (value) => {
      const y = plot.y + plot.height * (1 - (value - this.low) / (this.high - this.low));
      return Math.round(Math.min(Math.max(y, plot.y), plot.y + plot.height) * scale) / scale;
    };

    this.labels = new Labels(plot);
    this.above = '';
    this.drawAxes(context, plot, palette);
    drawStack(context, this.columns, this.sums.groups, palette.fills, plot.x, plot.width, this.y);
    this.drawPale(context, plot, palette);
    if (withReserved) this.drawReserved(context, plot, palette, reserved);
    this.drawBands(context, plot, palette);
    this.drawMarks(context, plot, palette);
    const { dataset } = this.parent;
    dataset.from = this.view.from;
    dataset.to = this.view.to;
    dataset.low = this.low;
    dataset.high = this.high;
    dataset.labels = JSON.stringify(this.labels.rows);
    this.drawOver();
  }

  // A line; where there is no room for it, drawMarks writes a word at the top.
  drawReserved(context, plot, palette, reserved) {
    context.save();
    context.beginPath();
    context.rect(plot.x, plot.y, plot.width, plot.height);
    context.clip();
    traceSteps(context, reserved, plot.x, plot.width, (value) => (value > this.high ? plot.y - 9 : this.y(value)));
    context.strokeStyle = palette.reserved;
    context.lineWidth = 1.5;
    context.setLineDash([5, 3]);
    context.stroke();
    context.restore();
    const most = reserved.reduce((a, b) => Math.max(a, b), 0);
    this.above = most > this.high ? '↑ reserved: up to ' + bytesText(most) : '';
  }

  // What was not there during all of a column.
  drawPale(context, plot, palette) {
    const { count, least, most } = this.columns;
    context.fillStyle = palette.surface;
    context.globalAlpha = 0.5;
    const step = plot.width / count;
    for (let i = 0; i < count; ) {
      const low = this.y(least[i]);
      const high = this.y(most[i]);
      let end = i + 1;
      while (end < count && this.y(least[end]) === low && this.y(most[end]) === high) ++end;
      if (high < low) context.fillRect(plot.x + i * step, high, (end - i) * step, low - high);
      i = end;
    }
    context.globalAlpha = 1;
  }

  drawAxes(context, plot, palette) {
    context.font = font;
    context.lineWidth = 1;
    context.strokeStyle = palette.line;
    context.fillStyle = palette.muted;
    context.textAlign = 'right';
    context.textBaseline = 'middle';
    const ticks = byteTicks(this.low, this.high, Math.max(2, plot.height / 44));
    for (const tick of ticks) {
      const y = Math.round(this.y(tick)) + 0.5;
      context.beginPath();
      context.moveTo(plot.x, y);
      context.lineTo(plot.x + plot.width, y);
      context.stroke();
      context.fillText(tickText(tick, ticks.length > 1 ? ticks[1] - ticks[0] : 1), plot.x - 6, y);
    }
    context.textBaseline = 'top';
    context.textAlign = 'center';
    const below = plot.y + plot.height;
    const name = 'events';
    const room = plot.x + plot.width - context.measureText(name).width - 8;
    for (const tick of countTicks(this.view.from, Math.min(this.view.to, this.device.events), plot.width / 90)) {
      const x = this.xOf(tick);
      const text = countText(tick);
      const half = context.measureText(text).width / 2;
      context.fillRect(Math.round(x), below, 1, 4);
      if (x + half < room) context.fillText(text, Math.max(x, half), below + 6);
    }
    context.textAlign = 'right';
    context.fillText(name, plot.x + plot.width, below + 6);
  }

  // A row of iterations over a row of phases, and thin lines where iterations begin.
  drawBands(context, plot, palette) {
    const { stretches } = this.device;
    const iterations = iterationsOf(stretches);
    context.font = font;
    context.textBaseline = 'middle';
    context.textAlign = 'center';
    this.drawBand(
      context, plot, palette, iterations, 0, palette.ink,
      (iteration) => [iteration.text, String(iteration.iteration)]);
    this.drawBand(
      context, plot, palette, stretches, 16, palette.muted,
      (stretch) => [stretch.micro === null ? stretch.name : stretch.name + '.' + stretch.micro]);
    context.fillStyle = palette.ink;
    context.globalAlpha = 0.25;
    let last = plot.x;
    for (const iteration of iterations) {
      const x = Math.round(this.xOf(iteration.from));
      if (x < last + 40 || x >= plot.x + plot.width) continue;
      context.fillRect(x, plot.y, 1, plot.height);
      last = x;
    }
    context.globalAlpha = 1;
  }

  // `texts` gives what to write on a stretch, the shortest last; of many narrow ones only some are written on.
  drawBand(context, plot, palette, stretches, y, ink, texts) {
    const end = plot.x + plot.width;
    let written = plot.x;
    stretches.forEach((stretch, i) => {
      const left = Math.max(plot.x, this.xOf(stretch.from));
      const right = Math.min(end, this.xOf(stretch.to === this.device.events ? stretch.to + 1 : stretch.to));
      if (right <= left) return;
      context.fillStyle = stretch.failed ? palette.bad : palette.band;
      context.globalAlpha = stretch.failed ? 0.35 : i % 2 ? 0.5 : 1;
      context.fillRect(left, y, right - left - (right - left > 3 ? 1 : 0), 14);
      context.globalAlpha = 1;
      context.fillStyle = ink;
      const choices = texts(stretch);
      let text = fitted(context, choices[0], right - left - 6);
      if (text !== choices[0] && choices[1]) {
        const half = context.measureText(choices[1]).width / 2;
        const middle = (left + right) / 2;
        text = middle - half > written && middle + half < end ? choices[1] : '';
      }
      if (text) written = (left + right) / 2 + context.measureText(text).width / 2 + (text === choices[0] ? 0 : 16);
      if (text) context.fillText(text, (left + right) / 2, y + 7.5);
    });
  }

  // Where allocated peaked, and where memory ran out: first the marks, then the texts that have room beside them.
  drawMarks(context, plot, palette) {
    const marks = [];
    if (this.device.events) marks.push({ moment: this.device.peak, text: 'peak', colour: palette.ink });
    // The first ones by name: a program that goes on after one may have thousands.
    for (const oom of this.device.ooms.slice(0, 20)) {
      const text = 'out of memory: ' + bytesText(oom.size) + ' asked for';
      marks.push({ moment: oom.event, text, colour: palette.bad });
    }
    const shown = marks.filter(({ moment }) => moment >= this.view.from && moment <= this.view.to);
    for (const mark of shown) {
      mark.x = this.xOf(mark.moment + 0.5);
      context.fillStyle = mark.colour;
      context.beginPath();
      context.moveTo(mark.x, plot.y + 7);
      context.lineTo(mark.x - 4, plot.y);
      context.lineTo(mark.x + 4, plot.y);
      context.fill();
      this.labels.take(mark.x - 4, 8);
    }
    context.font = font;
    context.textBaseline = 'top';
    context.textAlign = 'left';
    const write = (text, colour, placesOf) => {
      const { width } = context.measureText(text);
      const place = this.labels.find(placesOf(width), width);
      if (!place) return;
      context.fillStyle = palette.surface;
      context.fillRect(place.x - 2, plot.y + place.drop, width + 4, LABEL_HEIGHT);
      context.fillStyle = colour;
      context.fillText(text, place.x, plot.y + 1 + place.drop);
    };
    if (this.above) write(this.above, palette.reserved, (width) => [plot.x + plot.width - 4 - width, plot.x + 4]);
    for (const { x, text, colour } of shown) write(text, colour, (width) => [x + 7, x - 7 - width]);
  }

  drawOver() {
    if (!this.columns) return;
    const context = this.over.start(this.parent.clientWidth, this.parent.clientHeight);
    const { palette, block } = this.app;
    const plot = this.plot();
    context.save();
    context.beginPath();
    context.rect(plot.x, 0, plot.width, this.parent.clientHeight);
    context.clip();
    if (block !== null) this.drawLife(context, plot, block, palette.ink, 0.35);
    if (this.hover && this.hover.block !== null) this.drawLife(context, plot, this.hover.block, palette.ink, 0.2);
    const line = (moment, colour, width) => {
      context.fillStyle = colour;
      context.fillRect(this.xOf(moment + 0.5) - width / 2, plot.y, width, plot.height);
    };
    line(this.app.moment, palette.accent, 2);
    const x = this.xOf(this.app.moment + 0.5);
    context.beginPath();
    context.arc(x, plot.y + plot.height, 4, 0, 7);
    context.fill();
    if (this.hover) line(this.hover.moment, palette.ink, 1);
    if (this.drag && this.drag.moved) {
      context.fillStyle = palette.accent;
      context.globalAlpha = 0.18;
      context.fillRect(
        Math.min(this.drag.x, this.drag.now), plot.y, Math.abs(this.drag.now - this.drag.x), plot.height);
    }
    context.restore();
    this.parent.dataset.hovered = this.hover && this.hover.block !== null ? this.hover.block : '';
  }

  // The block's own strip within its group, for as long as it lives.
  drawLife(context, plot, block, colour, alpha) {
    const { blocks } = this.device;
    const { groupOf, groups } = this.sums;
    const group = groupOf[block];
    const { moment, count, stack } = this.columns;
    const born = blocks.born[block];
    const freed = blocks.freed[block];
    // The bytes of older blocks of the group, carried from column to column.
    let below = 0;
    let at = -1;
    let path = null;
    const edges = [];
    for (let i = 0; i < count; ++i) {
      const now = moment[i];
      if (now <= born || now > freed) continue;
      if (at < 0 || now < at) {
        below = 0;
        for (const other of aliveAt(this.device, now)) {
          if (other >= block) break;
          if (groupOf[other] === group) below += blocks.size[other];
        }
      } else {
        for (let event = at; event < now; ++event) {
          const change = blocks.change[event];
          // Blocks are in order of birth, so that a later birth is above.
          if (change < 0 && -change - 1 < block && groupOf[-change - 1] === group) below -= blocks.size[-change - 1];
        }
      }
      at = now;
      const base = stack[i * (groups + 1) + group] + below;
      edges.push([i, this.y(base), this.y(base + blocks.size[block])]);
    }
    if (!edges.length) return;
    path = new Path2D();
    const step = plot.width / count;
    for (let i = 0; i < edges.length; ) {
      const [column, low, high] = edges[i];
      let end = i + 1;
      while (end < edges.length && edges[end][0] === column + end - i && edges[end][1] === low &&
             edges[end][2] === high)
        ++end;
      path.rect(plot.x + column * step, high, (end - i) * step, Math.max(1, low - high));
      i = end;
    }
    context.fillStyle = colour;
    context.globalAlpha = alpha;
    context.fill(path);
    context.globalAlpha = 1;
  }

  // The moment, group and block at a place on the chart, or null outside of it.
  find(x, y) {
    const plot = this.plot();
    if (!this.columns || x < plot.x || x >= plot.x + plot.width || y < plot.y || y > plot.y + plot.height) return null;
    const column = Math.min(this.columns.count - 1, Math.floor(((x - plot.x) / plot.width) * this.columns.count));
    const moment = this.columns.moment[column];
    const value = this.low + (1 - (y - plot.y) / plot.height) * (this.high - this.low);
    const { groups, groupOf } = this.sums;
    const at = column * (groups + 1);
    const alive = aliveAt(this.device, moment);
    let group = 0;
    while (group < groups && this.columns.stack[at + group + 1] <= value) ++group;
    let block = null;
    if (group < groups) {
      let sum = this.columns.stack[at + group];
      for (const other of alive) {
        if (groupOf[other] !== group) continue;
        sum += this.device.blocks.size[other];
        block = other;
        if (sum > value) break;
      }
    }
    return { moment, block, alive };
  }

  reset() {
    this.view.all();
    this.viewChanged();
  }

  stretchAt(x, y) {
    const event = this.momentOf(x);
    const list = y < 16 ? iterationsOf(this.device.stretches) : this.device.stretches;
    return list.find((stretch) => stretch.from <= event && event < stretch.to) || null;
  }
}
