// Print a page: the button opens the browser's own dialog, and what is folded is open on paper.
for (const button of document.querySelectorAll<HTMLButtonElement>("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => window.print());
}

let opened: HTMLDetailsElement[] = [];

window.addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll<HTMLDetailsElement>("main details:not([open])")];
  for (const fold of opened) fold.open = true;
});

window.addEventListener("afterprint", () => {
  for (const fold of opened) fold.open = false;
});
