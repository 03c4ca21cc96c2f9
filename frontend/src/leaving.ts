// Ask before a page is left by a link while a form on it that says so (data-asks-before-leaving) has unsaved changes.
for (const form of document.querySelectorAll<HTMLFormElement>("form[data-asks-before-leaving]")) {
  watch(form);
}

function watch(form: HTMLFormElement): void {
  const saved = contentOf(form);
  let isSubmitting = false;
  form.addEventListener("submit", () => {
    isSubmitting = true;
  });
  // Whoever types again is still here: what was submitted did not arrive.
  form.addEventListener("input", () => {
    isSubmitting = false;
  });
  window.addEventListener("beforeunload", (event) => {
    if (!isSubmitting && contentOf(form) !== saved) {
      event.preventDefault();
    }
  });
}

function contentOf(form: HTMLFormElement): string {
  return JSON.stringify([...new FormData(form)]);
}
