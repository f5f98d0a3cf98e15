// The box at the pointer, and the box with everything about one block.

function rowsOf(pairs) {
  const list = element('dl');
  for (const [name, value] of pairs) {
    if (value === '' || value === null || value === undefined) continue;
    list.append(element('dt', { textContent: name }), element('dd', {}, value));
  }
  return list;
}

function swatch(app, group) {
  const made = element('i', { className: 'swatch' });
  paintSwatch(made, app, group);
  return made;
}

function paintSwatch(made, app, group) {
  const colour = app.palette.groups[group];
  const striped = app.groups.striped === group;
  made.style.background = striped
    ? `repeating-linear-gradient(135deg, ${colour} 0 2px, ${app.palette.surface} 2px 4px)`
    : colour;
}

function placeTip(tip, event) {
  const { offsetWidth: width, offsetHeight: height } = tip;
  const right = event.clientX + 16 + width < window.innerWidth;
  const x = right ? event.clientX + 14 : Math.max(4, event.clientX - width - 14);
  const y = Math.min(Math.max(4, event.clientY + 14), Math.max(4, window.innerHeight - height - 6));
  tip.style.left = x + 'px';
  tip.style.top = y + 'px';
}

function showTip(event, content) {
  const tip = byId('tip');
  tip.replaceChildren(content);
  tip.hidden = false;
  placeTip(tip, event);
}

function hideTip() {
  byId('tip').hidden = true;
}

// What is known of a block, without what is not.
function blockFacts(app, block) {
  const { device } = app;
  const { blocks, owners } = device;
  const owner = blocks.owner[block];
  const rounding = blocks.size[block] - blocks.requested[block];
  return [
    [
      'bytes',
      exactText(blocks.size[block]) + (rounding > 0 ? ', ' + bytesText(rounding) + ' more than asked for' : '')
    ],
    ['tensor', device.types[owners.type[owner]]],
    ['category', app.hasCategories ? app.categoryNames[owners.category[owner]].replace('_', ' ') : ''],
    ['op', device.ops[owners.op[owner]]],
    ['module', moduleText(device, owners.module[owner])],
    ['line', device.lines[owners.line[owner]]],
    ['lives', bornText(device, block) + ' to ' + freedText(device, block)],
  ];
}

function moduleText(device, module) {
  const path = device.modules[module];
  const type = device.module_types[module];
  if (!path) return type ? '(root) ' + type : '';
  return type ? path + ' (' + type + ')' : path;
}

function blockTip(app, block) {
  const head = element('b', {}, swatch(app, app.sums.groupOf[block]), blockName(app.device, block));
  return element(
    'div', {}, head,
    rowsOf(blockFacts(app, block).map(([name, value]) => [name, name === 'line' ? shortPlace(value) : value])));
}

// The moment's sum, the block under the pointer, and the largest owners then.
function timelineTip(app, found) {
  const { device, sums } = app;
  const { moment, block, alive } = found;
  const made = element('div', {});
  const when = moment ? whenText(device, moment - 1) : 'start';
  made.append(
    element(
      'div', { className: 'tip-moment' },
      bytesText(sums.total[moment]) + ' allocated, after ' + counted(moment, 'event') +
        (device.stretches.length ? ', ' + when : '')),
  );
  if (block !== null) made.append(blockTip(app, block));
  const largest = largestOwners(app, alive);
  if (largest.length) {
    const list = element('table', { className: 'tip-owners' });
    for (const [name, group, bytes] of largest) {
      list.append(
        element(
          'tr', {}, element('td', {}, swatch(app, group)), element('td', { textContent: name }),
          element('td', { textContent: bytesText(bytes) })),
      );
    }
    made.append(
      element('div', { className: 'tip-head', textContent: 'Largest owners of ' + counted(alive.length, 'block') }),
      list);
  }
  return made;
}

// The four modules (else ops) with the most bytes, each group of colour apart: [name, group, bytes].
function largestOwners(app, alive) {
  const { device, sums } = app;
  const kind = app.ownerKind === 'category' ? 'op' : app.ownerKind;
  const { column, names, unknown } = groupings[kind];
  const bytes = new Map();
  for (const block of alive) {
    const key = device.owners[column][device.blocks.owner[block]] * GROUPS + sums.groupOf[block];
    bytes.set(key, (bytes.get(key) || 0) + device.blocks.size[block]);
  }
  const sorted = [...bytes].sort((a, b) => b[1] - a[1]).slice(0, 4);
  return sorted.map(([key, sum]) => {
    const group = key % GROUPS;
    const name = device[names][(key - group) / GROUPS] || unknown;
    const of = app.groups.kind === 'category' && app.hasCategories ? ', ' + app.groups.names[group] : '';
    return [(kind === 'line' ? shortPlace(name) : name) + of, group, sum];
  });
}

function stretchTip(stretch) {
  const facts = [['events', countText(stretch.from) + ' to ' + countText(stretch.to)]];
  for (const [key, name] of [['allocated', 'allocated'], ['reserved', 'reserved']]) {
    const usage = stretch[key];
    if (usage) facts.push([name, bytesText(usage.current) + ' at its end, ' + bytesText(usage.peak) + ' at most']);
  }
  if (stretch.duration_ms) facts.push(['time', stretch.duration_ms.toFixed(1) + ' ms']);
  if (stretch.failed) facts.push(['ended', 'by an error']);
  else if (stretch.isPhase === false) facts.push(['', 'after the last phase']);
  return element('div', {}, element('b', { textContent: stretch.label }), rowsOf(facts));
}

// Everything about the chosen block, at the edge of the window.
function showDetails(app) {
  const box = byId('details');
  box.hidden = app.block === null;
  if (box.hidden) return;
  const { device, block } = app;
  const close = element('button', { type: 'button', textContent: '×', title: 'Close (Esc)' });
  close.onclick = () => app.chooseBlock(null);
  const facts = blockFacts(app, block);
  facts.push(['address', addressText(device.blocks.address[block])]);
  const { born, freed } = device.blocks;
  facts.push([
    'events',
    (born[block] === OLDER ? 'before the trace' : countText(born[block])) + ' to ' +
      (freed[block] === NEVER ? 'the end' : countText(freed[block]))
  ]);
  const stack = element('ol', {});
  for (const frame of stackOf(device, block)) {
    const where = frame.where === '<op>' || frame.where === '<module>' ? '' : shortPlace(frame.where);
    stack.append(element('li', { title: frame.where }, frame.name, element('span', { textContent: where })));
  }
  box.replaceChildren(
    element('header', {}, element('b', {}, swatch(app, app.sums.groupOf[block]), blockName(device, block)), close),
    rowsOf(facts),
    stack.childElementCount ? element('h3', { textContent: 'Allocated in, innermost first' }) : '',
    stack,
  );
}
