// The table of blocks: filtered, sorted, and only as many rows made as can be seen.

const ROW = 22;

const tableColumns = [
  { key: 'name', title: 'name', text: (app, block) => blockName(app.device, block) },
  {
    key: 'category',
    title: 'category',
    text: (app, block) => app.categoryOf(block),
    wanted: (app) => app.hasCategories
  },
  {
    key: 'op',
    title: 'op',
    text: (app, block) => app.device.ops[app.ownerOf('op', block)],
    wanted: (app) => hasOwners(app.device, 'op')
  },
  {
    key: 'module',
    title: 'module',
    text: (app, block) => app.device.modules[app.ownerOf('module', block)],
    wanted: (app) => hasOwners(app.device, 'module')
  },
  {
    key: 'line',
    title: 'line',
    text: (app, block) => app.device.lines[app.ownerOf('line', block)],
    wanted: (app) => hasOwners(app.device, 'line')
  },
  {
    key: 'bytes',
    title: 'bytes',
    text: (app, block) => bytesText(app.device.blocks.size[block]),
    number: (app, block) => app.device.blocks.size[block]
  },
  {
    key: 'born',
    title: 'born',
    text: (app, block) => bornText(app.device, block),
    number: (app, block) => app.device.blocks.born[block]
  },
  {
    key: 'until',
    title: 'until',
    text: (app, block) => freedText(app.device, block),
    number: (app, block) => app.device.blocks.freed[block]
  },
];

class BlockTable {
  constructor(app) {
    this.app = app;
    this.parent = byId('table');
    this.sort = { key: 'bytes', down: true };
    this.head = element('div', { className: 'table-head', role: 'row' });
    this.space = element('div', { className: 'table-space' });
    this.parent.append(this.head, this.space);
    this.parent.addEventListener('scroll', inFrame(() => this.rows()));
    byId('filter').addEventListener('input', inFrame(() => this.refresh()));
    byId('category-choice').onchange = () => this.refresh();
    byId('alive-only').onchange = () => this.refresh();
  }

  // For a new device.
  open() {
    this.columns = tableColumns.filter((column) => !column.wanted || column.wanted(this.app));
    this.parent.style.setProperty('--columns', this.columns.map((column) => 'var(--w-' + column.key + ')').join(' '));
    const choice = byId('category-choice');
    choice.replaceChildren(new Option('all categories', ''));
    this.app.categoryNames.forEach((name, i) => choice.append(new Option(name.replace('_', ' '), i)));
    choice.hidden = !this.app.hasCategories;
    this.head.replaceChildren(
      ...this.columns.map((column) => {
        const button = element('button', { type: 'button', textContent: column.title, data: { column: column.key } });
        button.onclick = () => {
          const again = this.sort.key === column.key;
          this.sort = { key: column.key, down: again ? !this.sort.down : Boolean(column.number) };
          this.refresh();
        };
        return button;
      }),
    );
  }

  // Of each owner, whether it passes the text and the category; of an owner, since there are far fewer.
  ownersThatPass() {
    const { device } = this.app;
    const words = byId('filter').value.toLowerCase().split(/\s+/).filter(Boolean);
    const category = byId('category-choice').value;
    const { owners } = device;
    return Uint8Array.from(owners.category, (own, i) => {
      if (category !== '' && own !== Number(category)) return 0;
      if (!words.length) return 1;
      const text = [
        device.names[owners.name[i]],
        device.types[owners.type[i]],
        device.ops[owners.op[i]],
        device.modules[owners.module[i]],
        device.lines[owners.line[i]],
        this.app.hasCategories ? this.app.categoryNames[own] : '',
      ].join('\n').toLowerCase();
      return words.every((word) => text.includes(word)) ? 1 : 0;
    });
  }

  refresh() {
    const { app } = this;
    const { blocks } = app.device;
    const passes = this.ownersThatPass();
    let from = app.alive;
    if (!byId('alive-only').checked) from = Array.from({ length: blocks.count }, (_, i) => i);
    this.shown = from.filter((block) => passes[blocks.owner[block]]);
    this.order();
    let bytes = 0;
    for (const block of this.shown) bytes += blocks.size[block];
    byId('table-text').textContent =
      counted(this.shown.length, 'block') + (byId('alive-only').checked ? ', ' + bytesText(bytes) : '');
    Object.assign(this.parent.dataset, { rows: this.shown.length, bytes });
    for (const button of this.head.children) {
      const sorted = button.dataset.column === this.sort.key;
      button.setAttribute('aria-sort', sorted ? (this.sort.down ? 'descending' : 'ascending') : 'none');
    }
    this.space.style.height = this.shown.length * ROW + 'px';
    this.parent.scrollTop = 0;
    this.rows();
  }

  order() {
    const column = this.columns.find((other) => other.key === this.sort.key) ||
      this.columns.find((other) => other.key === 'bytes');
    const sign = this.sort.down ? -1 : 1;
    if (column.number) {
      this.shown.sort((a, b) => sign * (column.number(this.app, a) - column.number(this.app, b)) || a - b);
      return;
    }
    const texts = new Map(this.shown.map((block) => [block, column.text(this.app, block)]));
    const compare = (x, y) => (x < y ? -1 : x > y ? 1 : 0);
    this.shown.sort((a, b) => sign * compare(texts.get(a), texts.get(b)) || a - b);
  }

  rows() {
    const first = Math.max(0, Math.floor(this.parent.scrollTop / ROW) - 4);
    const last = Math.min(this.shown.length, first + Math.ceil(this.parent.clientHeight / ROW) + 8);
    const made = [];
    for (let i = first; i < last; ++i) made.push(this.row(this.shown[i], i));
    this.space.replaceChildren(...made);
  }

  row(block, i) {
    const cells = this.columns.map((column) => {
      const text = column.text(this.app, block);
      const cell = element('span', {
        textContent: column.key === 'line' ? shortPlace(text) : text,
        title: text,
        className: 'cell-' + column.key
      });
      if (column.key === 'name') cell.prepend(swatch(this.app, this.app.sums.groupOf[block]));
      return cell;
    });
    const row = element(
      'div', { className: 'table-row' + (block === this.app.block ? ' chosen' : ''), data: { block } }, ...cells);
    row.style.top = i * ROW + 'px';
    row.onclick = () => this.app.chooseBlock(block);
    return row;
  }
}
