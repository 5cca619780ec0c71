// Panels: widths that are dragged or set by arrow keys and remembered, the form folded away, places on a telephone.
"use strict";
(() => {
  const root = document.documentElement;
  const keep = (name, value) => { try { localStorage.setItem(name, JSON.stringify(value)); } catch { /* comfort only */ } };
  function kept(name) { try { return JSON.parse(localStorage.getItem(name)); } catch { return null; } }
  const clamp = (bar, wide) => Math.round(Math.max(Number(bar.getAttribute("aria-valuemin")), Math.min(Number(bar.getAttribute("aria-valuemax")), wide)));
  function set(bar, wide) {
    if (!Number.isFinite(wide)) return;
    const width = clamp(bar, wide);
    root.style.setProperty(`--${bar.dataset.resize}`, `${width}px`);
    bar.setAttribute("aria-valuenow", String(width));
    keep(`width:${bar.dataset.resize}`, width);
  }
  for (const bar of document.querySelectorAll("[data-resize]")) {
    const left = bar.dataset.resize === "left";
    const panel = document.querySelector(left ? ".left" : ".right");
    const before = kept(`width:${bar.dataset.resize}`);
    if (before !== null) set(bar, Number(before));
    bar.addEventListener("pointerdown", (event) => {
      const start = event.clientX, wide = panel.getBoundingClientRect().width;
      bar.setPointerCapture(event.pointerId);
      const move = (to) => set(bar, wide + (left ? to.clientX - start : start - to.clientX));
      bar.addEventListener("pointermove", move);
      bar.addEventListener("lostpointercapture", () => bar.removeEventListener("pointermove", move), { once: true });
      event.preventDefault();
    });
    bar.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -16, ArrowRight: 16 }[event.key];
      if (!step) return;
      event.preventDefault();
      set(bar, panel.getBoundingClientRect().width + (left ? step : -step));
    });
    bar.addEventListener("dblclick", () => {
      root.style.removeProperty(`--${bar.dataset.resize}`);
      keep(`width:${bar.dataset.resize}`, null);
    });
  }
  function form(on) {
    const away = on ?? !document.body.classList.contains("formless");
    document.body.classList.toggle("formless", away);
    document.querySelector("[data-form]")?.setAttribute("aria-pressed", String(!away));
  }
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-form]")) form();
    const to = event.target.closest("[data-part]");
    if (to) document.querySelector(to.dataset.part)?.scrollIntoView({ block: "start" });
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.closest?.("input:not([type=radio]):not([type=checkbox]), textarea, select")) return;
    if (event.key === "B") form();
    // Whoever answers wants to see the form.
    else if (/^[0-9ynxumwefi]$/.test(event.key)) form(false);
  });
})();
