// Follows an attempt at work: the same page is asked for again, and what is new in it is put in place.
"use strict";
(() => {
  const find = (page, id) => page.getElementById(id);
  const bottom = () => scrollY + innerHeight >= document.documentElement.scrollHeight - 40;
  // What stands as it stood keeps its focus, its selection and what is open in it.
  const renew = (old, fresh) => {
    if (old.textContent !== fresh.textContent) old.replaceWith(document.adoptNode(fresh));
  };
  const follow = async () => {
    try {
      const answer = await fetch(location.href, { cache: "no-store" });
      const next = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = find(next, "live");
      if (!fresh) return location.reload(); // it has ended, and its verdict is there
      const here = find(document, "live");
      const steps = find(document, "steps");
      const out = find(document, "printed");
      const low = out.scrollTop + out.clientHeight >= out.scrollHeight - 20;
      const top = out.scrollTop;
      const following = bottom();
      if (steps && find(next, "steps")) {
        for (const step of [...find(next, "steps").children]) {
          const old = find(document, step.id);
          if (old) renew(old, step);
          else steps.append(document.adoptNode(step));
        }
        find(next, "steps").replaceWith(steps);
      }
      here.replaceChildren(...[...fresh.childNodes].map((part) => document.adoptNode(part)));
      const now = find(document, "printed");
      now.scrollTop = low ? now.scrollHeight : top;
      if (following) scrollTo(0, document.documentElement.scrollHeight);
    } catch { /* the server has ended; the page stays as it is */ }
    setTimeout(follow, document.hidden ? 15000 : 2000);
  };
  const out = find(document, "printed");
  out.scrollTop = out.scrollHeight;
  setTimeout(follow, 2000);
})();
