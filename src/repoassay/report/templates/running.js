// Follows an attempt at work: the same page is asked for again, and what is new in it is put in place.
"use strict";
(() => {
  const atEnd = (part) => part && part.scrollTop + part.clientHeight >= part.scrollHeight - 20;
  const follow = async () => {
    try {
      const answer = await fetch(location.href, { cache: "no-store" });
      const next = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = next.getElementById("live");
      if (!fresh) return location.reload(); // it has ended, and its verdict is there
      const here = document.getElementById("live");
      const end = atEnd(here.querySelector(".out"));
      const top = here.querySelector(".out").scrollTop;
      here.replaceChildren(...document.adoptNode(fresh).childNodes);
      const out = here.querySelector(".out");
      out.scrollTop = end ? out.scrollHeight : top;
    } catch { /* the server has ended; the page stays as it is */ }
    setTimeout(follow, document.hidden ? 15000 : 2000);
  };
  const out = document.querySelector(".out");
  out.scrollTop = out.scrollHeight;
  setTimeout(follow, 2000);
})();
