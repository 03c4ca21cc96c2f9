// A form sends its own fields, and the page that comes back has all others as the server knows them. What is typed into a
// field that is kept (money: it must not vanish) goes along with whichever form of the page is sent.
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
