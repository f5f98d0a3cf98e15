// What mouse and keys do on the timeline.

function listenToTimeline(chart) {
  const place = (event) => {
    const box = chart.parent.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  chart.parent.addEventListener('pointermove', (event) => {
    const [x, y] = place(event);
    if (chart.drag) {
      chart.drag.now = x;
      chart.drag.moved ||= Math.abs(x - chart.drag.x) > 4;
      chart.hover = null;
      hideTip();
    } else {
      chart.hover = chart.find(x, y);
      const stretch = y < BANDS ? chart.stretchAt(x, y) : null;
      if (chart.hover) showTip(event, timelineTip(chart.app, chart.hover));
      else if (stretch) showTip(event, stretchTip(stretch));
      else hideTip();
    }
    chart.paintOver();
  });
  chart.parent.addEventListener('pointerleave', () => {
    if (chart.drag) return;
    chart.hover = null;
    hideTip();
    chart.paintOver();
  });
  chart.parent.addEventListener('pointerdown', (event) => {
    const [x, y] = place(event);
    if (event.button !== 0 || x < LEFT) return;
    chart.drag = { x, y, now: x, moved: false };
    chart.parent.setPointerCapture(event.pointerId);
  });
  chart.parent.addEventListener('pointerup', (event) => {
    if (!chart.drag) return;
    const { x, y, now, moved } = chart.drag;
    chart.drag = null;
    if (moved) {
      chart.view.set(chart.momentOf(Math.min(x, now)), chart.momentOf(Math.max(x, now)));
      chart.viewChanged();
    } else if (y < BANDS) {
      const stretch = chart.stretchAt(x, y);
      if (stretch) chart.view.set(stretch.from, stretch.to + 1);
      chart.viewChanged();
    } else {
      const found = chart.find(...place(event));
      if (found) chart.app.choose(found.moment, found.block);
    }
    chart.paintOver();
  });
  chart.parent.addEventListener('pointercancel', () => {
    chart.drag = null;
    chart.paintOver();
  });
  chart.parent.addEventListener('dblclick', () => chart.reset());
  chart.parent.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault();
      const lines = event.deltaMode === 1 ? 16 : 1;
      const span = chart.view.to - chart.view.from;
      const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (sideways) chart.view.pan(((event.deltaX || event.deltaY) * lines * span) / 1000);
      else chart.view.zoom(1.0016 ** (event.deltaY * lines), chart.momentOf(place(event)[0]));
      chart.viewChanged();
    },
    { passive: false },
  );
  chart.parent.addEventListener('keydown', (event) => {
    const steps = {
      ArrowLeft: 'pan-left',
      ArrowRight: 'pan-right',
      '+': 'zoom-in',
      '=': 'zoom-in',
      '-': 'zoom-out',
      0: 'zoom-reset'
    };
    const id = steps[event.key];
    if (!id || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    byId(id).click();
  });
  const zoom = (factor) => () => {
    chart.view.zoom(factor, (chart.view.from + chart.view.to) / 2);
    chart.viewChanged();
  };
  const pan = (share) => () => {
    chart.view.pan((chart.view.to - chart.view.from) * share);
    chart.viewChanged();
  };
  byId('zoom-in').onclick = zoom(0.5);
  byId('zoom-out').onclick = zoom(2);
  byId('pan-left').onclick = pan(-0.25);
  byId('pan-right').onclick = pan(0.25);
  byId('zoom-reset').onclick = () => chart.reset();
  byId('show-reserved').onchange = byId('fit-height').onchange = chart.paint;
}
