// A squarified treemap: the layout, and the tree of owners that it shows.

// Places children into the box so that each has its share of the area and is as square as can be (Bruls, Huizing and
// van Wijk, 2000). `children` are by bytes, largest first; sets x, y, width, height of each.
function squarify(children, x, y, width, height) {
  let total = children.reduce((sum, child) => sum + child.bytes, 0);
  for (let i = 0; i < children.length; ) {
    if (total <= 0 || width <= 0 || height <= 0) {
      for (; i < children.length; ++i) Object.assign(children[i], { x, y, width: 0, height: 0 });
      return;
    }
    const side = Math.min(width, height);
    const area = (width * height) / total; // of a byte
    const worst = (sum, most, least) => {
      const strip = (sum * area) / side;
      return Math.max((strip * strip) / (least * area), (most * area) / (strip * strip));
    };
    let sum = children[i].bytes;
    let end = i + 1;
    while (end < children.length) {
      const more = sum + children[end].bytes;
      if (
        worst(more, children[i].bytes, children[end].bytes) >
        worst(sum, children[i].bytes, children[end - 1].bytes))
        break;
      sum = more;
      ++end;
    }
    const strip = sum === total ? (width < height ? height : width) : (sum * area) / side;
    let at = width < height ? x : y;
    for (; i < end; ++i) {
      const length = (children[i].bytes / sum) * side;
      if (width < height) Object.assign(children[i], { x: at, y, width: length, height: strip });
      else Object.assign(children[i], { x, y: at, width: strip, height: length });
      at += length;
    }
    if (width < height) {
      y += strip;
      height -= strip;
    } else {
      x += strip;
      width -= strip;
    }
    total -= sum;
  }
}

// The way from the root to the blocks of an owner, by what is asked for.
const ownerPaths = {
  module: (device, owner) => {
    const path = device.modules[device.owners.module[owner]];
    return path ? path.split('.') : [];
  },
  op: (device, owner) => [device.ops[device.owners.op[owner]] || groupings.op.unknown],
  line: (device, owner) => {
    const line = device.lines[device.owners.line[owner]];
    if (!line) return [groupings.line.unknown];
    const colon = line.lastIndexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1)];
  },
  category: (device, owner, app) => [app.categoryNames[device.owners.category[owner]].replace('_', ' ')],
};

// Nodes are {name, bytes, count, children, group, blocks}: inner ones have children, leaves a group of colour and
// blocks.
function ownerTree(app, kind, alive) {
  const { device, sums } = app;
  const root = { name: 'all', bytes: 0, count: 0, inner: new Map() };
  const owners = new Map(); // the same owner has the same way
  for (const block of alive) {
    const owner = device.blocks.owner[block];
    const key = owner * GROUPS + sums.groupOf[block];
    let way = owners.get(key);
    if (!way) {
      way = [root];
      let node = root;
      for (const name of ownerPaths[kind](device, owner, app)) {
        node = descend(node, 'n' + name, { name, inner: new Map() });
        way.push(node);
      }
      const group = sums.groupOf[block];
      const name = leafName(app, kind, owner, group);
      way.push(descend(node, 'g' + group + '\n' + name, { name, group, blocks: [], own: kind === 'module' }));
      owners.set(key, way);
    }
    for (const node of way) {
      node.bytes += device.blocks.size[block];
      ++node.count;
    }
    way[way.length - 1].blocks.push(block);
  }
  finish(root, null);
  return root;
}

// What the blocks of a leaf have in common that the way to it does not say.
function leafName(app, kind, owner, group) {
  if (app.groups.kind !== kind) return app.groups.names[group];
  if (kind !== 'category' && app.hasCategories)
    return app.categoryNames[app.device.owners.category[owner]].replace('_', ' ');
  return app.device.ops[app.device.owners.op[owner]] || groupings.op.unknown;
}

function descend(node, key, fresh) {
  let child = node.inner.get(key);
  if (!child) node.inner.set(key, (child = { ...fresh, bytes: 0, count: 0 }));
  return child;
}

function finish(node, parent) {
  node.parent = parent;
  if (!node.inner) return;
  node.children = [...node.inner.values()].sort((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1));
  node.inner = null;
  for (const child of node.children) finish(child, node);
}

// A leaf opened: its blocks, the largest ones apart.
function openLeaf(app, leaf) {
  if (leaf.children) return;
  const { device } = app;
  const sorted = leaf.blocks.slice().sort((a, b) => device.blocks.size[b] - device.blocks.size[a]);
  const most = 300;
  leaf.children = sorted.slice(0, most).map((block) => ({
    name: blockName(device, block),
    bytes: device.blocks.size[block],
    count: 1,
    group: leaf.group,
    blocks: [block],
    single: true,
    parent: leaf,
  }));
  const rest = sorted.slice(most);
  if (rest.length) {
    leaf.children.push({
      name: counted(rest.length, 'smaller block'),
      bytes: rest.reduce((sum, block) => sum + device.blocks.size[block], 0),
      count: rest.length,
      group: leaf.group,
      blocks: rest,
      single: true,
      parent: leaf,
    });
  }
}
