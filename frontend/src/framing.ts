// Make frames with the worker's page (hits/_shown_frame.html) as high as their content, so that there is one scroll bar.
const seen = new WeakSet<HTMLIFrameElement>();
// A frame that is reloaded while someone types begins as high as the one before it, so that nothing jumps.
const heights = new Map<string, string>();

function fitAll(): void {
  for (const frame of document.querySelectorAll<HTMLIFrameElement>("iframe[data-shown]")) {
    if (!seen.has(frame)) {
      seen.add(frame);
      frame.style.height = heights.get(frame.title) ?? "";
      frame.addEventListener("load", () => fit(frame));
      fit(frame); // it may have loaded before this script
    }
  }
}

function fit(frame: HTMLIFrameElement): void {
  const shown = frame.contentDocument;
  if (shown === null || shown.getElementById("work") === null) return;
  new ResizeObserver(() => {
    frame.style.height = `${Math.ceil(shown.documentElement.getBoundingClientRect().height)}px`;
    heights.set(frame.title, frame.style.height);
  }).observe(shown.documentElement);
}

new MutationObserver(fitAll).observe(document.body, { childList: true, subtree: true });
fitAll();
