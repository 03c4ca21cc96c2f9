// Send certain fields with every form of a page, so that what is typed there is not lost (used for amounts of money). A
// form sends only its own fields, and the page that comes back shows all others as the server knows them.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || form.closest("main") === null) return;
  for (const field of document.querySelectorAll<HTMLInputElement>("input[data-kept]")) {
    if (form.elements.namedItem(field.name) !== null) continue;
    const copy = document.createElement("input");
    copy.type = "hidden";
    copy.name = field.name;
    copy.value = field.value;
    form.append(copy);
  }
});
