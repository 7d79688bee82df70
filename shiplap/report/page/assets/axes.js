// Scales and axes of plots and maps.

/** A scale over the domain, logarithmic where that is asked for and possible. */
function scaleOf(axis, logarithmic, domain, range) {
  return (logarithmic ? d3.scaleLog() : d3.scaleLinear()).domain(domain).range(range);
}

/** Whether quantities range over more than two decades, so that a linear axis would hide the small ones. */
function isWide(axis, values) {
  return ["s", "B", "B/s"].includes(axis.unit) && d3.min(values) > 0 && d3.max(values) > 100 * d3.min(values);
}

/** The values from the smallest to the largest, with a little room; a logarithmic axis has no room for 0. */
function domainOf(values, logarithmic) {
  const fit = values.filter((value) => Number.isFinite(value) && (!logarithmic || value > 0));
  if (fit.length === 0) return logarithmic ? [1, 10] : [0, 1];
  let low = d3.min(fit);
  let high = d3.max(fit);
  if (logarithmic) {
    const room = low === high ? 2 : (high / low) ** 0.03;
    return [low / room, high * room];
  }
  // Rates and times begin at 0, unless all values are far from it.
  if (low > 0 && low < high * 0.6) low = 0;
  const room = low === high ? Math.abs(low) * 0.1 || 1 : (high - low) * 0.05;
  return [low === 0 ? 0 : low - room, high + room];
}

/** Where an axis has ticks: powers of two for sizes, otherwise round numbers. */
function ticksOf(scale, axis, logarithmic, most) {
  const [low, high] = scale.domain();
  if (!logarithmic) {
    // What has no unit is mostly counted.
    if (axis.unit === "" && high - low >= 2) return scale.ticks(most).filter(Number.isInteger);
    if (axis.unit !== "B") return scale.ticks(most);
    const [unit] = prefixFor(high, "B");
    return d3.ticks(low / unit, high / unit, most).map((tick) => tick * unit);
  }
  if (axis.unit === "B") {
    const first = Math.ceil(Math.log2(low));
    const last = Math.floor(Math.log2(high));
    const step = Math.max(1, Math.ceil((last - first + 1) / most));
    const powers = d3.range(first, last + 1, step).map((power) => 2 ** power);
    return powers.length > 1 ? powers : d3.ticks(low, high, most);
  }
  const decades = Math.log10(high / low);
  const factors = decades * 3 <= most ? [1, 2, 5] : [1];
  const step = Math.max(1, Math.ceil(decades / most));
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += step)
    for (const factor of factors) ticks.push(factor * 10 ** power);
  const inside = ticks.filter((tick) => tick >= low && tick <= high);
  return inside.length > 1 ? inside : d3.ticks(low, high, most);
}

/** Draws both axes with their grid and names. `box` has left, top, width and height of the plot. */
function drawAxes(svg, box, x, y, axes, logarithmic) {
  const bottom = box.top + box.height;
  const ticksX = ticksOf(x, axes.x, logarithmic.x, Math.max(2, Math.floor(box.width / 84)));
  const ticksY = ticksOf(y, axes.y, logarithmic.y, Math.max(2, Math.floor(box.height / 44)));
  const formatX = (value) => formatValue(value, axes.x.unit, 3);
  const formatY = (value) => formatValue(value, axes.y.unit, 3);
  svg.append("g").attr("class", "grid").attr("transform", `translate(0,${bottom})`)
    .call(d3.axisBottom(x).tickValues(ticksX).tickFormat("").tickSize(-box.height));
  svg.append("g").attr("class", "grid").attr("transform", `translate(${box.left},0)`)
    .call(d3.axisLeft(y).tickValues(ticksY).tickFormat("").tickSize(-box.width));
  svg.append("g").attr("class", "axis").attr("transform", `translate(0,${bottom})`)
    .call(d3.axisBottom(x).tickValues(ticksX).tickFormat(formatX));
  svg.append("g").attr("class", "axis").attr("transform", `translate(${box.left},0)`)
    .call(d3.axisLeft(y).tickValues(ticksY).tickFormat(formatY));
  svg.append("text").attr("class", "quiet axis-name").attr("x", box.left + box.width).attr("y", bottom + 36)
    .attr("text-anchor", "end").text(axes.x.label);
  svg.append("text").attr("class", "quiet axis-name").attr("x", 4).attr("y", box.top - 8).text(axes.y.label);
}
