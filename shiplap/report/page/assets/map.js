// The best strategy over the size of a job and its kernel time. A point that the reader moves asks "what if".

/** Predicted times that differ by less than this are nearly the same. */
const smallestMargin = 0.02;

class MapChart {
  constructor(figure, data) {
    this.data = data;
    this.frame = new Frame(figure, `${data.title}. Arrow keys move the point; the table below has the times there.`);
    this.frame.tools.remove();
    this.colours = data.strategies.map((name) => colourOf(name));
    this.answer = element("div", "", "answer");
    this.said = element("p");
    this.said.setAttribute("aria-live", "polite");
    this.times = element("div", "", "scroll");
    this.answer.append(this.said, this.times);
    figure.append(this.answer);
    const used = new Set(data.cells.flatMap((times) => times.slice(0, this.isClose(times) ? 2 : 1).map((time) => time[0])));
    const addEntry = (name, background) => {
      const entry = element("span", "", "entry");
      const swatch = element("span", "", "swatch box");
      swatch.style.background = background;
      entry.append(swatch, name);
      this.frame.legend.append(entry);
    };
    data.strategies.forEach((name, number) => { if (used.has(number)) addEntry(name, this.colours[number]); });
    if (data.cells.some((times) => this.isClose(times)))
      addEntry("hatched: the two best differ by less than 2 %",
               "repeating-linear-gradient(135deg, var(--text) 0 2px, var(--card) 2px 5px)");
    const mark = data.marks[0];
    this.at = mark === undefined
      ? { column: Math.floor(data.xs.length / 2), row: Math.floor(data.ys.length / 2) }
      : { column: nearest(data.xs, mark.x), row: nearest(data.ys, mark.y) };
  }

  cell(column, row) {
    return this.data.cells[row * this.data.xs.length + column];
  }

  /** How much longer the second strategy takes; null where there is one strategy only. */
  margin(times) {
    return times.length < 2 ? null : times[1][2] / times[0][2] - 1;
  }

  /** Whether the two fastest strategies are predicted to take nearly the same time. */
  isClose(times) {
    return times.length > 1 && this.margin(times) < smallestMargin;
  }

  /** What the second best strategy loses, in words. */
  loss(times) {
    const names = times.map((time) => this.data.strategies[time[0]]);
    if (times.length < 2) return `${names[0]} is the only strategy.`;
    const margin = this.margin(times);
    const lost = `${names[1]} loses ${formatValue(margin, "1", 2)} (${formatValue(times[1][2] - times[0][2], "s", 2)})`;
    const open = times[1][3] <= times[0][4] ? " Their 90 % prediction intervals overlap: a race would settle it (shiplap tune)." : "";
    return `${names[0]} is the fastest, ${lost}.${open}`;
  }

  draw() {
    const { xs, ys } = this.data;
    const frame = this.frame;
    const left = 68;
    const svg = frame.begin(frame.drawing.clientWidth < 560 ? 320 : 420);
    this.cellWidth = (frame.width - left - 16) / xs.length;
    this.cellHeight = (frame.height - 24 - 50) / ys.length;
    this.left = left;
    this.top = 24;
    this.addHatches(svg);
    ys.forEach((_, row) => xs.forEach((__, column) => this.drawCell(svg, column, row)));
    this.drawScales(svg);
    this.data.marks.forEach((mark) => this.drawMark(svg, mark));
    this.handle = svg.append("rect").attr("class", "handle");
    onEvents(svg, {
      pointerdown: (event) => {
        this.pointAt(event);
        svg.node().setPointerCapture(event.pointerId);
      },
      pointermove: (event) => {
        if (event.buttons > 0) this.pointAt(event);
        this.hint(event);
      },
      pointerleave: () => frame.hide(),
    });
    onKeys(svg, {
      ArrowRight: () => this.move(1, 0), ArrowLeft: () => this.move(-1, 0),
      ArrowUp: () => this.move(0, 1), ArrowDown: () => this.move(0, -1),
    });
    this.move(0, 0);
    frame.figure.dataset.drawn = String(xs.length * ys.length);
  }

  leftOf(column) {
    return this.left + column * this.cellWidth;
  }

  topOf(row) {
    return this.top + (this.data.ys.length - 1 - row) * this.cellHeight;
  }

  /** A pattern for each strategy: stripes of its colour over that of the fastest. */
  addHatches(svg) {
    const patterns = svg.append("defs").selectAll("pattern").data(this.colours).enter().append("pattern")
      .attr("id", (_, number) => `hatch-${this.frame.figure.id}-${number}`).attr("width", 8).attr("height", 8)
      .attr("patternUnits", "userSpaceOnUse").attr("patternTransform", "rotate(45)");
    patterns.append("rect").attr("width", 4).attr("height", 8).attr("fill", (colour) => colour);
    patterns.append("path").attr("class", "edge").attr("d", "M0 0V8M4 0V8");
  }

  drawCell(svg, column, row) {
    const times = this.cell(column, row);
    if (times.length === 0) return;
    const margin = this.margin(times);
    const close = this.isClose(times);
    const drawRect = (classes, fill) => svg.append("rect").attr("class", classes).attr("fill", fill)
      .attr("x", this.leftOf(column)).attr("y", this.topOf(row)).attr("width", this.cellWidth).attr("height", this.cellHeight);
    drawRect("cell", this.colours[times[0][0]]);
    if (close) drawRect("cell hatched", `url(#hatch-${this.frame.figure.id}-${times[1][0]})`);
    if (margin === null || this.cellWidth < 44) return;
    const text = svg.append("text").attr("class", "cell-text").attr("x", this.leftOf(column) + this.cellWidth / 2)
      .attr("y", this.topOf(row) + this.cellHeight / 2 + 4)
      .text(`${margin >= 10 ? ">1000" : margin < 0.0005 ? "<0.1" : (margin * 100).toFixed(margin < 0.1 ? 1 : 0)} %`);
    if (close) text.attr("stroke", this.colours[times[0][0]]);
  }

  drawScales(svg) {
    const bottom = this.top + this.cellHeight * this.data.ys.length;
    const every = Math.max(1, Math.ceil(64 / this.cellWidth));
    this.data.xs.forEach((value, column) => {
      if (column % every === 0)
        svg.append("text").attr("class", "quiet").attr("x", this.leftOf(column) + this.cellWidth / 2).attr("y", bottom + 16)
          .attr("text-anchor", "middle").text(formatValue(value, this.data.x.unit, 3));
    });
    this.data.ys.forEach((value, row) => {
      svg.append("text").attr("class", "quiet").attr("x", this.left - 8).attr("y", this.topOf(row) + this.cellHeight / 2 + 4)
        .attr("text-anchor", "end").text(formatValue(value, this.data.y.unit, 3));
    });
    svg.append("text").attr("class", "quiet axis-name").attr("x", this.left + this.cellWidth * this.data.xs.length)
      .attr("y", bottom + 36).attr("text-anchor", "end").text(this.data.x.label);
    svg.append("text").attr("class", "quiet axis-name").attr("x", 4).attr("y", this.top - 8).text(this.data.y.label);
  }

  /** A job at its true place between the centres of cells. */
  drawMark(svg, mark) {
    const place = (values, value) => {
      const logs = values.map(Math.log);
      const number = d3.bisectLeft(logs, Math.log(value));
      if (number <= 0) return 0;
      if (number >= logs.length) return logs.length - 1;
      return number - 1 + (Math.log(value) - logs[number - 1]) / (logs[number] - logs[number - 1]);
    };
    const x = this.leftOf(place(this.data.xs, mark.x)) + this.cellWidth / 2;
    const y = this.topOf(place(this.data.ys, mark.y)) + this.cellHeight / 2;
    svg.append("circle").attr("class", "mark").attr("cx", x).attr("cy", y).attr("r", 7);
    const right = x > this.frame.width * 0.6;
    svg.append("text").attr("class", "mark-name").attr("x", right ? x - 12 : x + 12).attr("y", y - 9)
      .attr("text-anchor", right ? "end" : "start").text(mark.name);
  }

  /** The cell under the pointer, or the nearest one. */
  cellAt(event) {
    const [x, y] = this.frame.pointer(event);
    return {
      column: within(Math.floor((x - this.left) / this.cellWidth), 0, this.data.xs.length - 1),
      row: within(this.data.ys.length - 1 - Math.floor((y - this.top) / this.cellHeight), 0, this.data.ys.length - 1),
    };
  }

  pointAt(event) {
    this.at = this.cellAt(event);
    this.move(0, 0);
  }

  /** Shows beside the pointer what the second best strategy loses in its cell. */
  hint(event) {
    const { column, row } = this.cellAt(event);
    this.frame.show(`${this.where(column, row)}\n${this.loss(this.cell(column, row))}`, ...this.frame.pointer(event), false);
  }

  where(column, row) {
    return `${formatValue(this.data.xs[column], this.data.x.unit, 3)} and a kernel of `
      + formatValue(this.data.ys[row], this.data.y.unit, 3);
  }

  move(columns, rows) {
    this.at = {
      column: within(this.at.column + columns, 0, this.data.xs.length - 1),
      row: within(this.at.row + rows, 0, this.data.ys.length - 1),
    };
    this.handle.attr("x", this.leftOf(this.at.column)).attr("y", this.topOf(this.at.row))
      .attr("width", this.cellWidth).attr("height", this.cellHeight);
    this.explain();
  }

  explain() {
    const { column, row } = this.at;
    const times = this.cell(column, row);
    const table = element("table");
    const head = element("tr");
    for (const title of ["strategy", "choice", "predicted", "loses"]) head.append(element("th", title));
    const titles = element("thead");
    titles.append(head);
    const body = element("tbody");
    times.forEach(([strategy, choice, time, low, high]) => {
      const line = element("tr");
      line.append(element("td", this.data.strategies[strategy]), element("td", choice),
                  element("td", formatWithInterval(time, low, high, "s"), "number"),
                  element("td", time === times[0][2] ? "" : formatValue(time / times[0][2] - 1, "1", 2), "number"));
      body.append(line);
    });
    table.append(titles, body);
    nameCells(table);
    this.said.textContent = `${this.where(column, row)}: ${this.loss(times)}`;
    this.times.replaceChildren(table);
  }
}

/** The number of the value that is nearest on a logarithmic scale. */
function nearest(values, value) {
  return leastBy(values, (candidate) => Math.abs(Math.log(candidate / value)));
}
