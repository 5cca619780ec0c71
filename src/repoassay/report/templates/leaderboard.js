// Sorting and filtering of the leaderboard. The page is whole without it.
"use strict";
(() => {
  const table = document.getElementById("board");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const find = document.getElementById("find");
  const suite = document.getElementById("by-suite");
  const count = document.getElementById("count");

  const filter = () => {
    const wanted = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      const fits = (!suite.value || row.dataset.suite === suite.value) && wanted.every((word) => text.includes(word));
      row.hidden = !fits;
      shown += fits ? 1 : 0;
    }
    count.textContent = shown + " of " + rows.length + " shown";
  };

  const order = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  const sort = (head, index) => {
    const number = head.dataset.sort === "number";
    const before = head.getAttribute("aria-sort");
    // Figures start with the largest, words with the first.
    const down = before ? before === "ascending" : number;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = (row) => {
      const cell = row.cells[index];
      return number ? parseFloat(cell.dataset.v) : cell.dataset.v ?? cell.textContent.trim();
    };
    const keyed = rows.map((row) => [key(row), row]);
    keyed.sort(([a], [b]) => {
      if (!number) return order.compare(a, b) * (down ? -1 : 1);
      if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b); // unknown is always last
      return (a - b) * (down ? -1 : 1);
    });
    body.append(...keyed.map(([, row]) => row));
  };

  [...table.tHead.rows[0].cells].forEach((head, index) => {
    if (!head.dataset.sort) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(head, index));
    head.append(button);
  });

  const form = document.getElementById("filter");
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const control of [find, suite]) control.addEventListener("input", filter);
  form.hidden = false;
  filter();
})();
