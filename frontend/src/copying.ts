// Buttons that copy an address. Where the browser does not allow it, they stay hidden: the address can be selected.
document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-copies]") : null;
  const text = document.getElementById(button?.dataset["copies"] ?? "")?.textContent ?? "";
  if (button !== null && text !== "") {
    void navigator.clipboard.writeText(text).then(() => {
      button.textContent = "Copied";
    });
  }
});

function showButtons(): void {
  if (navigator.clipboard !== undefined) {
    for (const button of document.querySelectorAll<HTMLElement>("[data-copies]")) {
      button.hidden = false;
    }
  }
}

document.addEventListener("DOMContentLoaded", showButtons);
document.addEventListener("htmx:after:swap", showButtons);
showButtons();
