// Two pictures: beside each other, one over the other up to a line, or where they differ.
"use strict";
(() => {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-compare]");
    if (!button) return;
    const box = button.closest(".compare");
    for (const each of box.querySelectorAll("[data-compare]")) {
      each.setAttribute("aria-pressed", String(each === button));
      if (each.dataset.compare) box.classList.toggle(each.dataset.compare, each === button);
    }
    box.querySelector(".swipe").hidden = button.dataset.compare !== "swiping";
  });
  document.addEventListener("input", (event) => {
    if (event.target.matches(".swipe")) event.target.closest(".compare").style.setProperty("--cut", `${event.target.value}%`);
  });
})();
