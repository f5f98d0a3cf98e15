// A canvas that fills its element at the screen's own resolution, and what is drawn with it.

class Surface {
  constructor(parent) {
    this.canvas = element('canvas');
    parent.append(this.canvas);
    this.context = this.canvas.getContext('2d');
  }

  // Sizes it to the element, empties it, and makes CSS pixels the unit.
  start(width, height) {
    const scale = Math.max(1, window.devicePixelRatio || 1);
    const columns = Math.round(width * scale);
    const rows = Math.round(height * scale);
    if (this.canvas.width !== columns || this.canvas.height !== rows) {
      this.canvas.width = columns;
      this.canvas.height = rows;
      this.canvas.style.width = width + 'px';
      this.canvas.style.height = height + 'px';
    }
    this.scale = scale;
    this.width = width;
    this.height = height;
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
    this.context.clearRect(0, 0, width, height);
    return this.context;
  }
}

const font = '11px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

// The colours of the theme and of the groups, looked up once for each change of either.
class Palette {
  constructor(groups) {
    const style = getComputedStyle(document.documentElement);
    const colourOf = (name) => style.getPropertyValue(name).trim();
    for (const name of ['surface', 'ink', 'muted', 'line', 'free', 'accent', 'reserved', 'band', 'bad']) {
      this[name] = colourOf('--' + name);
    }
    this.groups = groups.colours.map(colourOf);
    this.fills = [...this.groups];
    this.inks = this.groups.map(inkOn);
    if (groups.striped >= 0) {
      this.fills[groups.striped] = stripes(this.groups[groups.striped], this.surface);
      this.inks[groups.striped] = null; // needs a ground of its own
    }
  }
}

// Diagonal stripes: what nobody owns must not look like anything else.
function stripes(colour, ground) {
  const tile = document.createElement('canvas');
  tile.width = tile.height = 8;
  const context = tile.getContext('2d');
  context.fillStyle = ground;
  context.fillRect(0, 0, 8, 8);
  context.strokeStyle = colour;
  context.lineWidth = 3;
  for (const shift of [-8, 0, 8]) {
    context.beginPath();
    context.moveTo(shift - 2, 10);
    context.lineTo(shift + 10, -2);
    context.stroke();
  }
  return context.createPattern(tile, 'repeat');
}

// Black or white, whichever reads better on a colour "#rrggbb".
function inkOn(colour) {
  const channel = (at) => {
    const value = parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  const light = 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
  return light > 0.2 ? '#000000' : '#ffffff';
}

// As much of `text` as fits, with an ellipsis; '' when next to nothing does.
function fitted(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(text.slice(0, middle) + '…').width <= width) low = middle;
    else high = middle - 1;
  }
  return low >= 3 ? text.slice(0, low) + '…' : '';
}

// The steps of a byte axis: powers of two and their halves and quarters, so that labels are round in KiB, MiB, GiB.
function byteTicks(low, high, wanted) {
  const step = 2 ** Math.max(0, Math.ceil(Math.log2(Math.max(1, high - low) / wanted)));
  const ticks = [];
  for (let at = Math.ceil(low / step) * step; at <= high; at += step) ticks.push(at);
  return ticks;
}

function tickText(bytes, step) {
  if (bytes === 0) return '0';
  const unit = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const value = bytes / 1024 ** unit;
  const digits = Math.max(0, Math.min(3, -Math.floor(Math.log10(step / 1024 ** unit) + 1e-9)));
  return value.toFixed(Number.isInteger(value) ? 0 : digits) + ' ' + units[unit];
}

function countTicks(low, high, wanted) {
  const rough = Math.max(1, (high - low) / wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
  const ticks = [];
  for (let at = Math.ceil(low / step) * step; at <= high; at += step) ticks.push(at);
  return ticks;
}

// Calls `paint` in the next frame, once for many requests.
function inFrame(paint) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      paint();
    });
  };
}
