// Say at once that a chosen file is too large, instead of after minutes of sending. The server checks it again.
for (const input of document.querySelectorAll<HTMLInputElement>("input[type=file][data-most-bytes]")) {
  const line = document.getElementById(`${input.id}-too-large`);
  input.addEventListener("change", () => {
    const isTooLarge = (input.files?.[0]?.size ?? 0) > Number(input.dataset.mostBytes);
    if (line) line.hidden = !isTooLarge;
    input.setCustomValidity(isTooLarge ? (line?.textContent ?? "Too large") : "");
  });
}
