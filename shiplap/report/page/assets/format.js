// Numbers as text: values are in base units.

const prefixesOf = {
  s: [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]],
  B: [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]],
  "B/s": [[1e12, "TB/s"], [1e9, "GB/s"], [1e6, "MB/s"], [1e3, "kB/s"], [1, "B/s"]],
  "1": [[0.01, "%"]],
  "": [[1, ""]],
};

/** The scale and name of the unit in which `value` is written. */
function prefixFor(value, unit) {
  const prefixes = prefixesOf[unit] || [[1, unit]];
  return prefixes.find(([scale]) => Math.abs(value) >= scale * 0.9995) || prefixes[prefixes.length - 1];
}

/** A number with `digits` significant digits, without an exponent where that is readable. */
function formatNumber(value, digits) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e7 || size < 1e-4) return value.toExponential(digits - 1);
  return String(Number(value.toPrecision(Math.max(digits, Math.ceil(Math.log10(size))))));
}

/** A value with its unit: 0.01017 and "s" give "10.17 ms". */
function formatValue(value, unit, digits = 4) {
  if (value === null || !Number.isFinite(value)) return "–";
  const [scale, name] = prefixFor(value, unit);
  return formatNumber(value / scale, digits) + (name === "" ? "" : ` ${name}`);
}

/** A value with the interval that it lies in, where there is one. */
function formatWithInterval(value, low, high, unit) {
  const text = formatValue(value, unit);
  return Number.isFinite(low) && Number.isFinite(high) && high > low
    ? `${text} (${formatValue(low, unit)} to ${formatValue(high, unit)})`
    : text;
}
