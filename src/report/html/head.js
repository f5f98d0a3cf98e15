// What ran where, the peaks, what was assumed, and what ended the run.

function showHead(report) {
  document.title = report.title + ' · torchmem';
  const facts = element('dl', { id: 'facts' });
  for (const [name, value] of report.facts) {
    facts.append(element('dt', { textContent: name }), element('dd', { textContent: value }));
  }
  byId('head-text').replaceChildren(element('h1', { textContent: report.title }), facts);
  byId('foot').textContent = 'torchmem ' + report.version +
    '. Bytes are of blocks as the allocator counts them; KiB, MiB and GiB are powers of 1024.';
}

function tile(name, value, note, data = {}) {
  return element(
    'div', { className: 'tile', data }, element('span', { textContent: name }), element('b', { textContent: value }),
    element('small', { textContent: note }));
}

function showSummary(app) {
  const { report, device } = app;
  const made = [];
  const { peak } = report;
  if (peak && app.isMain) {
    const where = peak.phase ? 'in ' + peak.phase + (peak.iteration === undefined ? '' : ':' + peak.iteration) : '';
    made.push(tile(
      'peak allocated', bytesText(peak.allocated), countText(peak.allocated) + ' B' + (where ? ', ' + where : ''),
      { peak: peak.allocated }));
    if (peak.reserved !== undefined)
      made.push(tile('peak reserved', bytesText(peak.reserved), countText(peak.reserved) + ' B'));
    if (peak.device_bytes !== undefined) {
      made.push(tile('peak on device', bytesText(peak.device_bytes), 'with context and modules'));
    }
  } else {
    const most = app.sums.total[device.peak];
    made.push(tile('peak allocated', bytesText(most), countText(most) + ' B', { peak: most }));
  }
  made.push(tile(
    'trace', counted(device.events, 'event'),
    counted(device.blocks.count, 'block') + ', ' + counted(device.phases.length, 'phase')));
  const { fidelity } = report;
  if (fidelity) {
    const made_of = fidelity.complete ? 'nothing was assumed' : counted(fidelity.findings.length, 'finding') + ' below';
    const checked = fidelity.verified ? '' : '; profile not verified against a device';
    const box = tile('fidelity', fidelity.complete ? 'complete' : 'not complete', made_of + checked);
    box.classList.add(fidelity.complete ? 'good' : 'warn');
    made.push(box);
  }
  byId('summary').replaceChildren(...made);
}

function message(kind, title, text) {
  return element(
    'div', { className: 'message ' + kind, role: kind === 'bad' ? 'alert' : 'note' },
    element('b', { textContent: title }), element('span', { textContent: text }));
}

// "50.00 MiB asked for at serve.py:33, 7.00 MiB free on the device", of the last time.
function shortageText(ooms) {
  const { size, free, op, line } = ooms[ooms.length - 1];
  const where = (op ? ' by ' + op : '') + (line ? ' at ' + line : '');
  const text = bytesText(size) + ' asked for' + where + ', ' + bytesText(free) + ' free on the device';
  return ooms.length === 1 ? text : text + '; the last of ' + countText(ooms.length) + ' times';
}

function showMessages(app) {
  const { report, device } = app;
  const made = [];
  if (report.error) {
    const { kind, phase, iteration, message: text } = report.error;
    const where = phase ? ' in ' + phase + (iteration === undefined ? '' : ' of iteration ' + iteration) : '';
    made.push(
      message('bad', (kind === 'out_of_memory' ? 'Out of memory' : 'The run ended with an error') + where, text));
  }
  const known = report.error && report.error.kind === 'out_of_memory';
  if (device.ooms.length && !known) made.push(message('bad', 'Out of memory', shortageText(device.ooms)));
  if (report.fidelity && report.fidelity.doubt) made.push(message('bad', 'Not certain', report.fidelity.doubt));
  if (device.problem) made.push(message('bad', 'The trace cannot be shown', device.problem));
  if (device.growth) {
    const { bytes, first_iteration: first, phase, owners } = device.growth;
    const made_by = owners.map(([name, own]) => shortPlace(name) + ' ' + bytesText(own)).join(', ');
    const text = 'Each iteration from ' + first + ' on leaves ' + bytesText(bytes) + ' behind' +
      (phase ? ', most of it made in ' + phase : '') + (made_by ? ': ' + made_by : '') + '.';
    made.push(message('warn', 'Growth', text));
  }
  for (const note of device.notes) made.push(message('info', 'Note', note));
  const { fidelity } = report;
  if (fidelity && fidelity.findings.length) {
    // What is known of few findings has a column only where there is one.
    const rare = ['taken_for', 'decides', 'what'].filter((key) => fidelity.findings.some((finding) => finding[key]));
    const keys = ['kind', 'name', 'op', 'module', 'line', ...rare, 'times', 'bytes'];
    const head = element('tr', {}, ...keys.map((key) => element('th', { textContent: key.replace('_', ' ') })));
    const rows = fidelity.findings.map(
      (finding) => element(
        'tr', {},
        ...keys.map((key) => element('td', {
                      textContent: key === 'bytes' && finding.bytes ? bytesText(finding.bytes) : finding[key] || ''
                    }))),
    );
    const sum = element(
      'summary', {}, element('b', { textContent: 'Not complete: ' }),
      fidelity.findings.length === 1 ? 'one thing was assumed' :
                                       countText(fidelity.findings.length) + ' things were assumed');
    const details = element(
      'details', { className: 'message warn', open: fidelity.findings.length <= 3 }, sum,
      element('div', { className: 'scroll' }, element('table', {}, head, ...rows)));
    made.push(details);
  }
  byId('messages').replaceChildren(...made);
}
