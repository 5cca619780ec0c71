// The rating form and the keys. Everything shown comes escaped from the server; nothing here writes HTML.
"use strict";
(() => {
  const form = document.getElementById("rating");
  if (!form) return;
  const data = form.dataset;
  const item = data.item;
  const phase = data.phase;
  const api = `/review/api/item/${item}`;
  const saved = document.getElementById("saved");
  const wrong = document.getElementById("wrong");
  const axes = [...form.querySelectorAll("fieldset.axis")];
  const view = { now: "unified" };
  let version = Number(data.version);
  let active = Number(data.active);
  const opened = Date.now();
  let seconds = 0;

  // --- answers ------------------------------------------------------------------------------------------------
  const stored = JSON.parse(data.stored);
  function answers() {
    const found = { axes: {}, minutes: null, would_merge: null, reason: "", confidence: null, notes: "", others: {} };
    for (const axis of axes) {
      const chosen = axis.querySelector("input:checked");
      if (chosen) found.axes[axis.dataset.axis] = { state: chosen.value };
    }
    for (const field of form.querySelectorAll("[data-kind]")) {
      const kind = field.dataset.kind;
      if (field.type === "radio" && !field.checked) continue;
      let value = field.value;
      if (kind === "number") value = value === "" ? null : Number(value);
      if (kind === "yes_no") value = value === "yes";
      if (kind === "level") value = Number(value);
      if (field.name.startsWith("other.")) {
        if (value !== "" && value !== null) found.others[field.name.slice(6)] = value;
      } else found[field.name] = value;
    }
    found.active_seconds = Math.round(active);
    found.wall_seconds = Math.round((Date.now() - opened) / 1000);
    return found;
  }
  function fill(given) {
    for (const axis of axes) {
      const state = given.axes[axis.dataset.axis]?.state;
      for (const radio of axis.querySelectorAll("input")) radio.checked = radio.value === state;
    }
    for (const field of form.querySelectorAll("[data-kind]")) {
      const other = field.name.startsWith("other.");
      const value = other ? given.others[field.name.slice(6)] : given[field.name];
      if (field.type === "radio") {
        const own = field.dataset.kind === "yes_no" ? field.value === "yes" : Number(field.value);
        field.checked = value === own;
      } else field.value = value ?? "";
    }
    active = Math.max(active, given.active_seconds);
    derive();
  }
  function derive() {
    const line = document.getElementById("derived");
    if (!line) return;
    const roles = axes.map((axis) => axis.querySelector("input:checked")?.dataset.role);
    const applicable = roles.filter((role) => role !== "not_applicable");
    let mergeable = null;
    if (roles.includes("problem")) mergeable = false;
    else if (applicable.length && applicable.every((role) => role === "clear")) mergeable = true;
    const asked = form.querySelector("[name=would_merge]:checked");
    const problems = roles.filter((role) => role === "problem").length;
    const word = mergeable === null ? "open" : mergeable ? "mergeable" : "not mergeable";
    const text = [`From the axes: ${word}${problems ? ` (${problems} problem${problems > 1 ? "s" : ""})` : ""}.`];
    const clash = mergeable !== null && asked && (asked.value === "yes") !== mergeable;
    if (clash) text.push(`You say ${asked.value === "yes" ? "you would" : "you would not"} merge it. Is that so?`);
    line.textContent = text.join(" ");
    line.classList.toggle("clash", Boolean(clash));
    for (const chip of form.querySelectorAll("[data-chip]")) {
      chip.setAttribute("aria-pressed", String(form.elements[chip.dataset.for].value === chip.dataset.chip));
    }
  }

  // --- saving -------------------------------------------------------------------------------------------------
  const body = (more) => JSON.stringify({ phase, ...more });
  async function call(path, more, keepalive = false) {
    const answer = await fetch(path, {
      method: "POST", keepalive, credentials: "same-origin",
      headers: { "Content-Type": "application/json", "X-CSRF-Token": data.csrf }, body: body(more),
    });
    const found = await answer.json().catch(() => ({}));
    return { status: answer.status, ...found };
  }
  let dirty = false, saving = null, timer = 0, pause = 400, done = false;
  function changed() {
    if (!phase || done) return;
    dirty = true;
    derive();
    saved.textContent = "…";
    clearTimeout(timer);
    timer = setTimeout(save, pause);
  }
  async function save() {
    if (saving) { await saving; if (dirty && !done) return save(); return; }
    if (!dirty || done) return;
    dirty = false;
    saving = send();
    await saving;
    saving = null;
  }
  async function send() {
    let said;
    try { said = await call(`${api}/draft`, { version, answers: answers() }); }
    catch { said = { status: 0 }; }
    if (said.status === 200) {
      version = said.version;
      pause = 400;
      saved.textContent = "Saved";
      saved.className = "";
    } else if (said.status === 409) {
      if (said.submitted) { done = true; tell("This item was submitted in another window. Reload the page."); }
      else ask(said);
    } else if (said.status === 0 || said.status >= 500) {
      dirty = true;
      pause = Math.min(pause * 2, 5000);
      saved.textContent = "Not saved; trying again";
      saved.className = "problem";
      clearTimeout(timer);
      timer = setTimeout(save, pause);
    } else {
      saved.textContent = "Not saved";
      saved.className = "problem";
      tell(said.error ?? "The server refused this.");
    }
  }
  function tell(text) { wrong.textContent = text; wrong.hidden = !text; }
  function words(given) {
    const lines = Object.entries(given.axes).map(([axis, answer]) => `${axis}: ${answer.state}`);
    for (const name of ["minutes", "would_merge", "reason", "confidence", "notes"]) {
      if (given[name] !== null && given[name] !== "") lines.push(`${name}: ${given[name]}`);
    }
    return lines.join("\n");
  }
  function ask(said) {
    const box = document.getElementById("conflict");
    document.getElementById("conflict-mine").textContent = words(said.offered);
    document.getElementById("conflict-theirs").textContent = words(said.stored);
    saved.textContent = "Two versions";
    for (const button of box.querySelectorAll("[data-keep]")) {
      button.onclick = () => {
        version = said.version;
        if (button.dataset.keep === "theirs") { fill(said.stored); saved.textContent = "Saved"; } else { changed(); }
        box.close();
      };
    }
    if (!box.open) box.showModal();
  }
  form.addEventListener("input", changed);
  form.addEventListener("change", changed);
  addEventListener("pagehide", () => {
    // What the last moments changed still goes out, with the version it follows.
    if (dirty && !done && phase) call(`${api}/draft`, { version, answers: answers() }, true).catch(() => {});
  });

  // --- submitting ---------------------------------------------------------------------------------------------
  let submitting = false;
  async function submit(sure = false) {
    if (!phase || done || submitting) return;
    const found = answers();
    const open = axes.find((axis) => !found.axes[axis.dataset.axis]);
    if (open) { tell("Answer every axis; choose unsure where you are."); point(axes.indexOf(open)); return; }
    if (!sure && phase === "blind" && active < Number(data.fast)) {
      document.getElementById("fast-time").textContent = `${Math.round(active)} seconds`;
      document.getElementById("fast").showModal();
      return;
    }
    tell("");
    submitting = true;
    clearTimeout(timer);
    dirty = false;
    if (saving) await saving;
    for (let wait = 300; ; wait = Math.min(wait * 2, 5000)) {
      let said;
      try { said = await call(`${api}/submit`, { key: data.key, answers: found }); }
      catch { said = { status: 0 }; }
      if (said.status === 200) {
        done = true;
        saved.textContent = "Submitted";
        if (said.then) location.assign(said.then); else next();
        return;
      }
      if (said.status !== 0 && said.status < 500) {
        submitting = false;
        if (said.status === 409) done = true;
        tell(said.error ?? "The server refused this.");
        return;
      }
      saved.textContent = "Not submitted yet; trying again";
      await new Promise((then) => { setTimeout(then, wait); });
    }
  }
  function next() {
    const hidden = document.createElement("form");
    hidden.method = "post";
    hidden.action = "/review/next";
    const field = document.createElement("input");
    field.name = "csrf";
    field.type = "hidden";
    field.value = data.csrf;
    hidden.append(field);
    document.body.append(hidden);
    hidden.submit();
  }
  form.addEventListener("submit", (event) => { event.preventDefault(); submit(); });
  document.querySelector("#fast form").addEventListener("submit", () => { submit(true); });
  for (const button of document.querySelectorAll("[data-close]")) {
    button.addEventListener("click", () => button.closest("dialog").close());
  }
  form.addEventListener("click", (event) => {
    const chip = event.target.closest("[data-chip]");
    if (!chip) return;
    form.elements[chip.dataset.for].value = chip.dataset.chip;
    changed();
  });

  // --- time in use --------------------------------------------------------------------------------------------
  let last = Date.now(), tick = Date.now();
  for (const name of ["keydown", "pointerdown", "pointermove", "wheel", "scroll"]) {
    addEventListener(name, () => { last = Date.now(); }, { passive: true, capture: true });
  }
  const clock = document.getElementById("timer");
  setInterval(() => {
    const now = Date.now();
    // A machine that slept was not in use, however long the interval took.
    const step = Math.min((now - tick) / 1000, 2);
    tick = now;
    const used = phase && !done && document.visibilityState === "visible" && document.hasFocus() && now - last < 60000;
    if (used) active += step;
    clock.textContent = `${Math.floor(active / 60)}:${String(Math.floor(active % 60)).padStart(2, "0")}`;
    clock.classList.toggle("idle", !used);
    seconds += 1;
    if (used && phase === "blind" && seconds % 60 === 0) call(`${api}/alive`, {}).catch(() => {});
    if (used && seconds % 30 === 0 && version > 0) { dirty = true; save(); }
  }, 1000);

  // --- the diff: views, files, hunks, lines -------------------------------------------------------------------
  document.body.addEventListener("htmx:configRequest", (event) => {
    if (/\/diff\/\d+/.test(event.detail.path)) event.detail.parameters.view = view.now;
  });
  function show(which) {
    view.now = which;
    for (const button of document.querySelectorAll("[data-view]")) {
      button.setAttribute("aria-pressed", String(button.dataset.view === which));
    }
    document.body.classList.toggle("referring", which === "reference");
    const near = at.file, row = at.row?.id;
    for (const rows of document.querySelectorAll(".rows")) {
      if (rows.querySelector("table, .pair")) load(rows);
    }
    // The row is made anew; the same one is found again by its name, which does not depend on the view.
    wanted = row ?? "";
    if (near) requestAnimationFrame(() => near.scrollIntoView({ block: "start" }));
  }
  const load = (rows) => htmx.ajax("GET", rows.dataset.at, { target: rows, swap: "innerHTML" });
  for (const button of document.querySelectorAll("[data-view]")) {
    button.addEventListener("click", () => show(button.dataset.view));
  }
  const at = { file: null, row: null };
  let wanted = "";
  const every = (what) => [...document.querySelectorAll(what)];
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
    for (const link of every(".tree a")) link.classList.toggle("at", link.dataset.file === at.file?.dataset.number);
  }
  function visibleHeads() {
    return every("tr.hunk[id], section.file .rows > p").map((each) => each.closest("tr") ?? each);
  }
  function hunk(step) {
    const heads = visibleHeads().filter((each) => each.offsetParent);
    const here = at.row ?? at.file?.querySelector("header") ?? null;
    const order = (a, b) => (a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? 1 : -1);
    const found = step > 0
      ? heads.find((each) => !here || (each !== here && order(here, each) > 0))
      : heads.reverse().find((each) => here && each !== here && order(each, here) > 0);
    if (!found) return;
    if (found.tagName === "P") { at.row = null; at.file = found.closest("section.file"); at.row = found; found.scrollIntoView({ block: "center" }); mark(); }
    else to(found);
  }
  function line(step) {
    const rows = every("section.file tr[id]").filter((each) => each.offsetParent);
    const place = rows.indexOf(at.row);
    to(rows[Math.max(0, Math.min(rows.length - 1, place + step))]);
  }
  function file(step) {
    const files = every("section.file");
    const place = files.indexOf(at.file);
    const found = files[Math.max(0, Math.min(files.length - 1, place + step))];
    if (!found) return;
    at.file = found;
    at.row = null;
    found.scrollIntoView({ block: "start" });
    mark();
  }
  const seenKey = `viewed:${item}`;
  const viewed = new Set(JSON.parse(localStorage.getItem(seenKey) ?? "[]"));
  function ticks() {
    for (const link of every(".tree a")) link.classList.toggle("seen", viewed.has(link.dataset.file));
    for (const box of every("[data-viewed]")) {
      box.checked = viewed.has(box.dataset.viewed);
      box.closest("section").classList.toggle("folded", box.checked);
    }
    const label = document.getElementById("seen");
    if (label) label.textContent = viewed.size ? `${viewed.size} viewed` : "";
  }
  function toggle(number, force) {
    const on = force ?? !viewed.has(number);
    if (on) viewed.add(number); else viewed.delete(number);
    localStorage.setItem(seenKey, JSON.stringify([...viewed].slice(0, 5000)));
    ticks();
  }
  document.body.addEventListener("htmx:afterSettle", () => {
    ticks();
    if (at.row && !at.row.isConnected) at.row = null;
    const again = wanted && document.getElementById(wanted);
    if (again) { wanted = ""; to(again); }
  });
  document.addEventListener("change", (event) => {
    const box = event.target.closest?.("[data-viewed]");
    if (box) toggle(box.dataset.viewed, box.checked);
  });
  document.addEventListener("click", (event) => {
    const target = event.target;
    const fold = target.closest(".fold");
    if (fold) {
      const folded = fold.closest("section").classList.toggle("folded");
      fold.setAttribute("aria-expanded", String(!folded));
    }
    const number = target.closest("td.no[data-line]");
    if (number) { to(number.closest("tr")); remark(number); }
    const gone = target.closest("[data-remove]");
    if (gone) call(`${api}/comments/${gone.dataset.remove}/remove`, {}).then(() => fresh(gone.closest(".rows")));
    const link = target.closest(".tree a");
    if (link) {
      at.file = document.getElementById(`f${link.dataset.file}`);
      at.row = null;
      at.file?.classList.remove("folded");
      mark();
    }
    if (target.closest("[data-help]")) help();
  });

  // --- comments -----------------------------------------------------------------------------------------------
  const box = document.getElementById("remark");
  const boxForm = box.querySelector("form");
  let about = null;
  function remark(cell) {
    if (!phase) return;
    const row = cell?.closest("tr") ?? at.row ?? (at.file ?? document).querySelector("tr.hunk");
    const found = cell ?? row?.querySelector("td.no[data-side=new]") ?? row?.querySelector("td.no[data-line]");
    const start = found ?? firstLine(row);
    const section = start?.closest("section.file");
    if (!start || !section || section.classList.contains("only")) return;
    if (start.closest(".pair > div:nth-child(2)")) return;
    about = { path: section.dataset.path, side: start.dataset.side, rows: section.querySelector(".rows") };
    // The path shown may be escaped; the server is asked for the real one by number.
    about.number = Number(section.dataset.number);
    boxForm.elements.line.value = boxForm.elements.end.value = start.dataset.line;
    boxForm.elements.text.value = "";
    boxForm.elements.axis.value = axes[current]?.dataset.axis ?? "";
    document.getElementById("remark-where").textContent = `${about.path}, ${about.side} side`;
    box.querySelector(".problem").hidden = true;
    box.showModal();
    boxForm.elements.text.focus();
  }
  function firstLine(head) {
    for (let row = head?.nextElementSibling; row && !row.classList.contains("hunk"); row = row.nextElementSibling) {
      const cell = row.querySelector("td.no.add[data-line], td.no.del[data-line]");
      if (cell) return cell;
    }
    return null;
  }
  function fresh(rows) {
    const list = document.getElementById("comments");
    if (list) htmx.ajax("GET", list.dataset.at, { target: list, swap: "innerHTML" });
    if (rows) load(rows);
  }
  async function write(event) {
    event.preventDefault();
    const fields = boxForm.elements;
    if (!fields.text.value.trim()) return;
    const said = await call(`${api}/comments`, {
      file: about.number, side: about.side, line: Number(fields.line.value), end_line: Number(fields.end.value),
      axis: fields.axis.value, text: fields.text.value,
    }).catch(() => ({ status: 0 }));
    if (said.status === 200) { box.close(); fresh(about.rows); return; }
    const problem = box.querySelector(".problem");
    problem.textContent = said.error ?? "The server does not answer; try again.";
    problem.hidden = false;
  }
  boxForm.addEventListener("submit", write);

  // --- keys ---------------------------------------------------------------------------------------------------
  let current = 0;
  function point(number) {
    current = Math.max(0, Math.min(axes.length - 1, number));
    axes.forEach((axis, place) => axis.classList.toggle("at", place === current));
    axes[current].scrollIntoView({ block: "nearest" });
  }
  function set(choice) {
    const radio = choice(axes[current]);
    if (!radio || radio.matches(":disabled")) return;
    radio.checked = true;
    changed();
    const rest = axes.findIndex((axis, place) => place > current && !axis.querySelector("input:checked"));
    if (rest >= 0) point(rest);
    else if (current < axes.length - 1) point(current + 1);
  }
  const byRole = (role) => () => set((axis) => axis.querySelector(`input[data-role="${role}"]`));
  const go = (name) => () => form.querySelector(`[name="${name}"]`)?.focus();
  const cycle = (name) => () => {
    const line = [...form.querySelectorAll(`[name="${name}"]`)];
    if (!line.length || line[0].matches(":disabled")) return;
    line[(line.findIndex((each) => each.checked) + 1) % line.length].checked = true;
    changed();
  };
  function help() { const dialog = document.getElementById("help"); if (dialog.open) dialog.close(); else dialog.showModal(); }
  const keys = {
    y: byRole("clear"), n: byRole("problem"), x: byRole("not_applicable"), u: byRole("unsure"),
    j: () => hunk(1), k: () => hunk(-1), J: () => line(1), K: () => line(-1), "]": () => file(1), "[": () => file(-1),
    s: () => document.querySelector("[data-view=split]") && show(view.now === "split" ? "unified" : "split"),
    r: () => document.querySelector("[data-view=reference]") && show(view.now === "reference" ? "unified" : "reference"),
    v: () => { const number = at.file?.dataset.number ?? document.querySelector("section.file")?.dataset.number; if (number !== undefined) toggle(number); },
    c: () => remark(null), m: go("minutes"), w: cycle("would_merge"), e: go("reason"), f: cycle("confidence"),
    i: go("notes"), "?": help,
  };
  document.addEventListener("keydown", (event) => {
    const field = event.target.closest?.("input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable]");
    const dialog = document.querySelector("dialog[open]");
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      if (dialog === box) boxForm.requestSubmit();
      else if (!dialog) submit();
      return;
    }
    if (event.key === "Escape" && field && !dialog) { field.blur(); return; }
    if (field || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (dialog) { if (event.key === "?" && dialog.id === "help") { dialog.close(); event.preventDefault(); } return; }
    if (/^[1-9]$/.test(event.key)) {
      const digit = Number(event.key) - 1;
      if (axes.length > 1) { if (digit < axes.length) point(digit); }
      else set((axis) => axis.querySelectorAll("input")[digit]);
      event.preventDefault();
      return;
    }
    if (Object.hasOwn(keys, event.key)) { keys[event.key](); event.preventDefault(); }
  });

  fill(stored);
  ticks();
  const first = axes.findIndex((axis) => !axis.querySelector("input:checked"));
  point(first < 0 ? 0 : first);
  saved.textContent = version ? "Draft kept" : "";
  document.body.dataset.ready = "yes";
})();
