// The panel that says whose the bytes of the chosen moment are: a treemap to go into.

const HEADER = 16;

class OwnersChart {
  constructor(app) {
    this.app = app;
    this.parent = byId('treemap');
    this.base = new Surface(this.parent);
    this.over = new Surface(this.parent);
    this.boxes = [];
    this.hover = null;
    this.paint = inFrame(() => this.draw());
    this.listen();
  }

  // Keeps the place in the tree where the new moment has it too.
  open(alive) {
    const names = [];
    for (let node = this.node; node && node.parent; node = node.parent) names.unshift(node.name);
    this.root = ownerTree(this.app, this.app.ownerKind, alive);
    this.node = this.root;
    for (const name of names) {
      const child = this.node.children && this.node.children.find((other) => other.name === name);
      if (!child) break;
      this.node = child;
      if (child.blocks) openLeaf(this.app, child);
    }
    this.showPath();
    this.paint();
  }

  restart() {
    this.node = null;
  }

  go(node) {
    if (node.blocks) openLeaf(this.app, node);
    this.node = node;
    this.hover = null;
    hideTip();
    this.showPath();
    this.paint();
  }

  showPath() {
    const crumbs = [];
    for (let node = this.node; node; node = node.parent) {
      const button = element('button', { type: 'button', textContent: node.parent ? node.name : 'all' });
      button.onclick = () => this.go(node);
      button.disabled = node === this.node;
      crumbs.unshift(button);
    }
    const { node } = this;
    const size = element('span', {
      className: 'hint',
      textContent: bytesText(node.bytes) + ', ' + percentText(node.bytes, this.root.bytes) + ', ' +
        counted(node.count, 'block')
    });
    byId('crumbs').replaceChildren(...crumbs, size);
    this.parent.dataset.node = node.parent ? node.name : '';
    this.parent.dataset.bytes = node.bytes;
  }

  draw() {
    const width = this.parent.clientWidth;
    const height = this.parent.clientHeight;
    const context = this.base.start(width, height);
    this.boxes = [];
    context.font = font;
    context.textBaseline = 'middle';
    if (!this.node || !this.node.bytes) {
      context.fillStyle = this.app.palette.muted;
      context.textAlign = 'center';
      context.fillText('nothing is allocated at this moment', width / 2, height / 2);
      this.drawOver();
      return;
    }
    context.textAlign = 'left';
    this.fill(context, this.node, 0, 0, width, height, 0);
    this.drawOver();
  }

  fill(context, node, x, y, width, height, depth) {
    squarify(node.children, x, y, width, height);
    for (const child of node.children) {
      if (child.width < 0.5 || child.height < 0.5) continue;
      const isInner = child.children && !child.blocks;
      this.boxes.push({ node: child, x: child.x, y: child.y, width: child.width, height: child.height, depth });
      if (isInner) this.drawInner(context, child, depth);
      else this.drawLeaf(context, child);
    }
  }

  drawInner(context, node, depth) {
    const { palette } = this.app;
    const { x, y, width, height } = node;
    const gap = depth < 2 ? 1 : 0.5;
    const header = width > 40 && height > HEADER * 2 ? HEADER : 0;
    context.fillStyle = palette.band;
    context.fillRect(x, y, width - gap, height - gap);
    if (header) {
      const text = fitted(context, node.name, width - 10);
      context.fillStyle = palette.ink;
      context.fillText(text, x + 4, y + header / 2 + 0.5);
      const used = context.measureText(text).width;
      const size = bytesText(node.bytes);
      if (text && used + context.measureText(size).width + 22 < width) {
        context.fillStyle = palette.muted;
        context.fillText(size, x + 12 + used, y + header / 2 + 0.5);
      }
    }
    const inset = header ? 2 : 0;
    this.fill(context, node, x + inset, y + header, width - gap - 2 * inset, height - gap - header - inset, depth + 1);
  }

  drawLeaf(context, node) {
    const { palette } = this.app;
    const { x, y, width, height } = node;
    context.fillStyle = palette.fills[node.group];
    const gap = width > 4 && height > 4 ? 1 : 0;
    context.fillRect(x, y, width - gap, height - gap);
    if (width < 34 || height < 14) return;
    const lines = [node.name];
    if (height > 30) lines.push(bytesText(node.bytes));
    lines.forEach((line, i) => {
      const text = fitted(context, line, width - 8);
      if (!text) return;
      const at = y + 8.5 + i * 13;
      if (!palette.inks[node.group]) {
        context.fillStyle = palette.surface;
        context.fillRect(x + 2, at - 7, context.measureText(text).width + 4, 14);
      }
      context.fillStyle = palette.inks[node.group] || palette.ink;
      context.fillText(text, x + 4, at);
    });
  }

  drawOver() {
    const context = this.over.start(this.parent.clientWidth, this.parent.clientHeight);
    if (!this.hover) return;
    context.strokeStyle = this.app.palette.ink;
    context.lineWidth = 2;
    const { x, y, width, height } = this.hover;
    context.strokeRect(x + 1, y + 1, Math.max(0, width - 3), Math.max(0, height - 3));
  }

  // All boxes at a place, the outermost first.
  at(event) {
    const box = this.parent.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    return this.boxes.filter(
      (found) => x >= found.x && x < found.x + found.width && y >= found.y && y < found.y + found.height);
  }

  tip(found) {
    const { node } = found;
    if (node.single && node.count === 1) return blockTip(this.app, node.blocks[0]);
    const names = [];
    for (let up = node; up && up.parent; up = up.parent) names.unshift(up.name);
    const separator = this.app.ownerKind === 'module' ? '.' : ' / ';
    const title =
      node.own && names.length > 1 ? names.slice(0, -1).join(separator) + ': ' + node.name : names.join(separator);
    const facts = [
      ['bytes', exactText(node.bytes)],
      ['share', percentText(node.bytes, this.root.bytes)],
      ['blocks', countText(node.count)],
    ];
    return element(
      'div', {}, element('b', {}, node.group === undefined ? '' : swatch(this.app, node.group), title),
      rowsOf(facts));
  }

  listen() {
    this.parent.addEventListener('pointermove', (event) => {
      const found = this.at(event);
      this.hover = found[found.length - 1] || null;
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
      if (!found.length) return;
      const deepest = found[found.length - 1];
      if (deepest.node.single) {
        if (deepest.node.count === 1) this.app.chooseBlock(deepest.node.blocks[0]);
        return;
      }
      // One step at a time, or straight to the part whose name was hit.
      this.go(deepest.node.blocks ? found[0].node : deepest.node);
    });
  }
}
