// Reading a change: files on demand, views, places. What is shown comes escaped from the server.
"use strict";
const reading = (() => {
  const list = document.getElementById("files");
  const base = list?.dataset.base ?? "";
  const chunk = Number(list?.dataset.chunk ?? 1);
  const at = { file: null, row: null };
  const view = { now: "unified" };
  const every = (what, inside = document) => [...inside.querySelectorAll(what)];
  const keep = (name, value) => { try { localStorage.setItem(name, JSON.stringify(value)); } catch { /* a full or closed store loses only comfort */ } };
  function kept(name, instead) { try { return JSON.parse(localStorage.getItem(name)) ?? instead; } catch { return instead; } }
  const nap = (time) => new Promise((then) => { setTimeout(then, time); });

  // --- files, which come as they are needed -------------------------------------------------------------------
  document.body.addEventListener("htmx:configRequest", (event) => {
    if (!/\/diff\/\d+/.test(event.detail.path)) return;
    event.detail.parameters.view = view.now;
    if (event.detail.target?.closest("section.file")?.classList.contains("entire")) event.detail.parameters.whole_file = "true";
  });
  const part = (rows, more = "") => htmx.ajax("GET", `${rows.dataset.at}${more}`, { target: rows, swap: "innerHTML" });
  async function section(number, place) {
    const there = () => document.getElementById(`f${number}`);
    if (there()) return there();
    const start = Math.floor(place / chunk) * chunk;
    const waiting = document.querySelector(`.chunk[data-start="${start}"]`);
    if (waiting) await htmx.ajax("GET", `${base}/files?start=${start}`, { target: waiting, swap: "outerHTML" });
    for (let turn = 0; turn < 40 && !there(); turn += 1) await nap(50);
    return there();
  }
  const placeOf = (number) => Number(document.querySelector(`.tree a[data-file="${number}"]`)?.dataset.place ?? number);
  // Goes to a file, or to a row of it by its key (`n12`: line 12 of the new side), loading whatever is missing.
  async function jump(number, { key = "", page = 0, place = placeOf(number), all = false } = {}) {
    const found = await section(number, place);
    if (!found) return;
    found.classList.remove("folded");
    found.querySelector(".fold")?.setAttribute("aria-expanded", "true");
    const rows = found.querySelector(".rows");
    at.file = found;
    at.row = null;
    if (!rows || !key) {
      if (rows?.querySelector("button.show")) part(rows);
      found.scrollIntoView({ block: "start" });
      mark();
      return;
    }
    const row = () => document.getElementById(`f${number}${key}`);
    if (!row()) {
      entire(found, all);
      await part(rows, `?at=${page}&jump=true`);
      for (let turn = 0; turn < 40 && !row(); turn += 1) await nap(25);
    }
    if (row()) to(row()); else found.scrollIntoView({ block: "start" });
  }
  const reload = (rows) => part(rows);

  // --- lines the diff leaves out ------------------------------------------------------------------------------
  function entire(section, on) {
    section.classList.toggle("entire", on);
    section.querySelector("[data-whole]")?.setAttribute("aria-pressed", String(on));
  }
  function whole(section) {
    const rows = section?.querySelector(".rows");
    if (!rows || !section.querySelector("[data-whole]")) return;
    wanted = at.row?.id && section.contains(at.row) ? at.row.id : "";
    entire(section, !section.classList.contains("entire"));
    section.classList.remove("folded");
    part(rows);
  }
  const here = () => at.file ?? document.querySelector("section.file");
  function expand(every_gap) {
    const found = every(".gap", here() ?? document.createElement("div"));
    if (every_gap) { for (const gap of found) gap.querySelector("[data-take=all]").click(); return; }
    // Of the hunk at hand: the lines above it, and those below it up to the next one.
    const row = at.row?.isConnected ? at.row : found[0];
    if (!row) return;
    const above = found.filter((gap) => gap === row || follows(gap, row)).at(-1);
    const below = found.find((gap) => gap !== row && follows(row, gap));
    for (const [gap, take] of [[above, "up"], [below, "down"]]) {
      (gap?.querySelector(`[data-take=${take}]`) ?? gap?.querySelector("[data-take=all]"))?.click();
    }
  }

  // --- views --------------------------------------------------------------------------------------------------
  // Two sides need width: a telephone has none, and a screen of 1,500 pixels only without the list of files.
  const small = matchMedia("(max-width: 900px)"), middling = matchMedia("(max-width: 1500px)");
  function show(which) {
    if (which === "split" && small.matches) which = "unified";
    if (which === "split" && middling.matches && !document.body.classList.contains("narrowed")) panel(true, false);
    else if (which === "unified" && !kept("narrowed", false)) panel(false, false);
    view.now = which;
    if (which !== "reference") keep("view", which);
    for (const button of every("[data-view]")) button.setAttribute("aria-pressed", String(button.dataset.view === which));
    document.body.classList.toggle("referring", which === "reference");
    document.body.classList.toggle("splitting", which !== "unified");
    const near = at.file, row = at.row?.id;
    for (const rows of every(".rows")) if (rows.querySelector("table, .pair")) reload(rows);
    // The row is made anew; the same one is found again by its name, which does not depend on the view.
    wanted = row ?? "";
    if (near) requestAnimationFrame(() => near.scrollIntoView({ block: "start" }));
  }
  let wanted = "";
  function to(row) {
    if (!row) return;
    every("tr.at").forEach((each) => each.classList.remove("at"));
    row.classList.add("at");
    at.row = row;
    at.file = row.closest("section.file") ?? at.file;
    row.scrollIntoView({ block: "center" });
    mark();
  }
  function mark() {
    for (const link of every(".tree a.at")) link.classList.remove("at");
    const link = at.file && document.querySelector(`.tree a[data-file="${at.file.dataset.number}"]`);
    link?.classList.add("at");
    link?.scrollIntoView({ block: "nearest" });
  }
  const shown = (each) => each.offsetParent !== null;
  const follows = (a, b) => Boolean(a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING);
  function change(step) {
    // A run of changed lines, or a file that still waits to be shown.
    const places = every("tr.hunk[id], section.file .rows > p, .more").filter(shown);
    const here = at.row?.isConnected ? at.row : at.file?.querySelector("header") ?? null;
    const found = step > 0 ? places.find((each) => !here || (each !== here && follows(here, each)))
      : places.reverse().find((each) => here && each !== here && follows(each, here));
    if (!found) return;
    if (found.tagName === "TR") { to(found); return; }
    at.row = found;
    at.file = found.closest("section.file");
    found.scrollIntoView({ block: "center" });
    mark();
  }
  function line(step) {
    const rows = every("section.file tr[id]").filter(shown);
    to(rows[Math.max(0, Math.min(rows.length - 1, rows.indexOf(at.row) + step))]);
  }
  function file(step) {
    const order = every(".tree a[data-file]");
    const place = order.findIndex((link) => link.dataset.file === at.file?.dataset.number);
    const next = order[Math.max(0, Math.min(order.length - 1, place + step))];
    if (next) jump(next.dataset.file);
  }

  // --- searching: the server looks through the whole change, files not loaded too ---------------------------------
  const search = document.getElementById("find");
  let hit = -1;
  function hop(step) {
    const links = every("#found a[data-file]");
    if (!links.length) return;
    hit = (hit + step + links.length) % links.length;
    links.forEach((link, place) => link.classList.toggle("at", place === hit));
    links[hit].scrollIntoView({ block: "nearest" });
    links[hit].click();
  }
  search?.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || !document.querySelector("#found a")) return;
    event.preventDefault();
    hop(event.shiftKey ? -1 : 1);
  });
  search?.addEventListener("input", () => { hit = -1; });

  // --- what was viewed ----------------------------------------------------------------------------------------
  const seenKey = `viewed:${list?.dataset.item ?? ""}`;
  const viewed = new Set(kept(seenKey, []));
  function ticks() {
    for (const link of every(".tree a")) link.classList.toggle("seen", viewed.has(link.dataset.file));
    for (const box of every("[data-viewed]")) {
      if (box.checked === viewed.has(box.dataset.viewed)) continue;
      box.checked = viewed.has(box.dataset.viewed);
      box.closest("section").classList.toggle("folded", box.checked);
    }
    const label = document.getElementById("seen");
    if (label) label.textContent = viewed.size ? `${viewed.size} viewed` : "";
  }
  function toggle(number, force) {
    if (force ?? !viewed.has(number)) viewed.add(number); else viewed.delete(number);
    keep(seenKey, [...viewed].slice(0, 5000));
    ticks();
  }
  const view_current = () => {
    const number = at.file?.dataset.number ?? document.querySelector("section.file")?.dataset.number;
    if (number !== undefined) toggle(number);
  };

  // --- the list of files, which can be folded away ------------------------------------------------------------
  function panel(on, stays = true) {
    const folded = on ?? !document.body.classList.contains("narrowed");
    document.body.classList.toggle("narrowed", folded);
    document.querySelector("[data-panel]")?.setAttribute("aria-pressed", String(!folded));
    if (stays) keep("narrowed", folded);
  }
  if (kept("narrowed", false)) panel(true);

  // --- the page -----------------------------------------------------------------------------------------------
  document.body.addEventListener("htmx:afterSettle", () => {
    ticks();
    if (at.row && !at.row.isConnected) at.row = null;
    const again = wanted && document.getElementById(wanted);
    if (again) { wanted = ""; to(again); }
  });
  document.addEventListener("change", (event) => {
    const tick = event.target.closest?.("[data-viewed]");
    if (tick) toggle(tick.dataset.viewed, tick.checked);
  });
  document.addEventListener("click", (event) => {
    const target = event.target;
    const fold = target.closest(".fold");
    if (fold) {
      const folded = fold.closest("section").classList.toggle("folded");
      fold.setAttribute("aria-expanded", String(!folded));
    }
    const button = target.closest("[data-view]");
    if (button) show(button.dataset.view);
    const link = target.closest("a[data-file]");
    if (link) {
      event.preventDefault();
      const { key, page, place } = link.dataset;
      jump(link.dataset.file, { key, page, place: Number(place), all: "entire" in link.dataset });
    }
    if (target.closest("[data-panel]")) panel();
    if (target.closest("[data-whole]")) whole(target.closest("section.file"));
  });
  if (list && document.querySelector("[data-view=split]")) {
    if (kept("view", "unified") === "split") show("split");
  }
  ticks();
  const keys = {
    j: () => change(1), k: () => change(-1), J: () => line(1), K: () => line(-1), "]": () => file(1), "[": () => file(-1),
    s: () => document.querySelector("[data-view=split]") && show(view.now === "split" ? "unified" : "split"),
    r: () => document.querySelector("[data-view=reference]") && show(view.now === "reference" ? "unified" : "reference"),
    v: view_current, b: () => panel(), a: () => expand(false), A: () => expand(true), o: () => whole(here()),
    "/": () => search?.select(),
  };
  return { at, to, reload, keys, jump };
})();
