// Search in the steps of an attempt, and keys to go from one to the next. The page is whole without it.
"use strict";
(() => {
  const steps = [...document.querySelectorAll(".step")];
  const find = document.getElementById("find");
  const show = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (!target) return;
    const around = target.closest("details");
    if (around) around.open = true;
    target.hidden = false;
    target.scrollIntoView();
  };
  addEventListener("hashchange", show);
  if (!find) return show();
  document.getElementById("filter").hidden = false;
  document.getElementById("filter").addEventListener("submit", (event) => event.preventDefault());
  const texts = new Map();
  const textOf = (step) => {
    if (!texts.has(step)) texts.set(step, step.textContent.toLowerCase());
    return texts.get(step);
  };
  find.addEventListener("input", () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const step of steps) {
      step.hidden = !words.every((word) => textOf(step).includes(word));
      shown += step.hidden ? 0 : 1;
      // What was found may stand in a folded part.
      if (words.length && !step.hidden) {
        for (const part of step.querySelectorAll("details")) {
          part.open = words.some((word) => part.textContent.toLowerCase().includes(word));
        }
      }
    }
    document.getElementById("count").textContent = words.length ? shown + " of " + steps.length + " steps" : "";
  });
  document.addEventListener("keydown", (event) => {
    if (event.target.matches("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/") {
      event.preventDefault();
      find.focus();
    }
    const way = { j: 1, k: -1 }[event.key];
    if (!way) return;
    const open = steps.filter((step) => !step.hidden);
    const here = open.findIndex((step) => "#" + step.id === location.hash);
    const next = open[Math.min(open.length - 1, Math.max(0, here + way))];
    if (next) {
      location.hash = next.id;
      next.focus({ preventScroll: true });
    }
  });
  show();
})();
