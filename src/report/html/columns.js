// The stretch of moments that is shown, and what each of its pixel columns holds.

// A view of [from, to) in moments; moment m takes [m, m + 1).
class View {
  constructor(moments) {
    this.moments = moments;
    this.from = 0;
    this.to = moments;
  }

  set(from, to) {
    const least = Math.min(this.moments, 4);
    const span = Math.min(this.moments, Math.max(least, to - from));
    const middle = (from + to) / 2;
    this.from = Math.min(Math.max(0, middle - span / 2), this.moments - span);
    this.to = this.from + span;
  }

  zoom(factor, around) {
    const span = Math.min(this.moments, Math.max(Math.min(this.moments, 4), (this.to - this.from) * factor));
    const share = (around - this.from) / (this.to - this.from);
    this.set(around - share * span, around - share * span + span);
  }

  pan(moments) {
    const by = Math.min(Math.max(moments, -this.from), this.moments - this.to);
    this.from += by;
    this.to += by;
  }

  all() {
    this.set(0, this.moments);
  }
}

// For each of `count` columns: the moment with the most bytes in it, its groups stacked, and the least there.
class Columns {
  constructor(sums, view, count) {
    const { groups } = sums;
    this.count = count;
    this.moment = new Int32Array(count);
    this.least = new Float64Array(count);
    this.most = new Float64Array(count);
    this.stack = new Float64Array(count * (groups + 1)); // ascending sums, the first one 0
    const parts = new Float64Array(groups);
    const last = sums.total.length - 1;
    let kept = -1;
    for (let i = 0; i < count; ++i) {
      const start = view.from + (i * (view.to - view.from)) / count;
      const end = view.from + ((i + 1) * (view.to - view.from)) / count;
      const first = Math.min(last, Math.floor(start));
      sums.extremes.find(first, Math.min(last, Math.max(first, Math.ceil(end) - 1)));
      const moment = sums.extremes.most;
      this.moment[i] = moment;
      this.least[i] = sums.total[sums.extremes.least];
      this.most[i] = sums.total[moment];
      const at = i * (groups + 1);
      if (moment === kept) {
        this.stack.copyWithin(at, at - groups - 1, at);
        continue;
      }
      kept = moment;
      sums.at(moment, parts);
      for (let j = 0; j < groups; ++j) this.stack[at + j + 1] = this.stack[at + j] + parts[j];
    }
  }
}

// The greatest value of a step function in each column of the view.
function stepColumns(steps, view, count) {
  const result = new Float64Array(count);
  const { moments, values } = steps;
  let next = 0;
  let now = 0;
  for (let i = 0; i < count; ++i) {
    const start = Math.floor(view.from + (i * (view.to - view.from)) / count);
    const end = view.from + ((i + 1) * (view.to - view.from)) / count;
    while (next < moments.length && moments[next] <= start) now = values[next++];
    let most = now;
    while (next < moments.length && moments[next] < end) {
      now = values[next++];
      most = Math.max(most, now);
    }
    result[i] = most;
  }
  return result;
}

// Draws columns as filled areas, stacked, without seams between them: the tallest first, then what covers it.
// `y` gives the height of a value in pixels from the top.
function drawStack(context, columns, groups, fills, x, width, y) {
  const { count, stack } = columns;
  const bottom = y(0);
  for (let group = groups; group > 0; --group) {
    let drawn = false;
    context.beginPath();
    context.moveTo(x, bottom);
    let last = bottom;
    for (let i = 0; i < count; ++i) {
      const at = i * (groups + 1) + group;
      const top = y(stack[at]);
      drawn ||= stack[at] > stack[at - 1];
      if (top === last) continue;
      const left = x + (i * width) / count;
      context.lineTo(left, last);
      context.lineTo(left, top);
      last = top;
    }
    context.lineTo(x + width, last);
    context.lineTo(x + width, bottom);
    if (!drawn) continue;
    context.fillStyle = fills[group - 1];
    context.fill();
  }
}

// The line along a value of each column.
function traceSteps(context, values, x, width, y) {
  context.beginPath();
  const count = values.length;
  let last = y(values[0]);
  context.moveTo(x, last);
  for (let i = 1; i < count; ++i) {
    const top = y(values[i]);
    if (top === last) continue;
    const left = x + (i * width) / count;
    context.lineTo(left, last);
    context.lineTo(left, top);
    last = top;
  }
  context.lineTo(x + width, last);
}
