// In the study form: show only the choices that have what is typed above them (data-finds-in), and let Enter in a search
// field press its own button (data-enter-presses) instead of saving the form.
document.addEventListener("input", ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.dataset.findsIn === undefined) return;
  const words = target.value.toLowerCase().split(/\s+/u);
  for (const label of document.getElementById(target.dataset.findsIn)?.querySelectorAll("label") ?? []) {
    const text = label.textContent.toLowerCase();
    label.hidden = !words.every((word) => text.includes(word));
  }
});

document.addEventListener("keydown", (event) => {
  const { target, key } = event;
  if (key !== "Enter" || !(target instanceof HTMLInputElement)) return;
  if (target.dataset.findsIn !== undefined) event.preventDefault();
  const button = target.dataset.enterPresses;
  if (button === undefined) return;
  event.preventDefault();
  document.getElementById(button)?.click();
});
