// Sorting and filtering of tables, values of plots, and the list of attempts. All else is whole without it.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const wordsOf = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);
  const order = new Intl.Collator("en", { numeric: true });
  for (const part of document.querySelectorAll(".needs-script")) part.hidden = false;

  // What is unknown comes last, whichever way a column is sorted.
  const compare = (a, b, kind, sign) => {
    if (a === null || a === "" || b === null || b === "") return (a === null || a === "") - (b === null || b === "");
    return (kind === "number" ? a - b : order.compare(a, b)) * sign;
  };
  // "$1,234.50" is 1234.5; "-" and "unknown" are no figures.
  const figureOf = (text) => {
    const value = parseFloat(text.replace(/[$,]/g, ""));
    return Number.isNaN(value) ? null : value;
  };
  const button = (head, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.append(...head.childNodes);
    made.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      act(down ? -1 : 1);
    });
    head.append(made);
  };

  for (const table of document.querySelectorAll("table.sortable")) {
    const body = table.tBodies[0];
    [...table.tHead.rows[0].cells].forEach((head, index) => {
      const kind = head.dataset.kind;
      if (!kind) return;
      button(head, (sign) => {
        const key = (row) => {
          const cell = row.cells[index];
          return kind === "number" ? (cell.dataset.v === undefined ? null : +cell.dataset.v) : cell.textContent;
        };
        const keyed = [...body.rows].map((row) => [key(row), row]);
        keyed.sort(([a], [b]) => compare(a, b, kind, sign));
        body.append(...keyed.map(([, row]) => row));
      });
    });
  }

  for (const find of document.querySelectorAll(".find")) {
    const section = find.closest("section");
    const rows = [...section.querySelector("tbody").rows];
    const words = rows.map((row) => row.textContent.toLowerCase());
    find.addEventListener("input", () => {
      const wanted = wordsOf(find.value);
      let shown = 0;
      rows.forEach((row, index) => {
        row.hidden = !wanted.every((word) => words[index].includes(word));
        shown += row.hidden ? 0 : 1;
      });
      section.querySelector("output").textContent = wanted.length ? shown + " of " + rows.length + " shown" : "";
    });
  }

  for (const figure of document.querySelectorAll(".plot")) {
    const marks = [...figure.querySelectorAll(".mark")];
    const readout = figure.querySelector(".readout");
    const rest = () => {
      const focused = marks.includes(document.activeElement) ? document.activeElement : null;
      readout.textContent = focused ? focused.getAttribute("aria-label") : "\u00a0";
      readout.classList.toggle("says", !!focused);
    };
    rest();
    marks.forEach((mark, index) => {
      const tell = () => {
        readout.textContent = mark.getAttribute("aria-label");
        readout.classList.add("says");
      };
      mark.addEventListener("mouseenter", tell);
      mark.addEventListener("mouseleave", rest);
      mark.addEventListener("focus", tell);
      mark.addEventListener("blur", () => setTimeout(rest));
      mark.addEventListener("click", () => go(index));
      mark.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        const target = event.key === "Home" ? 0 : event.key === "End" ? marks.length - 1 : step ? index + step : -1;
        if (target >= 0 && target < marks.length) {
          event.preventDefault();
          go(target);
        }
      });
    });
    const go = (index) => {
      for (const mark of marks) mark.setAttribute("tabindex", "-1");
      marks[index].setAttribute("tabindex", "0");
      marks[index].focus();
    };
  }

  if (!byId("data")) return; // no page of results

  // Served while its run works: how far it is, and the page anew where nobody is reading or typing in it.
  const data = JSON.parse(byId("data").textContent);
  const { live } = data;
  if (live) {
    let before = null;
    const ask = async () => {
      try {
        const answer = await fetch(live, { cache: "no-store" });
        const one = await answer.json();
        const line = byId("live");
        line.replaceChildren(one.state + ": " + one.finished + " of " + one.planned + " finished");
        for (const work of one.running) {
          const link = document.createElement("a");
          link.href = data.folder + "/" + work.id + ".html";
          link.textContent = work.task + " by " + work.agent;
          line.append(" · ", link);
        }
        line.hidden = one.state !== "running" && one.finished === before;
        const idle = scrollY < 300 && !document.activeElement.matches("input, select");
        if (before !== null && one.finished !== before && idle) location.reload();
        before = before === null ? one.finished : before;
      } catch { /* the server has ended; the page stays as it is */ }
      setTimeout(ask, document.hidden ? 15000 : 3000);
    };
    setTimeout(ask);
  }

  // The list of attempts: all rows in memory, one page of them in the document.
  const table = byId("attempts");
  if (!table) return;
  const PAGE = 50;
  const { names } = data;
  const several = names.runs.length > 1;
  // What is known only in part comes as text.
  const known = (value) => (typeof value === "string" ? figureOf(value) : value);
  const shown = (value, text) => (value === null ? "-" : typeof value === "string" ? value : text(value));
  const digits = (value) => (value >= 10 || !value ? 2 : 4);
  const money = (value) => shown(value, (sum) =>
    "$" + sum.toLocaleString("en", { minimumFractionDigits: digits(sum), maximumFractionDigits: digits(sum) }));
  const whole = (value) => shown(value, (count) => count.toLocaleString("en"));
  const answer = (value) => (value === null ? "unknown" : value ? "yes" : "no");
  let columns = [
    { title: "Outcome", key: (row) => names.outcomes[row[4]][2], outcome: true },
    ...(several ? [{ title: "Run", key: (row) => names.runs[row[0]] }] : []),
    { title: "Task", key: (row) => names.tasks[row[2]][0], link: true },
    { title: "System", key: (row) => names.agents[row[1]] },
    { title: "No.", key: (row) => row[3], number: true, show: whole },
    { title: "Domain", key: (row) => names.tasks[row[2]][1] },
    { title: "ECR", key: (row) => row[5], number: true, show: answer, left: true },
    { title: "TPR", key: (row) => row[6], number: true, show: answer, left: true },
    { title: "Seconds", key: (row) => row[7], number: true, show: (value) => (value === null ? "-" : value.toFixed(1)) },
    { title: "Tokens", key: (row) => row[8], number: true, show: whole, metered: true },
    { title: "Cost", key: (row) => row[9], number: true, show: money, metered: true },
    { title: "Comment", key: (row) => row[11], comment: true },
    { title: "Attempt", key: (row) => row[10], code: true },
  ];
  const body = table.tBodies[0];
  let rows = [];
  let kept = [];
  let start = 0;
  let sorting = null;

  const cellOf = (row, column) => {
    const cell = document.createElement("td");
    const value = column.key(row);
    const text = column.show ? column.show(value) : value;
    const linked = column.link && row[12];
    const holder = document.createElement(linked ? "a" : column.code ? "code" : "bdi");
    if (linked) holder.href = data.folder + "/" + row[10] + ".html";
    if (column.outcome) {
      const [name, sign, word] = names.outcomes[row[4]];
      const pill = document.createElement("span");
      const mark = document.createElement("i");
      pill.className = "pill p-" + name;
      mark.setAttribute("aria-hidden", "true");
      mark.textContent = sign;
      pill.append(mark, " " + word);
      cell.append(pill);
      return cell;
    }
    holder.textContent = text;
    if (column.number && !column.left) cell.className = "num";
    if (column.comment) cell.className = "comment";
    cell.append(holder);
    return cell;
  };
  const draw = () => {
    const page = kept.slice(start, start + PAGE).map((row) => {
      const line = document.createElement("tr");
      line.append(...columns.map((column) => cellOf(row, column)));
      return line;
    });
    body.replaceChildren(...page);
    byId("where").textContent = kept.length
      ? whole(start + 1) + " to " + whole(Math.min(start + PAGE, kept.length)) + " of " + whole(kept.length)
      : "none";
    byId("count").textContent = whole(kept.length) + " of " + whole(rows.length) + " shown";
    byId("back").disabled = start === 0;
    byId("forth").disabled = start + PAGE >= kept.length;
    byId("back").hidden = byId("forth").hidden = kept.length <= PAGE;
  };
  const arrange = () => {
    const wanted = wordsOf(byId("find").value);
    const [run, agent, outcome] = ["by-run", "by-agent", "by-outcome"].map((id) => (byId(id) ? byId(id).value : ""));
    const text = (row) =>
      (names.tasks[row[2]].join(" ") + " " + names.agents[row[1]] + " " + row[10] + " " + row[11]).toLowerCase();
    kept = rows.filter((row) => {
      if (run !== "" && row[0] !== +run) return false;
      if (agent !== "" && row[1] !== +agent) return false;
      if (outcome !== "" && row[4] !== +outcome) return false;
      if (!wanted.length) return true;
      const said = text(row);
      return wanted.every((word) => said.includes(word));
    });
    if (sorting) {
      const { column, sign } = sorting;
      const kind = column.number ? "number" : "text";
      const key = column.number ? (row) => known(column.key(row)) : column.key;
      kept = kept.map((row) => [key(row), row]).sort(([a], [b]) => compare(a, b, kind, sign)).map(([, row]) => row);
    }
    start = 0;
    draw();
  };
  const options = (id, texts) => {
    const select = byId(id);
    if (!select) return;
    texts.forEach((text, index) => select.add(new Option(text, index)));
    select.addEventListener("input", arrange);
  };
  const open = () => {
    // Where no attempt asked a model, a column of dashes would say nothing.
    columns = columns.filter((column) => !column.metered || rows.some((row) => column.key(row) !== null));
    columns.forEach((column) => {
      const head = document.createElement("th");
      head.scope = "col";
      if (column.number && !column.left) head.className = "num";
      head.textContent = column.title;
      button(head, (sign) => {
        sorting = { column, sign };
        arrange();
      });
      table.tHead.rows[0].append(head);
    });
    options("by-run", names.runs);
    options("by-agent", names.agents);
    options("by-outcome", names.outcomes.map(([, sign, word]) => sign + " " + word));
    byId("find").addEventListener("input", arrange);
    byId("filter").addEventListener("submit", (event) => event.preventDefault());
    byId("back").addEventListener("click", () => { start = Math.max(0, start - PAGE); draw(); });
    byId("forth").addEventListener("click", () => { start += PAGE; draw(); });
    byId("browser").hidden = false;
    arrange();
  };

  if (!data.parts.length) {
    rows = data.rows;
    open();
    return;
  }
  const loaded = new Array(data.parts.length).fill(null);
  window.repoassay = { add: (number, part) => { loaded[number] = part; } };
  const load = (number) => {
    if (number === data.parts.length) {
      rows = loaded.flat();
      byId("loading").textContent = "";
      open();
      return;
    }
    byId("loading").textContent = "loading part " + (number + 1) + " of " + data.parts.length;
    const script = document.createElement("script");
    script.src = data.parts[number];
    script.addEventListener("load", () => load(number + 1));
    script.addEventListener("error", () => {
      byId("loading").textContent = data.parts[number] + " is not beside this page; the list cannot be shown.";
    });
    document.body.append(script);
  };
  // Many attempts are fetched when the reader comes to their list, and not before.
  const watch = new IntersectionObserver((seen) => {
    if (!seen.some((one) => one.isIntersecting)) return;
    watch.disconnect();
    load(0);
  });
  watch.observe(byId("list"));
})();
