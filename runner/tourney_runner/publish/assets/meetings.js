// The map of a large field: names the pair under the pointer, or the two that were chosen.
"use strict";

(() => {
  const data = JSON.parse(document.getElementById("meetings").textContent);
  const map = document.getElementById("map");
  const told = document.getElementById("meeting");
  const row = document.getElementById("row");
  const column = document.getElementById("column");

  function tell(one, other) {
    const [deals, percent, error] = data.cells[one][other] ?? [];
    if (one === other) told.textContent = data.names[one];
    else if (!deals) told.textContent = `${data.names[one]} and ${data.names[other]} have not met.`;
    else {
      told.textContent = `${data.names[one]} finished ahead of ${data.names[other]} in ${percent} %`
        + ` (± ${error}) of ${deals} ${deals === 1 ? "deal" : "deals"}.`;
    }
  }

  map.addEventListener("pointermove", (event) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(map.getScreenCTM().inverse());
    const [one, other] = [Math.floor(point.y), Math.floor(point.x)];
    if (data.names[one] === undefined || data.names[other] === undefined || other < 0 || one < 0) return;
    row.selectedIndex = one;
    column.selectedIndex = other;
    tell(one, other);
  });
  for (const choice of [row, column]) {
    choice.addEventListener("change", () => tell(row.selectedIndex, column.selectedIndex));
  }
  row.closest("[hidden]").removeAttribute("hidden");
})();
