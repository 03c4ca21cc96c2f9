// Show in the header how much of the time allowed is used, and warn at five minutes, at one, and at the end.
import { count, h, say } from "./dom";

const EVERY_MS = 5_000;
const WARNINGS_MINUTES = [0, 1, 5];

export class Clock {
  readonly element = h("span", { class: "clock" });
  private readonly startedAt: number;
  private readonly allowed: number;
  private readonly over: string;
  private warned = Infinity;

  constructor(usedSeconds: number, allowedSeconds: number, mayBeLate: boolean) {
    this.startedAt = Date.now() - usedSeconds * 1000;
    this.allowed = Math.round(allowedSeconds / 60);
    this.over = mayBeLate ? "The time is over, but you can still finish" : "The time is over";
    this.show();
  }

  /** Call this once the page is there: screen readers announce only changes of a region that was there before. */
  start(announce: (words: string) => void, onOver: () => void): void {
    window.setInterval(() => {
      if (this.show(announce) === 0) {
        onOver();
      }
    }, EVERY_MS);
  }

  /** Shows the time, and returns how many minutes are left, rounded up. */
  private show(announce?: (words: string) => void): number {
    const used = Math.min(this.allowed, Math.floor((Date.now() - this.startedAt) / 60_000));
    const left = this.allowed - used;
    const warning = WARNINGS_MINUTES.find((minutes) => left <= minutes);
    const soFar = `${used} of ${count(this.allowed, "minute")} used`;
    const words = left === 0 ? this.over : warning === undefined ? soFar : `At most ${count(left, "minute")} left`;
    if (this.element.textContent !== words) {
      say(this.element, words);
    }
    this.element.toggleAttribute("data-short", warning !== undefined);
    if (announce !== undefined && warning !== undefined && warning < this.warned) {
      this.warned = warning;
      announce(left === 0 ? `${this.over}.` : `${count(left, "minute")} left.`);
    }
    return left;
  }
}
