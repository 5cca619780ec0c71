// Folding of files where nothing is rated.
"use strict";
document.addEventListener("click", (event) => {
  const fold = event.target.closest(".fold");
  if (!fold) return;
  const folded = fold.closest("section").classList.toggle("folded");
  fold.setAttribute("aria-expanded", String(!folded));
});
