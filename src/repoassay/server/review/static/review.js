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
  const merge = form.querySelector("[data-merge]");
  const at = reading.at;
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
  const verdict = () => form.querySelector("[name=would_merge]:checked")?.value ?? "";
  function derive() {
    for (const chip of form.querySelectorAll("[data-chip]")) {
      chip.setAttribute("aria-pressed", String(form.elements[chip.dataset.for].value === chip.dataset.chip));
    }
    for (const sure of form.querySelectorAll("[data-sure]")) {
      const on = sure.dataset.verdict === verdict() && sure.dataset.sure === form.elements.confidence.value;
      sure.setAttribute("aria-pressed", String(on));
    }
    const line = document.getElementById("derived");
    if (!line) return;
    const roles = axes.map((axis) => axis.querySelector("input:checked")?.dataset.role);
    const applicable = roles.filter((role) => role !== "not_applicable");
    let mergeable = null;
    if (roles.includes("problem")) mergeable = false;
    else if (applicable.length && applicable.every((role) => role === "clear")) mergeable = true;
    const problems = roles.filter((role) => role === "problem").length;
    const word = mergeable === null ? "open" : mergeable ? "mergeable" : "not mergeable";
    const clash = mergeable !== null && verdict() && (verdict() === "yes") !== mergeable;
    // Two lines at most: a third would push the form below the fold.
    const text = [`${clash ? "Axes" : "From the axes"}: ${word}${problems ? ` (${problems} problem${problems > 1 ? "s" : ""})` : ""}.`];
    if (clash) text.push(`You say ${verdict() === "yes" ? "you would" : "you would not"} merge it. Is that so?`);
    line.textContent = text.join(" ");
    line.classList.toggle("clash", Boolean(clash));
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
      saved.textContent = said.closed ? "Kept: the study was closed" : "Saved";
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
  // Answers as the form words them: keys of the rubric are for programs.
  const plain = (node) => {
    const copy = node.cloneNode(true);
    copy.querySelectorAll("kbd").forEach((each) => each.remove());
    return copy.textContent.trim();
  };
  function words(given) {
    const lines = [];
    if (given.would_merge !== null) lines.push(`${merge ? plain(merge.querySelector("legend")) : "Would merge:"} ${given.would_merge ? "Yes" : "No"}`);
    for (const axis of axes) {
      const state = given.axes[axis.dataset.axis]?.state;
      if (!state) continue;
      const radio = [...axis.querySelectorAll("input")].find((each) => each.value === state);
      lines.push(`${plain(axis.querySelector("legend"))}: ${radio ? plain(radio.parentElement) : state}`);
    }
    if (given.minutes !== null) lines.push(`Minutes: ${given.minutes}`);
    if (given.reason) {
      const choice = [...(form.elements.reason?.options ?? [])].find((each) => each.value === given.reason);
      lines.push(`Main reason: ${choice?.textContent ?? given.reason}`);
    }
    if (given.confidence !== null) lines.push(`How sure: ${given.confidence}`);
    if (given.notes) lines.push(`Notes: ${given.notes}`);
    for (const [name, value] of Object.entries(given.others)) {
      const label = form.querySelector(`label[for="a-other.${CSS.escape(name)}"]`) ?? form.querySelector(`[name="other.${CSS.escape(name)}"]`)?.closest(".ask")?.querySelector("legend");
      lines.push(`${label ? plain(label) : name}: ${value === true ? "Yes" : value === false ? "No" : value}`);
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
  async function submit() {
    if (!phase || done || submitting) return;
    const found = answers();
    if (merge && found.would_merge === null) { tell("Say whether you would merge it."); pointMerge(); return; }
    const open = axes.find((axis) => !found.axes[axis.dataset.axis]);
    if (open) { tell("Answer every axis; choose unsure where you are."); point(axes.indexOf(open)); return; }
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
  const next = () => document.getElementById("skip").submit();
  form.addEventListener("submit", (event) => { event.preventDefault(); submit(); });
  for (const button of document.querySelectorAll("[data-close]")) {
    button.addEventListener("click", () => button.closest("dialog").close());
  }
  form.addEventListener("click", (event) => {
    const chip = event.target.closest("[data-chip]");
    if (chip) { form.elements[chip.dataset.for].value = chip.dataset.chip; changed(); }
    const sure = event.target.closest("[data-sure]");
    if (sure) { choose(sure.dataset.verdict); form.elements.confidence.value = sure.dataset.sure; changed(); }
  });

  // --- time in use --------------------------------------------------------------------------------------------
  // Reading moves nothing: while the page is in front the time counts, until ten minutes passed without any sign.
  const AWAY = 600_000;
  let last = Date.now(), tick = Date.now(), held = true;
  for (const name of ["keydown", "pointerdown", "pointermove", "wheel", "scroll", "focus"]) {
    addEventListener(name, () => { last = Date.now(); }, { passive: true, capture: true });
  }
  const clock = document.getElementById("timer");
  const pace = document.getElementById("pace");
  setInterval(() => {
    const now = Date.now();
    // A machine that slept was not in use, however long the interval took.
    const step = Math.min((now - tick) / 1000, 2);
    tick = now;
    const used = phase && !done && document.visibilityState === "visible" && document.hasFocus() && now - last < AWAY;
    if (used) active += step;
    clock.textContent = `${Math.floor(active / 60)}:${String(Math.floor(active % 60)).padStart(2, "0")}`;
    clock.classList.toggle("idle", !used);
    if (pace) pace.hidden = active >= Number(data.fast);
    seconds += 1;
    if (used && held && phase === "blind" && seconds % 60 === 0) {
      call(`${api}/alive`, {}).then((said) => {
        if (said.status !== 200 || said.held || done) return;
        held = false;
        tell("Your hold on this item ended. What you typed is kept; submit it all the same: it counts as an extra rating where others took the item.");
      }).catch(() => {});
    }
    if (used && seconds % 30 === 0 && version > 0) { dirty = true; save(); }
  }, 1000);

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
    boxForm.elements.axis.value = pointing === "axis" ? axes[current]?.dataset.axis ?? "" : "";
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
    if (list) htmx.ajax("GET", list.dataset.at, { source: list, target: list, swap: "innerHTML" });
    if (rows) reading.reload(rows);
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
  document.addEventListener("click", (event) => {
    const number = event.target.closest("td.no[data-line]");
    if (number) { reading.to(number.closest("tr")); remark(number); }
    const gone = event.target.closest("[data-remove]");
    if (gone) call(`${api}/comments/${gone.dataset.remove}/remove`, {}).then(() => fresh(gone.closest(".rows")));
    if (event.target.closest("[data-help]")) help();
  });

  // --- keys ---------------------------------------------------------------------------------------------------
  // The pointer stands at the merge question or an axis; behind the last open axis the keyboard's focus moves on to the
  // minutes, the confidence and the button, so that a whole rating is typed without choosing where.
  let current = 0, pointing = "axis";
  function stand() {
    merge?.classList.toggle("at", pointing === "merge");
    axes.forEach((axis, place) => axis.classList.toggle("at", pointing === "axis" && place === current));
  }
  function point(number) {
    pointing = "axis";
    current = Math.max(0, Math.min(axes.length - 1, number));
    stand();
    axes[current].scrollIntoView({ block: "nearest" });
  }
  function pointMerge() {
    if (!merge) return;
    pointing = "merge";
    stand();
    merge.scrollIntoView({ block: "nearest" });
  }
  const blank = (axis) => !axis.querySelector("input:checked");
  function advance() {
    const later = axes.findIndex((axis, place) => (pointing === "merge" || place > current) && blank(axis));
    if (later >= 0) { point(later); return; }
    if (pointing === "axis" && current < axes.length - 1) { point(current + 1); return; }
    if (merge && !verdict()) { pointMerge(); return; }
    const before = axes.findIndex(blank);
    if (before >= 0) point(before); else rest();
  }
  function rest() {
    const minutes = form.elements.minutes;
    if (minutes && minutes.value === "") { minutes.focus(); return; }
    const sure = form.elements.confidence;
    const group = verdict() && sure?.type === "hidden" && sure.value === "" && form.querySelector(`[data-verdict="${verdict()}"]`);
    if (group) { group.focus(); return; }
    document.getElementById("submit")?.focus();
  }
  function set(choice) {
    const radio = choice(axes[current]);
    if (!radio || radio.matches(":disabled")) return;
    radio.checked = true;
    changed();
    advance();
  }
  function choose(word) {
    const radio = form.querySelector(`[name=would_merge][value=${word}]`);
    if (!radio || radio.matches(":disabled")) return false;
    radio.checked = true;
    changed();
    return true;
  }
  const byRole = (role, word = "") => () => {
    if (pointing === "merge") { if (word && choose(word)) advance(); return; }
    set((axis) => axis.querySelector(`input[data-role="${role}"]`));
  };
  const go = (name) => () => { const field = form.querySelector(`[name="${name}"]`); field?.focus(); field?.select?.(); };
  const cycle = (name) => () => {
    const line = [...form.querySelectorAll(`[name="${name}"]`)];
    if (!line.length || line[0].matches(":disabled")) return;
    if (line[0].type === "hidden") {
      const chips = [...new Set([...form.querySelectorAll("[data-sure]")].map((each) => each.dataset.sure))];
      line[0].value = chips[(chips.indexOf(line[0].value) + 1) % chips.length];
    } else line[(line.findIndex((each) => each.checked) + 1) % line.length].checked = true;
    changed();
  };
  function help() { const dialog = document.getElementById("help"); if (dialog.open) dialog.close(); else dialog.showModal(); }
  const keys = {
    ...reading.keys,
    y: byRole("clear", "yes"), n: byRole("problem", "no"), x: byRole("not_applicable"), u: byRole("unsure"),
    c: () => remark(null), m: go("minutes"), w: cycle("would_merge"), e: go("reason"), f: cycle("confidence"),
    i: go("notes"), "?": help, 0: pointMerge,
  };
  document.addEventListener("keydown", (event) => {
    const target = event.target;
    const field = target.closest?.("input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable]");
    const dialog = document.querySelector("dialog[open]");
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      if (dialog === box) boxForm.requestSubmit();
      else if (!dialog) submit();
      return;
    }
    if (event.key === "Escape" && field && !dialog) { field.blur(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (field && !dialog && field.name === "minutes") {
      if (event.key === "Enter") { event.preventDefault(); field.blur(); rest(); return; }
      // No letter belongs into a number, so letters keep their meaning there.
      if (!/^[a-z\]\[?/]$/i.test(event.key)) return;
    } else if (field) return;
    if (dialog) { if (event.key === "?" && dialog.id === "help") { dialog.close(); event.preventDefault(); } return; }
    const sure = target.closest?.("[data-sure]");
    const same = sure && form.querySelector(`[data-verdict="${sure.dataset.verdict}"][data-sure="${CSS.escape(event.key)}"]`);
    if (same) { same.click(); rest(); event.preventDefault(); return; }
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
  const first = axes.findIndex(blank);
  if (merge && phase && !verdict()) pointMerge(); else point(first < 0 ? 0 : first);
  saved.textContent = version ? "Draft kept" : "";
  document.body.dataset.ready = "yes";
})();
