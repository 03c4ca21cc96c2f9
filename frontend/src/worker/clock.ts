// The time used of the time allowed, in whole minutes: enough to plan by, and nothing that ticks.
import { count, h, say } from "./dom";

const EVERY_MS = 5_000;
const WARNINGS_MINUTES = [1, 5];

export function startClock(usedSeconds: number, allowedSeconds: number, announce: (words: string) => void): HTMLElement {
  const element = h("span", { class: "clock" });
  const startedAt = Date.now() - usedSeconds * 1000;
  const allowed = Math.round(allowedSeconds / 60);
  let warned = Infinity;

  const show = (): void => {
    const used = Math.min(allowed, Math.floor((Date.now() - startedAt) / 60_000));
    const left = allowed - used;
    const words = left === 0 ? "The time is over" : `${used} of ${count(allowed, "minute")} used`;
    if (element.textContent !== words) {
      say(element, words);
    }
    const warning = WARNINGS_MINUTES.find((minutes) => left <= minutes);
    element.toggleAttribute("data-short", warning !== undefined);
    if (warning !== undefined && warning < warned) {
      warned = warning;
      announce(left === 0 ? "The time is over." : `${count(left, "minute")} left.`);
    }
  };

  window.setInterval(show, EVERY_MS);
  show();
  return element;
}
