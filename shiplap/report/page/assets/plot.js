// Points and curves over two axes.

/** More points than this are drawn as one path instead of one element each. */
const mostElements = 3000;
/** A curve of more points than this is drawn without a mark on each. */
const mostMarks = 60;
/** The pointer finds a point within this distance, in px. */
const reachOfPointer = 40;
/** Points farther outside of the plot than this, in px, are not looked for. */
const farthest = 1e6;
/** The smallest part of everything that a zoom shows. */
const deepestZoom = 1e-5;

class PlotChart {
  constructor(figure, data) {
    this.data = data;
    this.frame = new Frame(figure, `${data.title}. Arrow keys go through the points, plus and minus zoom, 0 resets.`);
    const isLog = (axis) => data[axis].log || isWide(data[axis], data.series.flatMap((series) => series[axis]));
    this.logarithmic = { x: isLog("x"), y: isLog("y") };
    this.zoomed = null;
    this.cursor = null;
    this.series = data.series.map((series, number) => ({
      name: series.name, isLine: series.line, colour: colourOf(series.thing, number), dashes: series.dashes, shown: true,
      points: series.x.map((x, i) => ({
        x, y: series.y[i],
        low: series.low ? series.low[i] : null, high: series.high ? series.high[i] : null,
        label: series.labels ? series.labels[i] : "",
      })),
    }));
    this.addTools();
    this.addLegend();
  }

  addTools() {
    const tools = this.frame.tools;
    for (const axis of ["x", "y"])
      tools.append(toggle(`log ${axis}`, `logarithmic ${axis} axis of ${this.data.title}`, this.logarithmic[axis], (pressed) => {
        this.logarithmic[axis] = pressed;
        this.zoomed = null;
        this.draw();
      }));
    tools.append(button("+", `zoom into ${this.data.title}`, () => this.zoom(0.5)), button("−", `zoom out of ${this.data.title}`, () => this.zoom(2)),
                 button("reset", `reset ${this.data.title}`, () => this.reset()));
  }

  addLegend() {
    for (const series of this.series) {
      const entry = toggle("", "", true, (pressed) => {
        series.shown = pressed;
        this.cursor = null;
        this.draw();
      });
      const swatch = d3.create("svg").attr("class", "swatch");
      if (series.isLine)
        swatch.append("line").attr("class", "curve").attr("stroke", series.colour)
          .attr("stroke-dasharray", series.dashes || null).attr("x2", 26).attr("y1", 6).attr("y2", 6);
      else swatch.append("circle").attr("fill", series.colour).attr("r", 5).attr("cx", 13).attr("cy", 6);
      entry.append(swatch.node(), series.name);
      this.frame.legend.append(entry);
    }
  }

  /** The shown points that the axes can hold. */
  visible() {
    const fits = (value, logarithmic) => Number.isFinite(value) && (!logarithmic || value > 0);
    return this.series.filter((series) => series.shown).map((series) => ({
      series,
      points: series.points.filter((p) => fits(p.x, this.logarithmic.x) && fits(p.y, this.logarithmic.y)),
    }));
  }

  /** Domains that hold every shown point, interval and limit. */
  allDomains(visible = this.visible()) {
    const all = visible.flatMap(({ points }) => points);
    const ys = all.map((p) => p.y);
    const ends = all.flatMap((p) => [p.low, p.high]).filter((end) => end !== null);
    const limits = this.data.limits.map((limit) => limit.y);
    const x = domainOf(all.map((p) => p.x), this.logarithmic.x);
    const y = domainOf([...ys, ...ends, ...limits], this.logarithmic.y);
    if (!this.data.diagonal) return { x, y };
    const both = [Math.min(x[0], y[0]), Math.max(x[1], y[1])];
    return { x: both, y: both };
  }

  draw() {
    const frame = this.frame;
    frame.hide();
    const narrow = frame.drawing.clientWidth < 560;
    const svg = frame.begin(narrow ? 300 : 380);
    this.box = { left: 68, top: 24, width: frame.width - 84, height: frame.height - 72 };
    const visible = this.visible();
    const domains = this.zoomed || this.allDomains(visible);
    this.x = scaleOf(this.data.x, this.logarithmic.x, domains.x, [this.box.left, this.box.left + this.box.width]);
    this.y = scaleOf(this.data.y, this.logarithmic.y, domains.y, [this.box.top + this.box.height, this.box.top]);
    drawAxes(svg, this.box, this.x, this.y, this.data, this.logarithmic);
    this.content = this.clipped(svg);
    this.drawLines();
    for (const { series, points } of visible) this.drawSeries(series, points);
    this.drawPoints(visible);
    this.listen(svg, visible);
    frame.figure.dataset.drawn = String(d3.sum(visible, ({ points }) => points.length));
  }

  /** A group that ends at the edges of the plot. */
  clipped(svg) {
    const name = `clip-${this.frame.figure.id}`;
    svg.append("clipPath").attr("id", name).append("rect")
      .attr("x", this.box.left).attr("y", this.box.top - 2).attr("width", this.box.width + 2).attr("height", this.box.height + 4);
    return svg.append("g").attr("clip-path", `url(#${name})`);
  }

  drawLines() {
    const [left, right] = this.x.range();
    if (this.data.diagonal) {
      const [low, high] = this.x.domain();
      this.content.append("line").attr("class", "diagonal").attr("x1", this.x(low)).attr("y1", this.y(low))
        .attr("x2", this.x(high)).attr("y2", this.y(high));
    }
    for (const limit of this.data.limits) {
      if (this.logarithmic.y && limit.y <= 0) continue;
      const y = this.y(limit.y);
      this.content.append("line").attr("class", "limit").attr("x1", left).attr("x2", right).attr("y1", y).attr("y2", y);
      const value = formatValue(limit.y, this.data.y.unit);
      const name = this.content.append("text").attr("class", "limit-name").attr("x", left + 8).attr("y", y > this.box.top + 14 ? y - 5 : y + 14)
        .text(`${limit.name}: ${value}`);
      if (name.node().getComputedTextLength() > right - left - 8) name.text(value).append("title").text(limit.name);
    }
  }

  drawSeries(series, points) {
    const ranged = points.filter((p) => p.low !== null && p.high !== null && (!this.logarithmic.y || p.low > 0));
    if (!series.isLine) {
      if (points.length > mostElements) return;
      this.content.append("g").selectAll("line").data(ranged).enter().append("line").attr("stroke", series.colour)
        .attr("opacity", 0.5).attr("x1", (p) => this.x(p.x)).attr("x2", (p) => this.x(p.x))
        .attr("y1", (p) => this.y(p.low)).attr("y2", (p) => this.y(p.high));
      return;
    }
    if (ranged.length > 1)
      this.content.append("path").datum(ranged).attr("class", "band").attr("fill", series.colour)
        .attr("d", d3.area().x((p) => this.x(p.x)).y0((p) => this.y(p.low)).y1((p) => this.y(p.high)));
    this.content.append("path").datum(this.thinned(points)).attr("class", "curve").attr("stroke", series.colour)
      .attr("stroke-dasharray", series.dashes || null).attr("d", d3.line().x((p) => this.x(p.x)).y((p) => this.y(p.y)));
  }

  /** The points of a curve; where there are many, the lowest and the highest of every half px. */
  thinned(points) {
    if (points.length <= mostElements) return points;
    const kept = [];
    let column = null;
    let low = null;
    let high = null;
    const flush = () => {
      if (low !== null) kept.push(...(low === high ? [low] : low.x <= high.x ? [low, high] : [high, low]));
    };
    for (const point of points) {
      const at = Math.round(this.x(point.x) * 2);
      if (at !== column) {
        flush();
        column = at;
        low = high = point;
      }
      if (point.y < low.y) low = point;
      if (point.y > high.y) high = point;
    }
    flush();
    return kept;
  }

  drawPoints(visible) {
    const count = d3.sum(visible, ({ points }) => points.length);
    if (count > mostElements) {
      this.drawDots(visible.filter(({ series }) => !series.isLine));
      return;
    }
    for (const { series, points } of visible)
      if (!series.isLine || points.length <= mostMarks)
        this.content.append("g").selectAll("circle").data(points).enter().append("circle").attr("class", "point")
          .attr("fill", series.colour).attr("r", series.isLine ? 2.6 : 3.2).attr("fill-opacity", series.isLine ? 1 : 0.65)
          .attr("cx", (p) => this.x(p.x)).attr("cy", (p) => this.y(p.y));
  }

  /** All points of a series as one path of dots. */
  drawDots(visible) {
    for (const { series, points } of visible)
      this.content.append("path").attr("class", "dots").attr("stroke", series.colour)
        .attr("d", points.map((p) => `M${this.x(p.x).toFixed(1)} ${this.y(p.y).toFixed(1)}h0`).join(""));
  }

  listen(svg, visible) {
    const places = visible.flatMap(({ series, points }) => points.map((point) => ({ series, point })));
    // Without curves, keys go through all points from left to right.
    this.places = visible.some(({ series }) => series.isLine) ? places : [...places].sort((a, b) => a.point.x - b.point.x);
    const isInside = ({ point }) => Math.abs(this.x(point.x)) < farthest && Math.abs(this.y(point.y)) < farthest;
    const tree = d3.quadtree(places.filter(isInside), ({ point }) => this.x(point.x), ({ point }) => this.y(point.y));
    const showNearest = (event) => {
      const found = tree.find(...this.frame.pointer(event), reachOfPointer);
      if (found) this.point(found, false);
      else this.frame.hide();
    };
    let from = null;
    let selection = null;
    onEvents(svg, {
      pointermove: (event) => {
        const [x, y] = this.frame.pointer(event);
        if (from !== null) {
          selection = selection || this.content.append("rect").attr("class", "selection");
          selection.attr("x", Math.min(x, from[0])).attr("y", Math.min(y, from[1]))
            .attr("width", Math.abs(x - from[0])).attr("height", Math.abs(y - from[1]));
          return;
        }
        showNearest(event);
      },
      pointerleave: (event) => { if (event.pointerType === "mouse") this.frame.hide(); },
      pointercancel: () => { from = null; },
      pointerdown: (event) => {
        if (event.pointerType !== "mouse" || event.button !== 0) return;
        from = this.frame.pointer(event);
        svg.node().setPointerCapture(event.pointerId);
      },
      pointerup: (event) => {
        if (event.pointerType !== "mouse") showNearest(event);
        const start = from;
        from = null;
        if (start === null || selection === null) return;
        const [x, y] = this.frame.pointer(event);
        selection.remove();
        selection = null;
        if (Math.abs(x - start[0]) > 8 && Math.abs(y - start[1]) > 8) this.zoomTo(start, [x, y]);
      },
      dblclick: () => this.reset(),
    });
    onKeys(svg, {
      ArrowRight: () => this.step(1), ArrowLeft: () => this.step(-1),
      ArrowUp: () => this.changeSeries(-1), ArrowDown: () => this.changeSeries(1),
      "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2), "0": () => this.reset(),
      Escape: () => this.forget(),
    });
  }

  /** Takes the mark and the values away. */
  forget() {
    this.cursor = null;
    this.content.selectAll(".cursor").remove();
    this.frame.hide();
  }

  /** Marks a point and shows its values. */
  point(place, aloud) {
    const { series, point } = place;
    this.cursor = place;
    this.content.selectAll(".cursor").remove();
    this.content.append("circle").attr("class", "cursor").attr("r", 6).attr("cx", this.x(point.x)).attr("cy", this.y(point.y));
    const lines = [
      series.name,
      `${this.data.x.label}: ${formatValue(point.x, this.data.x.unit)}`,
      `${this.data.y.label}: ${formatWithInterval(point.y, point.low, point.high, this.data.y.unit)}`,
    ];
    if (point.label !== "") lines.push(point.label);
    this.frame.show(lines.join("\n"), this.x(point.x), this.y(point.y), aloud);
  }

  step(by) {
    const current = this.cursor === null ? -1 : this.places.findIndex(({ point }) => point === this.cursor.point);
    const next = this.places[current === -1 ? 0 : within(current + by, 0, this.places.length - 1)];
    if (next !== undefined) this.point(next, true);
  }

  /** The point of another series that is nearest on the x axis. */
  changeSeries(by) {
    const shown = this.series.filter((series) => series.shown);
    if (this.cursor === null || shown.length === 0) return this.step(0);
    const next = shown[(shown.indexOf(this.cursor.series) + by + shown.length) % shown.length];
    const places = this.places.filter(({ series }) => series === next);
    const distance = ({ point }) => Math.abs(this.x(point.x) - this.x(this.cursor.point.x));
    const nearest = places[leastBy(places, distance)];
    if (nearest !== undefined) this.point(nearest, true);
  }

  /** The part of a domain around `centre`, neither beyond all that there is nor too small to be drawn. */
  fitted(domain, whole, logarithmic, factor, centre) {
    const turn = logarithmic ? Math.log : (value) => value;
    const back = logarithmic ? Math.exp : (value) => value;
    const [low, high] = domain.map(turn);
    const [least, most] = whole.map(turn);
    const half = within(((high - low) / 2) * factor, ((most - least) / 2) * deepestZoom, (most - least) / 2);
    const middle = within(centre === null ? (low + high) / 2 : turn(centre), least + half, most - half);
    return [back(middle - half), back(middle + half)];
  }

  /** Shows these domains, scaled by a factor around the marked point or the middle. */
  show(x, y, factor = 1, at = null) {
    const all = this.allDomains();
    this.zoomed = {
      x: this.fitted(x, all.x, this.logarithmic.x, factor, at && at.x),
      y: this.fitted(y, all.y, this.logarithmic.y, factor, at && at.y),
    };
    this.draw();
  }

  zoom(factor) {
    this.show(this.x.domain(), this.y.domain(), factor, this.cursor === null ? null : this.cursor.point);
  }

  zoomTo([x1, y1], [x2, y2]) {
    const sorted = (a, b) => (a < b ? [a, b] : [b, a]);
    this.show(sorted(this.x.invert(x1), this.x.invert(x2)), sorted(this.y.invert(y1), this.y.invert(y2)));
  }

  reset() {
    this.zoomed = null;
    this.frame.hide();
    this.draw();
  }
}
