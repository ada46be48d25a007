// Sorting and searching of tables. Without it they are all there, in the order of the ranking.
"use strict";

(() => {
  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

  // A cell has its number in `data-v` if its text is not that number itself.
  const value = (row, column) => {
    const cell = row.cells[column];
    const text = cell.dataset.v ?? cell.textContent.trim();
    const isNumber = cell.dataset.v !== undefined ||
      (!cell.classList.contains("name") && /^-?\d+(\.\d+)?$/.test(text));
    if (text === "") return NaN; // it stays at the end in both directions
    return isNumber ? Number(text) : text;
  };

  function compare(one, other) {
    if (typeof one === "number" && typeof other === "number") return one - other;
    return collator.compare(one, other);
  }

  function sort(table, heading) {
    const column = heading.cellIndex;
    const before = heading.getAttribute("aria-sort");
    const first = heading.dataset.first || "ascending";
    const second = first === "ascending" ? "descending" : "ascending";
    const direction = before === first ? second : first;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", direction);
    const sign = direction === "ascending" ? 1 : -1;
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [value(row, column), row]);
    rows.sort(([one], [other]) =>
      Number.isNaN(one) - Number.isNaN(other) || sign * compare(one, other));
    body.append(...rows.map((pair) => pair[1]));
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    for (const heading of table.tHead.rows[0].cells) {
      if (!heading.textContent.trim() || heading.classList.contains("fixed")) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => sort(table, heading));
    }
  }

  // "nguyen" finds "Nguyễn": marks and the stroke of a đ do not count.
  const folded = (text) =>
    text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase()
      .replace(/[đøłħı]/g, (letter) => ({ đ: "d", ø: "o", ł: "l", ħ: "h", ı: "i" })[letter]);

  for (const input of document.querySelectorAll("input[data-filter]")) {
    const rows = document.getElementById(input.dataset.filter).tBodies[0].rows;
    const told = document.getElementById(input.dataset.told);
    const filter = () => {
      const wanted = folded(input.value.trim());
      let shown = 0;
      for (const row of rows) {
        row.hidden = !folded(row.textContent).includes(wanted);
        shown += !row.hidden;
      }
      told.textContent = wanted ? `${shown} of ${rows.length} shown` : "";
    };
    input.addEventListener("input", filter);
    input.closest("[hidden]")?.removeAttribute("hidden");
    filter();
  }
})();
