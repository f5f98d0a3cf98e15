// Puts the page together: one chosen moment, one way of colouring, at most one chosen block.

class App {
  constructor(report) {
    this.report = report;
    this.categoryNames = report.categories;
    this.block = null;
    this.timeline = new TimelineChart(this);
    this.owners = new OwnersChart(this);
    this.segmentsChart = new SegmentsChart(this);
    this.table = new BlockTable(this);
    showHead(report);
    this.listen();
    this.openDevice(report.shown);
  }

  openDevice(index) {
    this.device = decodeDevice(this.report.devices[index], this.report.error);
    this.isMain = index === this.report.main;
    this.hasCategories = hasCategories(this.device);
    this.sums = new Sums(this.device);
    this.block = null;
    this.moment = this.device.peak;
    const known = ['module', 'op', 'line'].filter((kind) => hasOwners(this.device, kind));
    this.ownerKind = known[0] || 'category';
    this.offerGroups(known);
    this.offerMoments();
    this.offerOwners(known);
    this.regroup(this.hasCategories || !known.length ? 'category' : known.includes('op') ? 'op' : known[0]);
    this.table.open();
    this.timeline.open(this.device, this.sums);
    this.timeline.overview.paint();
    showMessages(this);
    showSummary(this);
    this.choose(this.moment, null);
  }

  regroup(kind) {
    this.groups = makeGroups(this.device, kind, this.categoryNames);
    this.sums.group(this.groups.of, GROUPS);
    this.palette = new Palette(this.groups);
    byId('group-choice').value = kind;
  }

  // Everything again, in other colours.
  repaint() {
    this.palette = new Palette(this.groups);
    this.timeline.paint();
    this.timeline.overview.paint();
    this.showMoment();
  }

  choose(moment, block) {
    this.moment = moment;
    if (block !== undefined) this.block = block;
    this.showMoment();
  }

  chooseBlock(block) {
    this.block = block;
    showDetails(this);
    this.timeline.paintOver();
    this.segmentsChart.drawOver();
    this.table.rows();
  }

  showMoment() {
    this.alive = aliveAt(this.device, this.moment);
    this.segments = segmentsAt(this.device, this.moment, this.alive);
    const stretch = this.moment && this.device.stretches.length ? ', in ' + whenText(this.device, this.moment - 1) : '';
    const reserved = this.segments.reduce((sum, segment) => sum + segment.size, 0);
    byId('moment-text').replaceChildren(
      element('b', { textContent: bytesText(this.sums.total[this.moment]) }), ' allocated, ',
      element('b', { textContent: bytesText(reserved) }),
      ' reserved, after ' + countText(this.moment) + ' of ' + counted(this.device.events, 'event') + stretch,
    );
    const choice = byId('moment-choice');
    const named = [...choice.options].findIndex((option) => Number(option.value) === this.moment);
    if (Number(choice.value) !== this.moment || choice.selectedIndex < 0) choice.selectedIndex = Math.max(0, named);
    showLegend(this);
    showDetails(this);
    this.owners.open(this.alive);
    this.segmentsChart.open(this.segments);
    this.table.refresh();
    this.timeline.paintOver();
    this.timeline.overview.paintOver();
    document.body.dataset.moment = this.moment;
    document.body.dataset.allocated = this.sums.total[this.moment];
  }

  categoryOf(block) {
    return this.categoryNames[this.device.owners.category[this.device.blocks.owner[block]]].replace('_', ' ');
  }

  ownerOf(column, block) {
    return this.device.owners[column][this.device.blocks.owner[block]];
  }

  offerMoments() {
    const { device } = this;
    const choice = byId('moment-choice');
    const moments = [
      ['chosen on the timeline', -1],
      ['peak of allocated', device.peak],
      ['peak of reserved', device.reserved_peak],
      ['end', device.events],
    ];
    for (const stretch of device.stretches) {
      if (stretch.isPhase) moments.push(['end of ' + stretch.label, stretch.to]);
    }
    choice.replaceChildren(...moments.slice(0, 1000).map(([title, moment]) => new Option(title, moment)));
    choice.options[0].disabled = true;
    choice.onchange = () => this.choose(Number(choice.value));
  }

  offerGroups(known) {
    const kinds = ['category', ...['op', 'module', 'line'].filter((kind) => known.includes(kind))];
    const choice = byId('group-choice');
    choice.replaceChildren(...kinds.map((kind) => new Option(groupings[kind].title, kind)));
    choice.onchange = () => {
      this.regroup(choice.value);
      this.repaint();
    };
  }

  offerOwners(known) {
    const kinds = [...known, 'category'];
    byId('owner-tabs').replaceChildren(
      ...kinds.map((kind) => {
        const textContent = 'by ' + groupings[kind].title;
        const tab = element('button', { type: 'button', textContent, role: 'tab', data: { kind } });
        tab.onclick = () => {
          this.ownerKind = kind;
          this.owners.restart();
          this.owners.open(this.alive);
          this.markOwners();
        };
        return tab;
      }),
    );
    this.markOwners();
  }

  markOwners() {
    for (const tab of byId('owner-tabs').children) {
      tab.setAttribute('aria-selected', tab.dataset.kind === this.ownerKind);
    }
  }

  offerDevices() {
    const { devices, shown } = this.report;
    byId('device-field').hidden = devices.length < 2;
    const choice = byId('device-choice');
    choice.replaceChildren(...devices.map((device, i) => new Option('device ' + device.device, i)));
    choice.value = shown;
    choice.onchange = () => {
      this.owners.restart();
      this.openDevice(Number(choice.value));
    };
  }

  listen() {
    this.offerDevices();
    const dark = window.matchMedia('(prefers-color-scheme: dark)');
    const root = document.documentElement;
    const button = byId('theme');
    const wear = (isDark) => {
      root.dataset.theme = isDark ? 'dark' : 'light';
      button.textContent = isDark ? 'Light' : 'Dark';
      if (this.device) this.repaint();
    };
    button.onclick = () => wear(root.dataset.theme === 'light');
    dark.addEventListener('change', () => wear(dark.matches));
    wear(dark.matches);
    let width = window.innerWidth;
    new ResizeObserver(
      inFrame(() => {
        if (window.innerWidth === width) return;
        width = window.innerWidth;
        this.timeline.draw();
        this.timeline.overview.draw();
        this.owners.draw();
        this.segmentsChart.draw();
        this.table.rows();
      }),
    ).observe(document.body);
    document.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.chooseBlock(null);
    });
  }
}

new App(JSON.parse(byId('data').textContent));
// Once the first frame with the charts in it is out: that is the first picture.
requestAnimationFrame(() => requestAnimationFrame(() => performance.mark('first picture')));
