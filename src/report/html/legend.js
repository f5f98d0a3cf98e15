// What is allocated at the chosen moment, by group: the legend of all colours on the page.

function showLegend(app) {
  const { device, sums, groups, moment } = app;
  const bytes = new Float64Array(GROUPS);
  sums.at(moment, bytes);
  const total = sums.total[moment];
  const most = Math.max(1, ...bytes);
  const table = element('table', {});
  groups.names.forEach((name, group) => {
    if (!name || (!bytes[group] && groups.kind !== 'category')) return;
    if (groups.kind === 'category' && !app.hasCategories && group !== CATEGORY_OTHER) return;
    const bar = element('i', { className: 'bar' });
    paintSwatch(bar, app, group);
    bar.style.width = (100 * bytes[group]) / most + '%';
    const row = element(
      'tr',
      { data: { group, bytes: bytes[group] }, className: bytes[group] ? '' : 'none', title: exactText(bytes[group]) },
      element('td', {}, swatch(app, group)),
      element(
        'td', { className: 'legend-name' }, element('span', { textContent: name, title: name }),
        element('span', { className: 'bar-room' }, bar)),
      element('td', { textContent: bytesText(bytes[group]) }),
      element('td', { textContent: percentText(bytes[group], total) }),
    );
    table.append(row);
  });
  const requested = app.alive.reduce((sum, block) => sum + device.blocks.requested[block], 0);
  const reserved = app.segments.reduce((sum, segment) => sum + segment.size, 0);
  const active = app.segments.reduce((sum, segment) => sum + segment.active, 0);
  const facts = [
    ['allocated', total],
    ['of it rounding', total - requested],
    ['reserved', reserved],
    ['of it free', reserved - active],
  ];
  if (active !== total) facts.push(['freed, in use by a stream', active - total]);
  const totals = element('table', { className: 'totals' });
  for (const [name, value] of facts) {
    totals.append(
      element(
        'tr', { data: { total: name, bytes: value } }, element('td', { textContent: name }),
        element('td', { textContent: bytesText(value) }), element('td', { textContent: countText(value) })),
    );
  }
  byId('legend').replaceChildren(table, totals);
}
