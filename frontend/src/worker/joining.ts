// On the page of a link: open the way into the study once it is clear that this browser can run it.

/** This script is the very one that runs the study, so a browser that gets here without an error can read it. */
export function openJoining(root: HTMLElement, canRun: boolean): void {
  if (!canRun) {
    return; // the server's words stay, and say which browsers can
  }
  root.querySelector("[data-checking]")?.remove();
  for (const button of root.querySelectorAll("button")) {
    button.disabled = false;
  }
}
