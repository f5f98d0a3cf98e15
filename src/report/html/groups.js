// How blocks are divided into at most ten coloured groups: by category, or the largest ops, modules or lines.

const GROUPS = 10;

const groupings = {
  category: { title: 'category' },
  op: { title: 'op', column: 'op', names: 'ops', unknown: 'op not known' },
  module: { title: 'module', column: 'module', names: 'modules', unknown: 'root, or module not known' },
  line: { title: 'source line', column: 'line', names: 'lines', unknown: 'line not known' },
};

// Whether anybody said whose the blocks are, if there are any. A snapshot of PyTorch's own says nothing of it.
function hasCategories(device) {
  return !device.owners.category.length || device.owners.category.some((category) => category !== CATEGORY_OTHER);
}

function hasOwners(device, kind) {
  return device.owners[groupings[kind].column].some((index) => index !== 0);
}

// At the peak; a Map.
function bytesByName(device, column, names) {
  const bytes = new Map();
  for (const block of aliveAt(device, device.peak)) {
    const name = names[device.owners[column][device.blocks.owner[block]]];
    bytes.set(name, (bytes.get(name) || 0) + device.blocks.size[block]);
  }
  return bytes;
}

// The modules' paths cut at the depth at which there are the most of them that still have a colour each.
function cutModules(device) {
  const cut = (depth) => device.modules.map((path) => path.split('.').slice(0, depth).join('.'));
  const deepest = Math.max(...device.modules.map((path) => path.split('.').length));
  let best = cut(1);
  for (let depth = 2; depth <= deepest; ++depth) {
    const names = cut(depth);
    if (bytesByName(device, 'module', names).size > GROUPS - 1) break; // one of them is the root
    best = names;
  }
  return best;
}

// {names, colours, striped (index or -1), of (each owner's group)}, the groups in the order in which they are stacked.
// The colours are style.css's: --c0 to --c9 for the categories, --g0 to --g7 for the largest of anything else.
function makeGroups(device, kind, categoryNames) {
  const owners = device.owners.category.length;
  const of = new Uint8Array(owners);
  if (kind === 'category') {
    of.set(device.owners.category);
    const colours = categoryNames.map((_, i) => '--c' + i);
    const known = hasCategories(device);
    if (!known) colours[CATEGORY_OTHER] = '--plain';
    const names = categoryNames.map((name) => name.replace('_', ' '));
    if (!known) names[CATEGORY_OTHER] = 'category not recorded';
    return { kind, names, colours, striped: known ? CATEGORY_OTHER : -1, of };
  }
  const { column, unknown } = groupings[kind];
  const names = kind === 'module' ? cutModules(device) : device[groupings[kind].names];
  const bytes = bytesByName(device, column, names);
  const shown = [...bytes.keys()].filter(Boolean).sort((a, b) => bytes.get(b) - bytes.get(a)).slice(0, GROUPS - 2);
  const groupOf = new Map(shown.map((name, i) => [name, i]));
  const rest = GROUPS - 2;
  const nobody = GROUPS - 1;
  for (let i = 0; i < owners; ++i) {
    const name = names[device.owners[column][i]];
    of[i] = name === '' ? nobody : groupOf.get(name) ?? rest;
  }
  const titles = shown.map((name) => (kind === 'line' ? shortPlace(name) : name));
  while (titles.length < rest) titles.push('');
  const colours = titles.map((_, i) => '--g' + i);
  return {
    kind,
    names: [...titles, 'all others', unknown],
    colours: [...colours, '--rest', '--unknown'],
    striped: -1,
    of,
  };
}
