// Shows the whole address of an invitation, which only the browser knows.
"use strict";
(() => {
  const link = document.getElementById("link");
  if (!link) return;
  link.textContent = location.origin + link.dataset.path;
  link.parentElement.nextElementSibling.textContent = "";
})();
