// Timelines on one time axis: a row for each engine, a bar for each op.

const rowHeight = 24;
const rowGap = 6;
const panelHead = 26;

class TimelineChart {
  constructor(figure, data) {
    this.data = data;
    this.frame = new Frame(
      figure, `${data.title}. Left and right go through the ops of a row, up and down change the row, shift with left and `
        + "right moves, plus and minus zoom, 0 resets.");
    this.rows = data.panels.flatMap((panel) => panel.rows.map((row) => ({ panel, ...row })));
    this.end = d3.max(this.rows, (row) => d3.max(row.bars, (bar) => bar[2])) || 1;
    this.domain = [0, this.end];
    this.chosen = null;
    this.dragged = null;  // where a drag began, and what was seen then
    this.frame.tools.append(
      button("+", "zoom in", () => this.zoom(0.5)), button("−", "zoom out", () => this.zoom(2)),
      button("←", "move left", () => this.move(-0.25)), button("→", "move right", () => this.move(0.25)),
      button("reset", `reset ${data.title}`, () => this.reset()));
    this.frame.legend.remove();
  }

  draw() {
    const frame = this.frame;
    frame.hide();
    const left = frame.drawing.clientWidth < 560 ? 8 : 150;
    const heightOf = (row) => Math.max(rowHeight, row.lanes * 12) + rowGap;
    const namesAbove = left < 100 ? 16 : 0;
    const height = d3.sum(this.rows, (row) => heightOf(row) + namesAbove) + this.data.panels.length * panelHead + 44;
    const svg = frame.begin(height);
    this.x = d3.scaleLinear().domain(this.domain).range([left, frame.width - 12]);
    let top = 4;
    let panel = null;
    const clip = `clip-${frame.figure.id}`;
    svg.append("clipPath").attr("id", clip).append("rect").attr("x", left).attr("y", 0)
      .attr("width", frame.width - 12 - left).attr("height", height);
    this.places = [];
    for (const row of this.rows) {
      if (row.panel !== panel) {
        panel = row.panel;
        svg.append("text").attr("x", 4).attr("y", top + 17).attr("font-weight", 600).text(panel.label);
        top += panelHead;
      }
      const name = `${row.label}${row.detail === "" ? "" : `, ${row.detail}`}`;
      if (namesAbove > 0) svg.append("text").attr("class", "quiet").attr("x", left).attr("y", top + 11).text(name);
      else this.nameRow(svg, row, top);
      top += namesAbove;
      this.drawRow(svg, row, left, top, heightOf(row) - rowGap, clip);
      top += heightOf(row);
    }
    const [unit, unitName] = prefixFor(this.domain[1] - this.domain[0], "s");
    svg.append("g").attr("class", "axis").attr("transform", `translate(0,${top + 2})`)
      .call(d3.axisBottom(this.x).ticks(Math.max(2, Math.floor((frame.width - left) / 90)))
        .tickFormat((time) => formatNumber(time / unit, 6)));
    svg.append("text").attr("class", "quiet axis-name").attr("x", frame.width - 12).attr("y", top + 38)
      .attr("text-anchor", "end").text(unitName);
    this.listen(svg);
    frame.figure.dataset.drawn = String(this.places.length);
  }

  nameRow(svg, row, top) {
    svg.append("text").attr("x", 4).attr("y", top + 10).text(row.label);
    svg.append("text").attr("class", "quiet").attr("x", 4).attr("y", top + 23).style("font-size", "11px").text(row.detail);
  }

  drawRow(svg, row, left, top, height, clip) {
    svg.append("rect").attr("class", "track").attr("x", left).attr("y", top).attr("width", this.x.range()[1] - left)
      .attr("height", height);
    const laneHeight = height / row.lanes;
    Object.assign(row, { top, laneHeight });
    const drawn = [];
    const lastEnd = new Array(row.lanes).fill(-Infinity);
    for (const bar of row.bars) {
      const [, start, end, lane] = bar;
      if (end < this.domain[0] || start > this.domain[1]) continue;
      const x1 = this.x(start);
      const x2 = Math.max(this.x(end), x1 + 0.4);
      // Bars that end within the last drawn pixel of their lane would not be seen.
      if (x2 < lastEnd[lane] + 0.3) continue;
      lastEnd[lane] = x2;
      drawn.push({ row, bar, x: x1, y: top + lane * laneHeight, width: x2 - x1, height: laneHeight });
    }
    svg.append("g").attr("clip-path", `url(#${clip})`).selectAll("rect").data(drawn).enter().append("rect")
      .attr("class", (place) => `bar${place.width > 3 ? " wide" : ""}${place.bar[4] % 2 === 1 ? " odd" : ""}`)
      .attr("fill", colourOf(row.thing))
      .attr("x", (place) => place.x).attr("y", (place) => place.y).attr("width", (place) => place.width)
      .attr("height", (place) => place.height);
    this.places.push(...drawn);
  }

  listen(svg) {
    onEvents(svg, {
      pointermove: (event) => {
        const [x] = this.frame.pointer(event);
        if (this.dragged !== null) {
          const { from, domain } = this.dragged;
          const shift = ((from - x) / (this.x.range()[1] - this.x.range()[0])) * (domain[1] - domain[0]);
          this.setDomain(domain[0] + shift, domain[1] + shift);
          this.draw();
          return;
        }
        const place = d3.select(event.target).datum();
        if (place && place.bar) this.choose(place, false);
        else this.frame.hide();
      },
      pointerup: (event) => {
        const place = d3.select(event.target).datum();
        if (event.pointerType !== "mouse" && place && place.bar) this.choose(place, false);
      },
      pointerleave: (event) => { if (event.pointerType === "mouse") this.frame.hide(); },
      pointercancel: () => { this.dragged = null; },
      pointerdown: (event) => {
        if (event.pointerType !== "mouse" || event.button !== 0) return;
        this.dragged = { from: this.frame.pointer(event)[0], domain: this.domain };
        window.addEventListener("pointerup", () => { this.dragged = null; }, { once: true });
      },
      wheel: (event) => {
        if (!event.ctrlKey) return;
        event.preventDefault();
        this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.x.invert(this.frame.pointer(event)[0]));
      },
      dblclick: () => this.reset(),
    });
    onKeys(svg, {
      ArrowRight: () => this.step(1), ArrowLeft: () => this.step(-1),
      ArrowDown: () => this.changeRow(1), ArrowUp: () => this.changeRow(-1),
      "Shift+ArrowRight": () => this.move(0.25), "Shift+ArrowLeft": () => this.move(-0.25),
      "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2), "0": () => this.reset(),
      Escape: () => this.frame.hide(),
    });
  }

  /** Marks an op and the ops of its chunk, and shows its times. */
  choose(place, aloud) {
    this.chosen = { row: place.row, bar: place.bar };
    this.frame.svg.selectAll(".bar").classed("same", (other) => other.bar[4] === place.bar[4])
      .classed("chosen", (other) => other.bar === place.bar);
    const [name, start, end] = place.bar;
    const text = `${place.row.panel.label}: ${name}\nfrom ${formatValue(start, "s")} to ${formatValue(end, "s")}\n`
      + `takes ${formatValue(end - start, "s")}`;
    this.frame.show(text, Math.max(place.x, this.x.range()[0]), place.y + place.height, aloud);
  }

  /** Chooses the op with this number in a row, and moves the view to it. */
  chooseBar(row, number) {
    const bar = row.bars[within(number, 0, row.bars.length - 1)];
    if (bar === undefined) return;
    const width = this.domain[1] - this.domain[0];
    if (bar[1] < this.domain[0] || bar[2] > this.domain[1]) {
      const centre = (bar[1] + bar[2]) / 2;
      this.setDomain(centre - width / 2, centre + width / 2);
      this.draw();
    }
    // An op that is too short to be drawn has its place all the same.
    this.choose({ row, bar, x: this.x(bar[1]), y: row.top + bar[3] * row.laneHeight, height: row.laneHeight }, true);
  }

  step(by) {
    if (this.chosen === null) return this.chooseBar(this.rows[0], 0);
    this.chooseBar(this.chosen.row, this.chosen.row.bars.indexOf(this.chosen.bar) + by);
  }

  /** The op of another row that begins nearest to the chosen one. */
  changeRow(by) {
    if (this.chosen === null) return this.step(0);
    const row = this.rows[(this.rows.indexOf(this.chosen.row) + by + this.rows.length) % this.rows.length];
    const start = this.chosen.bar[1];
    this.chooseBar(row, leastBy(row.bars, (bar) => Math.abs(bar[1] - start)));
  }

  setDomain(low, high) {
    const width = within(high - low, this.end * deepestZoom, this.end);
    const first = within(low, 0, this.end - width);
    this.domain = [first, first + width];
  }

  zoom(factor, centre) {
    const [low, high] = this.domain;
    const middle = centre !== undefined ? centre : this.chosen !== null ? this.chosen.bar[1] : (low + high) / 2;
    this.setDomain(middle - (middle - low) * factor, middle + (high - middle) * factor);
    this.frame.hide();
    this.draw();
  }

  move(part) {
    const shift = (this.domain[1] - this.domain[0]) * part;
    this.setDomain(this.domain[0] + shift, this.domain[1] + shift);
    this.draw();
  }

  reset() {
    this.domain = [0, this.end];
    this.frame.hide();
    this.draw();
  }
}
