// Tables that are sorted by a click on a title, and copied as CSV.

/** A cell as the number it is sorted by, or as text. */
function sortKey(cell) {
  return cell.dataset.value === undefined ? null : Number(cell.dataset.value);
}

function compareCells(a, b) {
  const x = sortKey(a);
  const y = sortKey(b);
  if (x !== null && y !== null) return x - y;
  if (x !== null || y !== null) return x !== null ? -1 : 1;  // numbers before texts
  return a.textContent.localeCompare(b.textContent, "en", { numeric: true });
}

function sortBy(table, column) {
  const titles = [...table.tHead.rows[0].cells];
  const ascending = titles[column].getAttribute("aria-sort") !== "ascending";
  titles.forEach((title) => title.removeAttribute("aria-sort"));
  titles[column].setAttribute("aria-sort", ascending ? "ascending" : "descending");
  const body = table.tBodies[0];
  const rows = [...body.rows].sort((a, b) => compareCells(a.cells[column], b.cells[column]));
  body.append(...(ascending ? rows : rows.reverse()));
}

/** The table as CSV: numbers in base units, which the titles name. Text that a spreadsheet would take for a formula gets an apostrophe before it. */
function csvOf(table) {
  const field = (cell) => {
    const unit = cell.dataset.unit === undefined ? "" : ` [${cell.dataset.unit}]`;
    const shown = sortKey(cell) === null ? cell.textContent + unit : cell.dataset.value;
    const text = /^[=+@\t\r-]/.test(shown) && sortKey(cell) === null ? `'${shown}` : shown;
    return /[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  return [...table.rows].map((row) => [...row.cells].map(field).join(",")).join("\n") + "\n";
}

async function copyText(text) {
  if (navigator.clipboard !== undefined) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Browsers refuse without permission; the older way may still work.
    }
  }
  const area = element("textarea", text);
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  return copied;
}

/** Names the column in each cell, for screens that are so narrow that a row is drawn as a card. */
function nameCells(table) {
  const titles = [...table.tHead.rows[0].cells].map((title) => title.textContent);
  for (const row of table.tBodies[0].rows) [...row.cells].forEach((cell, column) => { cell.dataset.title = titles[column]; });
  // What is drawn as blocks is a table only by its roles.
  table.setAttribute("role", "table");
  for (const [name, role] of [["thead, tbody", "rowgroup"], ["tr", "row"], ["th", "columnheader"], ["td", "cell"]])
    table.querySelectorAll(name).forEach((part) => part.setAttribute("role", role));
  table.classList.add("cards");
}

function enableTable(holder) {
  const table = holder.querySelector("table");
  nameCells(table);
  [...table.tHead.rows[0].cells].forEach((title, column) => {
    const text = title.textContent;
    if (text !== "") title.replaceChildren(button(text, "", () => sortBy(table, column)));
  });
  const copy = button("copy as CSV", "", async () => {
    const copied = await copyText(csvOf(table));
    copy.textContent = copied ? "copied" : "the browser does not allow it";
    setTimeout(() => { copy.textContent = "copy as CSV"; }, 2000);
  });
  copy.classList.add("copy");
  (holder.querySelector("details") || holder).append(copy);
}
