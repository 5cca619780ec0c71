// Adjudication by keyboard: an axis, its label, why raters disagreed, the next axis.
"use strict";
(() => {
  const form = document.getElementById("settle");
  if (!form) return;
  const rows = [...form.querySelectorAll("tr[data-axis]")];
  const label = (row) => row.querySelector("select[name^='state.']");
  const cause = (row) => row.querySelector("select[name^='cause.']");
  let current = Math.max(0, rows.findIndex((row) => row.dataset.open));
  function point(number) {
    current = Math.max(0, Math.min(rows.length - 1, number));
    rows.forEach((row, place) => row.classList.toggle("at", place === current));
    rows[current].scrollIntoView({ block: "nearest" });
  }
  function level(choose) {
    const select = label(rows[current]);
    const found = [...select.options].filter((each) => each.value).find(choose);
    if (found) select.value = found.value;
  }
  const byRole = (role) => () => level((each) => each.dataset.role === role);
  const because = (value) => () => {
    const row = rows[current];
    // A reason without a label would say nothing.
    if (!label(row).value) return;
    cause(row).value = value;
    const later = rows.findIndex((each, place) => place > current && each.dataset.open && !label(each).value);
    if (later >= 0) point(later);
  };
  const keys = {
    y: byRole("clear"), n: byRole("problem"), x: byRole("not_applicable"), u: byRole("unsure"),
    g: because("guideline_gap"), e: because("rater_error"), a: because("real_ambiguity"),
    i: () => form.elements.notes.focus(), j: () => point(current + 1), k: () => point(current - 1),
  };
  document.addEventListener("keydown", (event) => {
    const field = event.target.closest?.("input, textarea, select");
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      form.requestSubmit(form.querySelector("button[name=next]"));
      return;
    }
    if (event.key === "Escape" && field) { field.blur(); return; }
    if (field || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (/^[1-9]$/.test(event.key)) {
      const digit = Number(event.key) - 1;
      if (rows.length > 1) { if (digit < rows.length) point(digit); } else level((each) => each.index - 1 === digit);
      event.preventDefault();
    } else if (Object.hasOwn(keys, event.key)) { keys[event.key](); event.preventDefault(); }
  });
  point(current);
  document.body.dataset.ready = "yes";
})();
