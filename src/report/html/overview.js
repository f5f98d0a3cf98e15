// The whole run in small, with the part that the timeline shows; dragging moves it.
class OverviewChart {
  constructor(app, timeline) {
    this.app = app;
    this.timeline = timeline;
    this.parent = byId('overview');
    this.base = new Surface(this.parent);
    this.over = new Surface(this.parent);
    this.paint = inFrame(() => this.draw());
    this.paintOver = inFrame(() => this.drawOver());
    this.listen();
  }

  width() {
    return this.parent.clientWidth - LEFT - RIGHT;
  }

  draw() {
    const height = this.parent.clientHeight;
    const context = this.base.start(this.parent.clientWidth, height);
    const { sums } = this.timeline;
    const { palette } = this.app;
    const width = this.width();
    if (width < 20) return;
    const columns = new Columns(sums, new View(sums.total.length), Math.round(width * this.base.scale));
    const most = columns.most.reduce((a, b) => Math.max(a, b), 1);
    const y = (value) => Math.round((height - (value / most) * (height - 3)) * this.base.scale) / this.base.scale;
    drawStack(context, columns, sums.groups, palette.fills, LEFT, width, y);
    this.drawOver();
  }

  drawOver() {
    const height = this.parent.clientHeight;
    const context = this.over.start(this.parent.clientWidth, height);
    const { view } = this.timeline;
    if (!view) return;
    const { palette } = this.app;
    const width = this.width();
    const left = LEFT + (view.from / view.moments) * width;
    const right = LEFT + (view.to / view.moments) * width;
    context.fillStyle = palette.surface;
    context.globalAlpha = 0.65;
    context.fillRect(LEFT, 0, left - LEFT, height);
    context.fillRect(right, 0, LEFT + width - right, height);
    context.globalAlpha = 1;
    context.strokeStyle = palette.accent;
    context.lineWidth = 1;
    const least = Math.max(2, right - left);
    context.strokeRect(left + 0.5, 0.5, least - 1, height - 1);
    context.fillStyle = palette.accent;
    context.fillRect(LEFT + ((this.app.moment + 0.5) / view.moments) * width - 1, 0, 2, height);
  }

  listen() {
    let held = false;
    const centre = (event) => {
      const { view } = this.timeline;
      const x = event.clientX - this.parent.getBoundingClientRect().left - LEFT;
      view.pan((x / this.width()) * view.moments - (view.from + view.to) / 2);
      this.timeline.viewChanged();
    };
    this.parent.addEventListener('pointerdown', (event) => {
      held = true;
      this.parent.setPointerCapture(event.pointerId);
      centre(event);
    });
    this.parent.addEventListener('pointermove', (event) => {
      if (held) centre(event);
    });
    const release = () => (held = false);
    this.parent.addEventListener('pointerup', release);
    this.parent.addEventListener('pointercancel', release);
    this.parent.addEventListener('dblclick', () => this.timeline.reset());
  }
}
