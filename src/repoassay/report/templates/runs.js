// The list of runs: filter, choice, and how far they are, asked for again and again. The page is whole without it.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const rows = [...document.querySelectorAll(".all-runs li")];
  const byKey = new Map(rows.map((row) => [row.dataset.key, row]));
  const filter = () => {
    const words = byId("find").value.toLowerCase().split(/\s+/).filter(Boolean);
    const state = byId("by-state").value;
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = (state && row.dataset.state !== state) || !words.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    byId("count").textContent = shown + " of " + rows.length + " shown";
  };
  const choose = () => {
    const button = byId("compare");
    if (button) button.disabled = document.querySelectorAll(".all-runs input:checked").length < 2;
  };
  const SVG = "http://www.w3.org/2000/svg";
  const update = (one) => {
    const row = byKey.get(one.key);
    if (!row) return location.reload(); // a new run
    row.dataset.state = one.state;
    row.querySelector(".state").textContent = one.state;
    row.querySelector(".done").textContent = one.finished + " of " + one.planned;
    row.querySelector("svg").replaceChildren(...one.parts.map(([name, start, width]) => {
      const part = document.createElementNS(SVG, "rect");
      part.setAttribute("class", "f-" + name);
      part.setAttribute("x", start + "%");
      part.setAttribute("width", width + "%");
      part.setAttribute("height", "8");
      return part;
    }));
  };
  const ask = async () => {
    try {
      const answer = await fetch("state.json", { cache: "no-store" });
      if (answer.ok) for (const one of (await answer.json()).runs) update(one);
    } catch { /* the server has ended; the page stays as it is */ }
    setTimeout(ask, document.hidden ? 15000 : 3000);
  };
  byId("filter").hidden = false;
  for (const id of ["find", "by-state"]) byId(id).addEventListener("input", filter);
  for (const box of document.querySelectorAll(".all-runs input")) box.addEventListener("change", choose);
  choose();
  filter();
  setTimeout(ask, 3000);
})();
