// What all charts share: their frame, tooltip, buttons and colours.

/** The colour of a thing, or of the series with this number where it is of no thing. It follows the reader's scheme. */
function colourOf(thing, number) {
  return thing === undefined ? `var(--c${number % 10})` : `var(--of-${thing})`;
}

/** A new element with text. Text is never markup. */
function element(name, text = "", classes = "") {
  const made = document.createElement(name);
  if (text !== "") made.textContent = text;
  if (classes !== "") made.className = classes;
  return made;
}

function button(text, description, action) {
  const made = element("button", text);
  made.type = "button";
  if (description !== "") made.setAttribute("aria-label", description);
  made.addEventListener("click", action);
  return made;
}

/** A button that is pressed or not. `change` gets its new state. */
function toggle(text, description, pressed, change) {
  const made = button(text, description, () => {
    const now = made.getAttribute("aria-pressed") !== "true";
    made.setAttribute("aria-pressed", String(now));
    change(now);
  });
  made.setAttribute("aria-pressed", String(pressed));
  return made;
}

/** The parts of a figure: tools above the drawing, the drawing with its tooltip, and what is read aloud. */
class Frame {
  constructor(figure, description) {
    this.figure = figure;
    this.tools = element("div", "", "tools");
    this.legend = element("div", "", "legend");
    this.drawing = element("div", "", "drawing");
    this.tooltip = element("div", "", "tooltip");
    this.tooltip.hidden = true;
    this.spoken = element("div", "", "hidden-text");
    this.spoken.setAttribute("aria-live", "polite");
    this.description = description;
    figure.append(this.tools, this.legend, this.drawing, this.spoken);
  }

  /** An empty drawing of this height that has the focus if the last one had it. */
  begin(height) {
    const hadFocus = this.svg !== undefined && document.activeElement === this.svg.node();
    this.width = Math.max(260, this.drawing.clientWidth || 720);
    this.height = height;
    this.drawing.replaceChildren();
    this.svg = d3.select(this.drawing).append("svg")
      .attr("viewBox", `0 0 ${this.width} ${height}`)
      .attr("class", "active").attr("tabindex", 0).attr("role", "application").attr("aria-label", this.description);
    this.drawing.append(this.tooltip);
    if (hadFocus) this.svg.node().focus({ preventScroll: true });
    return this.svg;
  }

  /** Where the pointer is, in the coordinates of the drawing. */
  pointer(event) {
    const box = this.svg.node().getBoundingClientRect();
    const scale = this.width / box.width;
    return [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
  }

  /** Shows text beside a place of the drawing, and reads it aloud for those who came by keyboard. */
  show(text, x, y, aloud) {
    this.tooltip.textContent = text;
    this.tooltip.hidden = false;
    const scale = this.drawing.clientWidth / this.width;
    const left = Math.min(x * scale + 14, this.drawing.clientWidth - this.tooltip.offsetWidth - 2);
    const below = y * scale + 14;
    const above = y * scale - this.tooltip.offsetHeight - 12;
    this.tooltip.style.left = `${Math.max(0, left)}px`;
    this.tooltip.style.top = `${below + this.tooltip.offsetHeight > this.drawing.clientHeight && above > 0 ? above : below}px`;
    if (aloud) this.spoken.textContent = text;
  }

  hide() {
    this.tooltip.hidden = true;
  }
}

/** Calls the handler of a key, and keeps the page from scrolling by it. */
function onKeys(svg, handlers) {
  svg.node().addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const handler = handlers[event.shiftKey && event.key.startsWith("Arrow") ? `Shift+${event.key}` : event.key];
    if (handler === undefined) return;
    event.preventDefault();
    handler();
  });
}

/** Listens to the events that the handlers are named after. */
function onEvents(svg, handlers) {
  for (const [name, handler] of Object.entries(handlers))
    svg.node().addEventListener(name, handler, { passive: name !== "wheel" });
}

/** The number of the value with the smallest distance. */
function leastBy(values, distance) {
  let least = 0;
  values.forEach((value, number) => {
    if (distance(value) < distance(values[least])) least = number;
  });
  return least;
}

/** `value` within the two ends. */
function within(value, low, high) {
  return Math.min(Math.max(value, low), high);
}
